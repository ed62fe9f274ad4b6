//! The switch and the TTL.

use leptos::prelude::*;
use pennon_model::{
    configuration::FlagConfiguration, environment::Environment, flag_table::FlagCell,
};

use super::{
    PageData,
    actions::{Action, read_expected},
    address::Edit,
};
use crate::{
    components::{
        field::{Field, Input},
        flag_switch::{FlagSwitch, Switch, SwitchDialogs, switch_label},
        form_actions::FormActions,
        icon::Icon,
        link_button::LinkButton,
        refusal::RefusalNotice,
    },
    describe::{self, EnabledFor},
    error::AdminError,
    html::{Html, IntoHtml as _, hidden, html},
    routes,
};

/// Renders the head of the environment's panel. The heading follows the switch.
pub(super) fn configuration(
    page: &PageData,
    environment: &Environment,
    current: &FlagConfiguration,
) -> Html {
    let flag = &page.detail.flag;
    let name = flag.name.to_string();
    let environment_name = page.name_of(environment);
    let rollout = current.rollout.as_ref().map(|rollout| rollout.rollout);
    let rules = || current.rules.iter().map(|rule| &rule.rule);
    let cell = FlagCell {
        enabled: current.target.configuration.is_enabled && !page.is_archived(),
        revision: current.target.configuration.revision,
        rules: u32::try_from(current.rules.len()).unwrap_or(u32::MAX),
        rollout: rollout.map(|rollout| rollout.percentage.get()),
        ttl: current.target.configuration.ttl,
    };
    let heading = |on| {
        let users = EnabledFor::of(on, rules(), rollout).description();
        format!("{} in {environment_name}", describe::capitalize(&users))
    };
    let (when_on, when_off) = (heading(true), heading(false));
    let switch = if page.may_edit() {
        let confirmation_href = environment
            .has_safeguards()
            .then(|| routes::flag(&page.address.key));
        let when_on = describe::flag(true, rules(), rollout);
        let needs_reason = environment.is_reason_required;
        let environment = environment.id;
        html! {
            <FlagSwitch
                flag=flag.id
                name
                environment
                environment_name
                confirmation_href
                needs_reason
                cell
                when_on
            />
            <SwitchDialogs/>
        }
    } else {
        html! { <Switch label=switch_label(&name, &environment_name) cell locked=true/> }
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
            {time_to_live(page, current)}
        </div>
        {confirmation(page, environment, current)}
        {ttl_editor(page, current)}
    }
}

/// Renders the confirmation to switch, with the consequences. With scripts, the switch itself asks.
fn confirmation(
    page: &PageData,
    environment: &Environment,
    current: &FlagConfiguration,
) -> Option<Html> {
    let Edit::Switch(on) = page.edit else {
        return None;
    };
    let configuration = &current.target.configuration;
    let rules = current.rules.iter().map(|rule| &rule.rule);
    let rollout = current.rollout.as_ref().map(|rollout| rollout.rollout);
    let verb = if on { "Turn on" } else { "Turn off" };
    let effect = describe::flag(on, rules, rollout);
    let label = format!("{verb} in {}", page.name_of(environment));
    let error = page.error().cloned();
    let form = view! {
        <form class="step-question" method="post" action=page.address.editing(page.edit)>
            <RefusalNotice error/>
            {page.hidden(Action::Switch, Some(configuration.revision))}
            {hidden("enabled", on.to_string())}
            <p>{format!("{}: {effect}", describe::capitalize(&describe::within(configuration.ttl)))}</p>
            {page.confirmed_fields()}
            <FormActions action=label back=page.address.href() focus_back=true/>
        </form>
    };
    Some(form.into_html())
}

fn time_to_live(page: &PageData, current: &FlagConfiguration) -> impl IntoView + use<> {
    let ttl = describe::time_to_live(current.target.configuration.ttl);
    let change = page.may_edit().then(|| {
        view! {
            <a href=page.address.editing(Edit::Ttl) aria-label="Change how long clients keep the flag">
                "Change"
            </a>
        }
    });
    let copy = page.may_copy().then(|| {
        view! {
            <LinkButton href=page.address.editing(Edit::Copy(None, None)) icon=Icon::COPY label="Copy to…"/>
        }
    });
    view! {
        <div class="configuration-rest">
            <span title="How long apps keep the flag while they cannot reach Pennon">
                <span class="quiet">"Apps keep it for up to "</span>
                {ttl}
            </span>
            {change}
            {copy}
        </div>
    }
}

/// Renders the form for the TTL.
fn ttl_editor(page: &PageData, current: &FlagConfiguration) -> Option<Html> {
    if page.edit != Edit::Ttl {
        return None;
    }
    let current = current.target.configuration.ttl;
    let seconds = current.map(|ttl| ttl.seconds().to_string());
    let seconds = seconds.unwrap_or_default();
    let expected = page.state.expected(read_expected, seconds.clone());
    let stale = page.is_stale().then(|| {
        AdminError::Conflict(format!(
            "{} It is now {}. What you typed is still here; saving it replaces that.",
            AdminError::Stale,
            describe::time_to_live(current),
        ))
    });
    let refusal = page.form_refusal(&["ttl"]);
    Some(html! {
        <form class="step-editor" id="ttl-form" method="post" action=page.address.editing(Edit::Ttl)>
            <RefusalNotice error=stale.or(refusal.other.clone())/>
            {page.hidden(Action::Ttl, None)}
            {hidden("expected", expected)}
            <Field
                name="ttl"
                label="TTL (time to live) in seconds"
                input=Input::Number
                hint="How long apps keep the flag while they cannot reach Pennon. Below 30, they also poll this often. Leave empty for the default of 60."
                optional=true
                value=seconds
                focus=true
                refusal
            />
            <FormActions action="Save" back=page.address.href()/>
        </form>
    })
}
