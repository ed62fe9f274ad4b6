//! The fields for the safeguards of an environment against unintended changes.

use leptos::prelude::*;

use super::refusal::Refusal;
use crate::{form::Form, html::html};

/// The name of the field that protects an environment.
pub const PROTECTED: &str = "protected";

/// The name of the field that makes reasons required.
pub const REASON_REQUIRED: &str = "reasonRequired";

/// The value of a checked field.
const YES: &str = "yes";

/// Returns true if a checkbox is checked in a form.
pub(crate) fn is_checked(form: &Form, field: &str) -> bool {
    form.text(field) == YES
}

/// A checkbox that makes reasons required.
#[component]
pub fn ReasonRequiredField(
    /// True if reasons are required.
    #[prop(optional)]
    current: bool,
    /// The input of the form.
    #[prop(optional)]
    refusal: Refusal,
) -> impl IntoView {
    let form = refusal.form.as_ref();
    let checked = form.map_or(current, |form| is_checked(form, REASON_REQUIRED));
    html! {
        <div class="field">
            <label class="check">
                <input
                    type="checkbox"
                    name=REASON_REQUIRED
                    value=YES
                    checked=checked
                    aria-describedby="reason-required-hint"
                />
                "Require a reason"
            </label>
            <p class="hint" id="reason-required-hint">
                "Changes without a reason are refused, also over the API."
            </p>
        </div>
    }
}

/// A checkbox that protects an environment.
#[component]
pub fn ProtectedField(
    /// True if the environment is protected.
    current: bool,
    /// The input of the form.
    refusal: Refusal,
) -> impl IntoView {
    let form = refusal.form.as_ref();
    let checked = form.map_or(current, |form| is_checked(form, PROTECTED));
    html! {
        <div class="field">
            <label class="check">
                <input
                    type="checkbox"
                    name=PROTECTED
                    value=YES
                    checked=checked
                    aria-describedby="protected-hint"
                />
                "Protected"
            </label>
            <p class="hint" id="protected-hint">
                "The dashboard asks before each change. Scripts are not asked."
            </p>
        </div>
    }
}
