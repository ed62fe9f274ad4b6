//! The switch and the TTL.

use leptos::prelude::*;
use pennon_model::{
    configuration::FlagConfiguration,
    environment::{Environment, looks_like_production},
    flag_table::FlagCell,
};

use super::{Shown, actions::Action, address::Edit};
use crate::{
    components::{
        flag_switch::{FlagSwitch, Switch, SwitchDialogs, label},
        form_actions::FormActions,
        icon::{Drawing, Icon},
        link_button::LinkButton,
        refusal::{Refusal, RefusalNotice},
    },
    describe::{self, FlagStatus},
    error::AdminError,
    html::{Html, IntoHtml as _, html},
    routes,
};

/// Renders the head of the environment's panel. The heading follows the switch.
pub(super) fn configuration(
    shown: &Shown,
    environment: &Environment,
    current: &FlagConfiguration,
) -> Html {
    let flag = &shown.detail.flag;
    let name = flag.name.to_string();
    let place = shown.name_of(environment);
    let rollout = current.rollout.as_ref().map(|rollout| rollout.rollout);
    let rules = || current.rules.iter().map(|rule| &rule.rule);
    let cell = FlagCell {
        enabled: current.target.configuration.is_enabled && !shown.archived(),
        revision: current.target.configuration.revision,
        rules: u32::try_from(current.rules.len()).unwrap_or(u32::MAX),
        rollout: rollout.map(|rollout| rollout.percentage.get()),
    };
    let heading = |on| {
        let status = FlagStatus::of(on, rules(), rollout).description();
        format!("{} in {place}", describe::capital(&status))
    };
    let (when_on, when_off) = (heading(true), heading(false));
    let switch = if shown.may_edit() {
        let asks = looks_like_production(environment.name.as_str())
            .then(|| routes::flag(&shown.address.key));
        let when_on = describe::flag(true, rules(), rollout);
        let environment = environment.id;
        html! {
            <FlagSwitch flag=flag.id name environment place asks cell when_on/>
            <SwitchDialogs/>
        }
    } else {
        html! { <Switch label=label(&name, &place) cell locked=true/> }
    };
    html! {
        <div class="configuration">
            <div class="configuration-switch">
                {switch}
                <h2 id="configuration">
                    <span class="when-on">{when_on}</span>
                    <span class="when-off">{when_off}</span>
                </h2>
            </div>
            {time_to_live(shown, current)}
        </div>
        {question(shown, environment, current)}
        {ttl_editor(shown, current)}
    }
}

/// Renders the confirmation to switch, with the consequences. With scripts, the switch itself asks.
fn question(shown: &Shown, environment: &Environment, current: &FlagConfiguration) -> Option<Html> {
    let Edit::Switch(on) = shown.edit else {
        return None;
    };
    let configuration = &current.target.configuration;
    let rules = current.rules.iter().map(|rule| &rule.rule);
    let rollout = current.rollout.as_ref().map(|rollout| rollout.rollout);
    let verb = if on { "Turn on" } else { "Turn off" };
    let effect = describe::flag(on, rules, rollout);
    let words = format!("{verb} in {}", shown.name_of(environment));
    let error = shown.error().cloned();
    let question = view! {
        <form class="step-question" method="post" action=shown.address.editing(shown.edit)>
            <RefusalNotice error/>
            {shown.hidden(Action::Switch, Some(configuration.revision))}
            <input type="hidden" name="enabled" value=on.to_string()/>
            <p>{format!("As soon as applications update: {effect}")}</p>
            <FormActions action=words back=shown.address.href() focus_back=true/>
        </form>
    };
    (on != configuration.is_enabled).then(|| question.into_html())
}

fn time_to_live(shown: &Shown, current: &FlagConfiguration) -> impl IntoView + use<> {
    let kept = describe::time_to_live(current.target.configuration.ttl);
    let links = shown.may_edit().then(|| {
        let several = shown.detail.environments.len() > 1;
        let copy = several.then(|| {
            view! {
                <LinkButton href=shown.address.editing(Edit::Copy(None)) icon=Icon::COPY label="Copy to…"/>
            }
        });
        view! {
            <a href=shown.address.editing(Edit::Ttl) aria-label="Change how long clients keep the flag">
                "Change"
            </a>
            {copy}
        }
    });
    view! {
        <div class="configuration-rest">
            <span title="How long clients may use the flag before they must fetch it again">
                <span class="quiet">"Cache "</span>
                {kept}
            </span>
            {links}
        </div>
    }
}

/// Renders the form for the TTL.
fn ttl_editor(shown: &Shown, current: &FlagConfiguration) -> Option<Html> {
    if shown.edit != Edit::Ttl {
        return None;
    }
    let current = current.target.configuration.ttl;
    let now = current.map(|ttl| ttl.seconds().to_string());
    let now = now.unwrap_or_default();
    let seen = shown.typed().filter(|_| !shown.stale());
    let seen = seen.map_or_else(|| now.clone(), |form| form.text("seen"));
    let value = shown.typed().map_or(now, |form| form.text("ttl"));
    let stale = shown.stale().then(|| {
        AdminError::Conflict(format!(
            "{} It is now {}. What you typed is still here; saving it replaces that.",
            AdminError::Stale,
            describe::time_to_live(current),
        ))
    });
    let error = shown.error().filter(|_| stale.is_none()).cloned();
    let refusal = error.map(|error| Refusal::new(error, &["ttl"]));
    let Refusal { fields, other, .. } = refusal.unwrap_or_default();
    let wrong = (!fields.is_empty()).then_some("true");
    let details = fields.into_iter().map(|error| {
        view! {
            <p class="field-error" id="ttl-error">
                <Drawing icon=Icon::ALERT/>
                <span>{error.detail}</span>
            </p>
        }
    });
    let editor = view! {
        <form class="step-editor" id="ttl-form" method="post" action=shown.address.editing(Edit::Ttl)>
            <RefusalNotice error=stale.or(other)/>
            {shown.hidden(Action::Ttl, None)}
            <input type="hidden" name="seen" value=seen/>
            <div class="field">
                <label for="ttl">"Cache time in seconds"</label>
                <p class="hint" id="ttl-hint">
                    "Less: changes arrive sooner. More: fewer requests. Leave empty for the default of 60."
                </p>
                <input
                    class="input short"
                    type="text"
                    inputmode="numeric"
                    id="ttl"
                    name="ttl"
                    value=value
                    autocomplete="off"
                    autofocus=true
                    aria-invalid=wrong
                    aria-describedby="ttl-hint ttl-error"
                />
                {details.collect_view()}
            </div>
            <FormActions action="Save" back=shown.address.href()/>
        </form>
    };
    Some(editor.into_html())
}
