//! The form that changes the safeguards of an environment.

use pennon_model::environment::Environment;

use super::Action;
use crate::{
    components::safeguard_fields::{ProtectedField, ReasonRequiredField},
    form_page::FormState,
    html::{Html, html},
};

/// Renders the form.
pub(super) fn form(environment: &Environment, state: &FormState) -> Html {
    Action::Safeguards.form(environment, state, "Change safeguards", |refusal| {
        html! {
            <ProtectedField current=environment.is_protected refusal=refusal.clone()/>
            <ReasonRequiredField current=environment.is_reason_required refusal/>
        }
    })
}
