//! The form of a targeting rule.

use leptos::{prelude::*, web_sys::Element};
use pennon_core::rule::Priority;

use super::{
    conditions,
    dom::{by_id, on, toggle_attribute, values},
};
use crate::{describe, targeting_form::RuleForm};

/// Makes the form `rule-form` interactive: its conditions, and a sentence that describes the rule while the user types.
///
/// The server renders all of it (`components/rule_fields.rs`).
#[island]
pub fn RuleEditor() -> impl IntoView {
    Effect::new(|| {
        let Some(form) = by_id("rule-form") else {
            return;
        };
        let of_form = form.clone();
        on(&form, "input", move |_| update_description(&of_form));
        conditions::listen(&form);
        toggle_attribute(&form, "data-ready", true);
    });
}

fn update_description(form: &Element) {
    let rule = RuleForm::read(values(form)).rule(Priority::FIRST).ok();
    if let Some(element) = by_id("rule-aloud") {
        element.set_text_content(Some(&describe::rule_or_hint(rule.as_ref())));
    }
}
