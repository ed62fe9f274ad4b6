//! The field that makes a flag public.

use leptos::prelude::*;

use super::refusal::Refusal;
use crate::{form::Form, html::html};

/// The name of the field.
const FIELD: &str = "public";

/// Returns true if a form makes the flag public.
pub(crate) fn is_public(form: &Form) -> bool {
    form.text(FIELD) == "yes"
}

/// A checkbox that makes a flag public.
#[component]
pub fn PublicField(
    /// True if the flag is public.
    current: bool,
    /// The input of the form.
    refusal: Refusal,
) -> impl IntoView {
    let checked = refusal.form.as_ref().map_or(current, is_public);
    html! {
        <div class="field public-field">
            <label class="check">
                <input
                    type="checkbox"
                    name=FIELD
                    value="yes"
                    checked=checked
                    aria-describedby="public-hint"
                />
                "Public"
            </label>
            <p class="hint" id="public-hint">
                "Exists in public environments, whose SDK keys everyone can read."
            </p>
        </div>
    }
}
