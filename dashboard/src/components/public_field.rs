//! The field that makes a flag public.

use leptos::prelude::*;

use super::{check_field::CheckField, refusal::Refusal};
use crate::html::html;

/// The name of the field.
pub(crate) const PUBLIC: &str = "public";

/// A checkbox that makes a flag public.
#[component]
pub fn PublicField(
    /// True if the flag is public.
    current: bool,
    /// The input of the form.
    refusal: Refusal,
) -> impl IntoView {
    html! {
        <CheckField
            name=PUBLIC
            label="Public"
            hint="Exists in public environments, whose SDK keys everyone can read."
            current
            refusal
        />
    }
}
