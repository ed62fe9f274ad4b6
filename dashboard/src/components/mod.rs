//! The parts that pages are made of.
//!
//! What islands draw, too, comes first; the others exist on the server only.

#![cfg_attr(
    feature = "ssr",
    expect(
        clippy::needless_pass_by_value,
        reason = "a component owns its properties, whether it gives them away or only reads them"
    )
)]

pub mod icon;

#[cfg(feature = "ssr")]
pub mod answer;
#[cfg(feature = "ssr")]
pub mod client_table;
#[cfg(feature = "ssr")]
pub mod confirm;
#[cfg(feature = "ssr")]
pub mod effect;
#[cfg(feature = "ssr")]
pub mod empty;
#[cfg(feature = "ssr")]
mod escape;
#[cfg(feature = "ssr")]
pub mod explanation;
#[cfg(feature = "ssr")]
pub mod failure;
#[cfg(feature = "ssr")]
pub mod field;
#[cfg(feature = "ssr")]
pub mod flag_switch;
#[cfg(feature = "ssr")]
pub mod flag_table;
#[cfg(feature = "ssr")]
pub mod frame;
#[cfg(feature = "ssr")]
pub mod help_dialog;
#[cfg(feature = "ssr")]
pub mod mark;
#[cfg(feature = "ssr")]
pub mod new_key;
#[cfg(feature = "ssr")]
pub mod not_switched;
#[cfg(feature = "ssr")]
pub mod notice;
#[cfg(feature = "ssr")]
pub(crate) mod number;
#[cfg(feature = "ssr")]
pub mod pager;
#[cfg(feature = "ssr")]
pub mod palette;
#[cfg(feature = "ssr")]
pub mod refusal;
#[cfg(feature = "ssr")]
pub mod role;
#[cfg(feature = "ssr")]
pub mod rollout_fields;
#[cfg(feature = "ssr")]
pub mod rule_fields;
#[cfg(feature = "ssr")]
pub mod send_again;
#[cfg(feature = "ssr")]
pub mod share;
#[cfg(feature = "ssr")]
pub mod shortcuts;
#[cfg(feature = "ssr")]
pub mod shown_once;
#[cfg(feature = "ssr")]
pub mod snippet;
#[cfg(feature = "ssr")]
pub mod snippets;
#[cfg(feature = "ssr")]
pub mod sparkline;
#[cfg(feature = "ssr")]
pub mod time;
#[cfg(feature = "ssr")]
pub mod timeline;
#[cfg(feature = "ssr")]
pub mod title;
#[cfg(feature = "ssr")]
pub mod token_table;
#[cfg(feature = "ssr")]
pub mod trial;
#[cfg(feature = "ssr")]
pub mod usage_chart;
