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
pub mod copy_keys;
mod dom;
pub mod effect;
mod fetch;
pub mod form_dialog;
pub mod key_check;
pub mod live_results;
pub mod rollout_editor;
pub mod rule_editor;
pub mod rule_order;
pub mod search_field;
pub mod stored_key;
pub mod theme_switch;
pub mod try_it;
