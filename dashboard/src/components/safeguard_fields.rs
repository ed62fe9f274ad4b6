//! The fields for the safeguards of an environment against unintended changes.

use leptos::prelude::*;

use super::{check_field::CheckField, refusal::Refusal};
use crate::html::html;

/// The name of the field that protects an environment.
pub const PROTECTED: &str = "protected";

/// The name of the field that makes reasons required.
pub const REASON_REQUIRED: &str = "reasonRequired";

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
    html! {
        <CheckField
            name=REASON_REQUIRED
            label="Require a reason"
            hint="Changes without a reason are refused, also over the API."
            current
            refusal
        />
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
    html! {
        <CheckField
            name=PROTECTED
            label="Protected"
            hint="The dashboard asks before each change. Scripts are not asked."
            current
            refusal
        />
    }
}
