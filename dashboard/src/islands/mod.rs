//! What runs in the browser. Everything else of a page is plain HTML.
//!
//! Each is complete without scripts, or absent until it can do something.

#![expect(
    missing_docs,
    reason = "the macro writes an item beside each island that carries none"
)]

mod dom;
pub mod effect;
pub mod playground;
pub mod rollout_editor;
pub mod rule_editor;
