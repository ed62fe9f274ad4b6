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
    html::{Html, html},
};

/// Renders the form.
pub(super) fn form(environment: &Environment, state: &FormState) -> Html {
    let refusal = Action::Safeguards.refusal(state);
    html! {
        <form class="form" method="post">
            <RefusalNotice error=refusal.other.clone()/>
            <input type="hidden" name="do" value=Action::Safeguards.as_str()/>
            <input type="hidden" name="revision" value=environment.revision/>
            <ProtectedField current=environment.is_protected refusal=refusal.clone()/>
            <ReasonRequiredField current=environment.is_reason_required refusal/>
            <div class="form-actions">
                <button class="button">"Change safeguards"</button>
            </div>
        </form>
    }
}
