//! The islands: the code that runs in the browser. The rest of a page is plain HTML.
//!
//! Each works without scripts, or is hidden until its script runs.

#![expect(
    missing_docs,
    reason = "the macro writes an undocumented item beside each island"
)]

mod conditions;
mod dom;
pub mod effect;
pub mod playground;
pub mod recipe_editor;
pub mod rollout_editor;
pub mod rule_editor;
