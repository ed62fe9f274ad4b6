//! The rollout: its line in the list, and its form.

use leptos::prelude::*;
use pennon_core::rule::Rule;
use pennon_model::{configuration::FlagConfiguration, targeting::FlagRollout};

use super::{
    PageData, actions::Action, address::Edit, conflict_notice, current_state, describe_effect,
    icon_link, steps::sentence,
};
use crate::{
    components::{
        form_actions::FormActions, icon::Icon, link_button::LinkButton, refusal::RefusalNotice,
        rollout_fields::RolloutFields,
    },
    describe,
    effect::ProposedChange,
    error::AdminError,
    html::{Html, IntoHtml as _, html},
    rule_form::RolloutForm,
};

/// Renders the line of the rollout, or the form that is open in its place.
pub(super) fn rollout(page: &PageData, current: &FlagConfiguration) -> Html {
    let rollout = current.rollout.as_ref();
    let body = match (page.edit, rollout) {
        (Edit::Rollout, _) => editor(page, rollout),
        (Edit::RemoveRollout, Some(rollout)) => removal(page, current, rollout),
        (_, Some(rollout)) => line(page, rollout),
        (_, None) => return add_button(page).into_html(),
    };
    html! {
        <li class="step step-rollout" id="rollout" tabindex="-1">
            <span class="step-mark">"then"</span>
            {body}
        </li>
    }
}

/// Renders the button that adds a rollout.
fn add_button(page: &PageData) -> Option<impl IntoView + use<>> {
    (page.may_edit() && page.edit == Edit::None).then(|| {
        view! {
            <li class="step step-add" id="rollout">
                <LinkButton href=page.address.editing(Edit::Rollout) icon=Icon::PLUS label="Add rollout"/>
            </li>
        }
    })
}

fn line(page: &PageData, rollout: &FlagRollout) -> Html {
    let rollout = rollout.rollout;
    let percentage = rollout.percentage.get();
    let actions = (page.may_edit() && page.edit == Edit::None).then(|| {
        view! {
            <div class="step-actions" role="group" aria-label="Rollout">
                {icon_link(page.address.editing(Edit::Rollout), Icon::PENCIL, "Edit")}
                {icon_link(page.address.editing(Edit::RemoveRollout), Icon::BIN, "Remove")}
            </div>
        }
    });
    html! {
        <div class="step-text">
            <p title=describe::rollout_meaning(rollout)>{describe::rollout(rollout)}</p>
            <svg class="portion" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                <rect class="portion-all" width="100" height="4"></rect>
                <rect class="portion-in" width=percentage.to_string() height="4"></rect>
            </svg>
        </div>
        {actions}
    }
}

/// Renders the confirmation to remove the rollout, with the consequences.
fn removal(page: &PageData, current: &FlagConfiguration, rollout: &FlagRollout) -> Html {
    let rules: Vec<&Rule> = current.rules.iter().map(|rule| &rule.rule).collect();
    let effect = describe_effect(current, rules, None);
    let error = page.error().cloned();
    html! {
        <form class="step-question" method="post" action=page.address.editing(Edit::RemoveRollout)>
            <RefusalNotice error/>
            {page.hidden(Action::RemoveRollout, Some(rollout.revision))}
            <p class="step-text struck">{sentence(&describe::rollout(rollout.rollout))}</p>
            <p>
                "Without a rollout, users that match no rule get ON. "
                {effect}
            </p>
            {page.confirmed_fields()}
            <FormActions
                action="Remove rollout"
                danger=true
                back=page.address.href()
                keep="Keep rollout"
                focus_back=true
            />
        </form>
    }
}

/// Renders the rollout's form.
fn editor(page: &PageData, rollout: Option<&FlagRollout>) -> Html {
    let posted = page
        .posted_form()
        .map(|form| RolloutForm::read(|name| form.texts(name)));
    let input = posted.unwrap_or_else(|| {
        rollout
            .map(|rollout| RolloutForm::from(rollout.rollout))
            .unwrap_or_default()
    });
    let (errors, other) = match page.error() {
        Some(AdminError::Invalid(errors)) => (errors.clone(), None),
        Some(AdminError::Stale) | None => (Vec::new(), None),
        other => (Vec::new(), other.cloned()),
    };
    let stale = page.is_stale().then(|| {
        let now = match rollout {
            Some(rollout) => describe::capitalize(&describe::rollout(rollout.rollout)),
            None => "none".to_owned(),
        };
        conflict_notice(format!(
            "Current rollout: {now}. What you typed is still here; saving it replaces that."
        ))
    });
    let posted_revision = page.posted_form().map(|form| form.parsed("revision"));
    let current_revision = rollout.map(|rollout| rollout.revision);
    let revision = posted_revision
        .filter(|_| !page.is_stale())
        .unwrap_or(current_revision);
    let current_state = rollout.map(|rollout| current_state(describe::rollout(rollout.rollout)));
    html! {
        <form
            class="step-editor"
            id="rollout-form"
            method="post"
            action=page.address.editing(Edit::Rollout)
            aria-label="Rollout"
        >
            {stale}
            <RefusalNotice error=other/>
            {page.hidden(Action::Rollout, revision)}
            <RolloutFields input errors/>
            {current_state}
            {page.effect_of(ProposedChange::Rollout)}
            <FormActions action="Save rollout" back=format!("{}#rollout", page.address.href())/>
        </form>
    }
}
