//! The form that changes the safeguards of an environment.

use leptos::prelude::*;
use pennon_model::environment::Environment;

use super::Action;
use crate::{
    components::{
        refusal::RefusalNotice,
        safeguard_fields::{ProtectedField, ReasonRequiredField},
    },
    form_page::FormState,
    html::{Html, hidden, html},
};

/// Renders the form.
pub(super) fn form(environment: &Environment, state: &FormState) -> Html {
    let refusal = Action::Safeguards.refusal(state);
    let revision = Action::Safeguards.expected(state, environment);
    html! {
        <form class="form" method="post">
            <RefusalNotice error=refusal.other.clone()/>
            {hidden("do", Action::Safeguards.as_str())}
            {hidden("revision", revision.to_string())}
            <ProtectedField current=environment.is_protected refusal=refusal.clone()/>
            <ReasonRequiredField current=environment.is_reason_required refusal/>
            <div class="form-actions">
                <button class="button">"Change safeguards"</button>
            </div>
        </form>
    }
}
