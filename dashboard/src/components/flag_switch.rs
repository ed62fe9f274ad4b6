//! The switch of a flag in one environment.

use leptos::{prelude::*, server_fn::ServerFn};
use pennon_model::{
    flag_table::FlagCell,
    id::{EnvironmentId, FlagId},
};

use crate::{api::flags::SetEnabled, html::IntoHtml as _};

/// A switch that can be used: a form with one button, which a [`Switchboard`](crate::islands::switchboard::Switchboard) on
/// the same page makes instant.
///
/// Where that could be dangerous it asks before it switches: the switchboard does, or the page to which the form leads.
#[component]
pub fn FlagSwitch(
    /// The flag.
    flag: FlagId,
    /// What people call the flag.
    name: String,
    /// The environment.
    environment: EnvironmentId,
    /// What people call the environment, with its product where there are several.
    place: String,
    /// The flag's page, if it has to ask before it switches.
    asks: Option<String>,
    /// How the flag stands there.
    cell: FlagCell,
    /// What the flag does there while it is on, as a sentence.
    #[prop(optional)]
    when_on: Option<String>,
) -> impl IntoView {
    let question = asks.is_some().then(|| {
        view! { <input type="hidden" name="edit" value="switch"/> }
    });
    view! {
        <form
            class="switch-form"
            method=if asks.is_some() { "get" } else { "post" }
            data-asks=asks.is_some().then_some("")
            action=asks.unwrap_or_else(|| SetEnabled::url().to_owned())
            data-name=name.clone()
            data-place=place.clone()
            data-when-on=when_on
        >
            <input type="hidden" name="flag" value=flag.to_string()/>
            <input type="hidden" name="environment" value=environment.to_string()/>
            <input type="hidden" name="revision" value=cell.revision.to_string()/>
            {question}
            <Switch name=name.clone() place=place.clone() cell/>
        </form>
    }
    .into_html()
}

/// How a switch looks: off, on, or partly, which is on with something that decides further.
#[component]
pub fn Switch(
    /// What people call the flag.
    name: String,
    /// What people call the environment.
    place: String,
    /// How the flag stands there.
    cell: FlagCell,
    /// Whether it only shows how things stand.
    #[prop(optional)]
    locked: bool,
) -> impl IntoView {
    let partly = partly(cell);
    let (state, word) = match (cell.enabled, partly.clone()) {
        (false, _) => ("off", "Off".to_owned()),
        (true, None) => ("on", "On".to_owned()),
        (true, Some(partly)) => ("partly", partly),
    };
    view! {
        <button
            class="switch"
            role="switch"
            name="enabled"
            value=(!cell.enabled).to_string()
            disabled=locked
            aria-checked=cell.enabled.to_string()
            aria-label=format!("{name} in {place}")
            data-state=state
            data-partly=partly
        >
            <span class="track"></span>
            <span class="switch-word">{word}</span>
        </button>
    }
}

/// What decides when the flag is on for some only; none when it is on for all.
pub fn partly(cell: FlagCell) -> Option<String> {
    let rules = match cell.rules {
        0 => None,
        1 => Some("1 rule".to_owned()),
        rules => Some(format!("{rules} rules")),
    };
    let rollout = cell.rollout.map(|percentage| format!("{percentage} %"));
    match (rules, rollout) {
        (Some(rules), Some(rollout)) => Some(format!("{rules}, {rollout}")),
        (rules, rollout) => rules.or(rollout),
    }
}
