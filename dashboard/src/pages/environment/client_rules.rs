//! The form that changes the client rules of a public environment.

use leptos::prelude::*;
use pennon_model::environment::{ClientRules, Environment};

use super::Action;
use crate::{
    components::{
        notice::{Notice, Severity},
        visibility_fields::ClientRulesFields,
    },
    form_page::FormState,
    html::{Html, html},
};

/// Renders the form with the consequences of the other choice, which are hidden while the current one is selected.
pub(super) fn form(environment: &Environment, state: &FormState) -> Html {
    let current = environment.client_rules;
    let form = Action::ClientRules.form(environment, state, "Change client rules", |refusal| {
        html! {
            <ClientRulesFields current refusal/>
            <Notice severity=Severity::Warning>{consequences(current)}</Notice>
        }
    });
    html! { <div class="client-rules">{form}</div> }
}

/// Describes the consequences of leaving the current client rules.
fn consequences(current: ClientRules) -> Html {
    match current {
        ClientRules::Answers => html! {
            <strong>"Everyone will be able to read the rules and rollouts"</strong>
            " of the public flags here, with the values in conditions, such as e-mail addresses. You cannot take that back."
        },
        ClientRules::Full => html! {
            <strong>"Clients that evaluate locally stop getting changes."</strong>
            " Running apps keep their flags until the TTL expires (60 s by default). Set "
            <code>"mode: \"remote\""</code>
            " in them first."
        },
    }
}
