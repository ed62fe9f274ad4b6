//! The fields for the visibility of an environment and for its client rules.

use leptos::prelude::*;
use pennon_model::environment::{ClientRules, Visibility};

use super::{
    field::{described_by, field_errors},
    refusal::Refusal,
};
use crate::html::{Html, html, with_code};

/// The name of the fields for the visibility.
pub const VISIBILITY: &str = "visibility";

/// The name of the fields for the client rules, and of their errors.
pub const CLIENT_RULES: &str = "clientRules";

/// A value of a field with its label and its meaning.
struct Choice {
    value: &'static str,
    label: &'static str,
    hint: &'static str,
}

const VISIBILITIES: [Choice; 2] = [
    Choice {
        value: Visibility::Server.as_str(),
        label: "Server",
        hint: "Your servers, which keep it secret. Every flag exists here.",
    },
    Choice {
        value: Visibility::Public.as_str(),
        label: "Public",
        hint: "Everyone, because it is in web pages or apps. Only public flags exist here.",
    },
];

const RULES: [Choice; 2] = [
    Choice {
        value: ClientRules::Full.as_str(),
        label: "Full",
        hint: "Clients evaluate locally. Everyone can read rules and rollouts.",
    },
    Choice {
        value: ClientRules::Answers.as_str(),
        label: "Answers",
        hint: "Clients with `mode: \"remote\"` request results. Rules and rollouts stay secret.",
    },
];

/// The choice between a server environment and a public one, with its client rules.
///
/// The client rules are hidden while the environment is not public, because they have no effect.
#[component]
pub fn VisibilityFields(
    /// The visibility at first.
    #[prop(optional)]
    visibility: Visibility,
    /// The client rules at first.
    #[prop(optional)]
    client_rules: ClientRules,
    /// The input and the errors of the form.
    refusal: Refusal,
) -> impl IntoView {
    let chosen = chosen(&refusal, VISIBILITY, visibility.as_str());
    let [server, public] = VISIBILITIES.map(|each| choice(VISIBILITY, each, &chosen, None));
    html! {
        <fieldset class="field radio-fields visibility-fields" aria-describedby="visibility-hint">
            <legend>"Visibility"</legend>
            <p class="hint" id="visibility-hint">
                "Who can read the SDK key. You cannot change it later."
            </p>
            {server}
            {public}
            <div class="public-choices">
                <ClientRulesFields current=client_rules refusal/>
            </div>
        </fieldset>
    }
}

/// The choice of the client rules of a public environment.
#[component]
pub fn ClientRulesFields(
    /// The current client rules.
    current: ClientRules,
    /// The input and the errors of the form.
    refusal: Refusal,
) -> impl IntoView {
    let chosen = chosen(&refusal, CLIENT_RULES, current.as_str());
    let choices = RULES.map(|each| choice(CLIENT_RULES, each, &chosen, Some(current)));
    let errors = field_errors("client-rules", CLIENT_RULES, &refusal);
    let described_by = described_by("client-rules", true, errors.is_some());
    html! {
        <fieldset class="field radio-fields" aria-describedby=described_by>
            <legend>"Client rules"</legend>
            <p class="hint" id="client-rules-hint">
                "What the SDK key reveals about public flags."
            </p>
            {choices.collect_view()}
            {errors}
        </fieldset>
    }
}

/// Returns the chosen value of a field: the one in the input, or else the current one.
fn chosen(refusal: &Refusal, field: &str, current: &str) -> String {
    let input = refusal.form.as_ref().map(|form| form.text(field));
    let input = input.filter(|value| !value.is_empty());
    input.unwrap_or_else(|| current.to_owned())
}

/// Renders a radio button with its hint. The one of the current value is marked, for the style sheet.
fn choice(name: &'static str, choice: Choice, chosen: &str, current: Option<ClientRules>) -> Html {
    let Choice { value, label, hint } = choice;
    let hint_id = format!("{name}-{value}-hint");
    let is_current = current.is_some_and(|current| current.as_str() == value);
    html! {
        <div class="radio-choice">
            <label class="check">
                <input
                    type="radio"
                    name=name
                    value=value
                    checked=value == chosen
                    data-current=is_current
                    aria-describedby=hint_id.clone()
                />
                {label}
            </label>
            <p class="hint" id=hint_id>{with_code(hint)}</p>
        </div>
    }
}
