//! Checkboxes of forms.

use leptos::prelude::*;

use super::refusal::Refusal;
use crate::{form::Form, html::html};

/// The value of a checked checkbox.
const YES: &str = "yes";

/// Returns true if a checkbox is checked in a form.
pub(crate) fn is_checked(form: &Form, name: &str) -> bool {
    form.text(name) == YES
}

/// A labeled checkbox with a hint beneath it.
#[component]
pub fn CheckField(
    /// The field's name.
    name: &'static str,
    /// Its label.
    label: &'static str,
    /// The hint.
    hint: &'static str,
    /// True if the checkbox is checked at first.
    #[prop(optional)]
    current: bool,
    /// The input of the form.
    #[prop(optional)]
    refusal: Refusal,
) -> impl IntoView {
    let form = refusal.form.as_ref();
    let checked = form.map_or(current, |form| is_checked(form, name));
    let hint_id = format!("{name}-hint");
    html! {
        <div class="field check-field">
            <label class="check">
                <input
                    type="checkbox"
                    name=name
                    value=YES
                    checked=checked
                    aria-describedby=hint_id.clone()
                />
                {label}
            </label>
            <p class="hint" id=hint_id>{hint}</p>
        </div>
    }
}
