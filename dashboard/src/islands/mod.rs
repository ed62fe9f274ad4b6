//! What runs in the browser. Everything else of a page is plain HTML.
//!
//! Each is complete without scripts, or absent until it can do something.

#![expect(
    missing_docs,
    reason = "the macro writes an item beside each island that carries none"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "an island owns its properties, whether it gives them away or only reads them"
)]

pub mod copy_button;
mod dom;
pub mod effect;
pub mod flag_switch;
pub mod search_field;
pub mod theme_switch;
pub mod try_it;
