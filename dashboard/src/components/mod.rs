//! The components of the pages.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a component owns its properties, whether it gives them away or only reads them"
)]

pub mod action_row;
pub mod check_field;
pub mod client_table;
pub mod confirm;
pub mod confirm_change;
pub mod copy_button;
pub mod effect;
pub mod empty;
mod escape;
pub mod explanation;
pub mod fact;
pub mod failure;
pub mod field;
pub mod first_steps;
mod flag_columns;
pub mod flag_switch;
pub mod flag_table;
pub mod form_actions;
pub mod frame;
pub mod grants;
pub mod help_dialog;
pub mod icon;
pub mod link_button;
pub mod mark;
pub mod metadata_fields;
pub mod new_flag_link;
pub mod new_key;
pub mod newest;
pub mod not_switched;
pub mod notice;
pub(crate) mod number;
pub mod page;
pub mod page_head;
pub mod pager;
pub mod palette;
pub mod playground;
pub mod product_fields;
pub mod product_switcher;
pub mod public_field;
pub mod public_tag;
pub mod recipe_fields;
pub mod refusal;
pub mod role;
pub mod rollout_fields;
pub mod rule_fields;
pub mod safeguard_fields;
pub mod select;
pub mod send_again;
pub mod shortcuts;
pub mod shown_once;
pub mod snippet;
pub mod snippets;
pub mod sparkline;
pub mod table;
pub mod theme_switch;
pub mod time;
pub mod timeline;
pub mod title;
pub mod token_table;
pub mod undo_toast;
pub mod usage_chart;
pub mod visibility_fields;
