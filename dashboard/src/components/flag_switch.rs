//! The switch of a flag in one environment.

use leptos::{prelude::*, server_fn::ServerFn};
use pennon_model::{
    flag_table::{FlagCell, FlagState},
    id::{EnvironmentId, FlagId},
};

use super::{
    confirm_change::ReasonField,
    icon::{Drawing, Icon},
    number::counted,
};
use crate::{
    api::flags::SetEnabled,
    describe,
    html::{hidden, html},
    scope::scope_field,
};

/// An enabled switch: a form with one button, which the page script makes instant.
///
/// With `confirmation_href`, the switch requires confirmation: in the [`SwitchDialogs`] of the same page, or, without
/// scripts, on the page that the form opens.
#[component]
pub fn FlagSwitch(
    /// The flag.
    flag: FlagId,
    /// The flag's name.
    name: String,
    /// The environment.
    environment: EnvironmentId,
    /// The environment's name, with its product if there are several.
    environment_name: String,
    /// The address of the flag's page, if the switch requires confirmation.
    confirmation_href: Option<String>,
    /// True if a reason is required.
    needs_reason: bool,
    /// The flag's state in the environment.
    cell: FlagCell,
    /// The flag's effect in the environment while it is on, as a sentence.
    #[prop(optional)]
    when_on: Option<String>,
) -> impl IntoView {
    let address_fields = confirmation_href.is_some().then(|| {
        view! {
            {hidden("edit", "switch")}
            {scope_field()}
        }
    });
    let effect = confirmation_href
        .is_some()
        .then(|| effect_of_on(cell, when_on));
    let within = effect.is_some().then(|| describe::within(cell.ttl));
    let label = switch_label(&name, &environment_name);
    html! {
        <form
            class="switch-form"
            method=if confirmation_href.is_some() { "get" } else { "post" }
            action=confirmation_href.unwrap_or_else(|| SetEnabled::url().to_owned())
            data-name=name
            data-environment-name=environment_name
            data-effect=effect
            data-within=within
            data-needs-reason=needs_reason
        >
            {hidden("flag", flag.to_string())}
            {hidden("environment", environment.to_string())}
            {address_fields}
            <SwitchFields label cell/>
        </form>
    }
}

/// The part of the form that changes when the flag is switched.
#[component]
pub fn SwitchFields(
    /// The label of the switch.
    label: String,
    /// The flag's state.
    cell: FlagCell,
) -> impl IntoView {
    view! {
        {hidden("revision", cell.revision.to_string())}
        <Switch label cell/>
    }
}

/// A switch that shows its state: off, on, or partly, which means on subject to rules or a rollout.
#[component]
pub fn Switch(
    /// The label of the switch.
    label: String,
    /// The flag's state.
    cell: FlagCell,
    /// True if the switch only shows the state.
    #[prop(optional)]
    locked: bool,
) -> impl IntoView {
    let state = cell.state();
    let summary = targeting_summary(cell).filter(|_| state == FlagState::Partly);
    let text = summary.unwrap_or_else(|| describe::state_label(state).to_owned());
    view! {
        <button
            class="switch"
            role="switch"
            name="enabled"
            value=(!cell.enabled).to_string()
            disabled=locked
            aria-checked=cell.enabled.to_string()
            aria-label=label
            data-state=state.as_str()
        >
            <span class="track"></span>
            <span class="switch-word">{text}</span>
        </button>
    }
}

/// Returns the label of the switch of a flag in an environment.
pub fn switch_label(name: &str, environment_name: &str) -> String {
    format!("{name} in {environment_name}")
}

/// The confirmation dialog and the message of a page's switches. The script fills them in.
#[component]
pub fn SwitchDialogs() -> impl IntoView {
    html! { <div data-unit><ConfirmationDialog/> <Message/></div> }
}

/// The confirmation dialog of a switch.
#[component]
fn ConfirmationDialog() -> impl IntoView {
    view! {
        <dialog
            class="dialog"
            id="switch-question"
            aria-labelledby="question-title"
            aria-describedby="question-effect"
        >
            <h2 id="question-title"></h2>
            <p id="question-effect"></p>
            <ReasonField id="question-reason" required=false/>
            <div class="form-actions">
                <button class="button primary" type="button" data-confirm></button>
                <button class="button" type="button" autofocus data-cancel>
                    "Cancel"
                </button>
            </div>
        </dialog>
    }
}

/// The message that appears after switching.
#[component]
fn Message() -> impl IntoView {
    view! {
        <div class="toasts" role="status">
            <template>
                <div class="toast">
                    <p></p>
                    <button class="button" type="button" data-undo-button>
                        "Undo"
                    </button>
                    <button class="icon-button" type="button" aria-label="Close" data-close>
                        <Drawing icon=Icon::CLOSE/>
                    </button>
                </div>
            </template>
        </div>
    }
}

/// Describes the effect of switching a flag on.
fn effect_of_on(cell: FlagCell, when_on: Option<String>) -> String {
    let within = describe::within(cell.ttl);
    match (when_on, targeting_summary(cell)) {
        (Some(sentence), _) => format!("{}: {sentence}", describe::capitalize(&within)),
        (None, None) => format!("The flag turns on for everyone {within}."),
        (None, Some(summary)) => format!("The flag turns on for some {within}: {summary}."),
    }
}

/// Describes the rules and the rollout of a flag that is on for some; none without rules and rollout.
pub fn targeting_summary(cell: FlagCell) -> Option<String> {
    let rules = (cell.rules > 0).then(|| counted(cell.rules, "rule", "rules"));
    let rollout = cell.rollout.map(|percentage| format!("{percentage}%"));
    match (rules, rollout) {
        (Some(rules), Some(rollout)) => Some(format!("{rules}, {rollout}")),
        (rules, rollout) => rules.or(rollout),
    }
}
