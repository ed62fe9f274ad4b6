//! The rollout: its line in the list, and its form.

use leptos::prelude::*;
use pennon_core::rule::Rule;
use pennon_model::{configuration::FlagConfiguration, targeting::FlagRollout};

use super::{
    Shown, actions::Action, address::Edit, before, effect, icon_link, overtaken, path::sentence,
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
pub(super) fn rollout(shown: &Shown, current: &FlagConfiguration) -> Html {
    let rollout = current.rollout.as_ref();
    let body = match (shown.edit, rollout) {
        (Edit::Rollout, _) => editor(shown, rollout),
        (Edit::RemoveRollout, Some(rollout)) => removal(shown, current, rollout),
        (_, Some(rollout)) => line(shown, rollout),
        (_, None) => return nothing(shown).into_html(),
    };
    html! {
        <li class="step step-rollout" id="rollout" tabindex="-1">
            <span class="step-mark">"then"</span>
            {body}
        </li>
    }
}

/// Renders the button that adds a rollout.
fn nothing(shown: &Shown) -> Option<impl IntoView + use<>> {
    (shown.may_edit() && shown.edit == Edit::Nothing).then(|| {
        view! {
            <li class="step step-add" id="rollout">
                <LinkButton href=shown.address.editing(Edit::Rollout) icon=Icon::PLUS label="Add rollout"/>
            </li>
        }
    })
}

fn line(shown: &Shown, rollout: &FlagRollout) -> Html {
    let rollout = rollout.rollout;
    let percentage = rollout.percentage.get();
    let actions = (shown.may_edit() && shown.edit == Edit::Nothing).then(|| {
        view! {
            <div class="step-actions" role="group" aria-label="Rollout">
                {icon_link(shown.address.editing(Edit::Rollout), Icon::PENCIL, "Edit")}
                {icon_link(shown.address.editing(Edit::RemoveRollout), Icon::BIN, "Remove")}
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
fn removal(shown: &Shown, current: &FlagConfiguration, rollout: &FlagRollout) -> Html {
    let rules: Vec<&Rule> = current.rules.iter().map(|rule| &rule.rule).collect();
    let effect = effect(current, rules, None);
    let error = shown.error().cloned();
    html! {
        <form class="step-question" method="post" action=shown.address.editing(Edit::RemoveRollout)>
            <RefusalNotice error/>
            {shown.hidden(Action::RemoveRollout, Some(rollout.revision))}
            <p class="step-text struck">{sentence(&describe::rollout(rollout.rollout))}</p>
            <p>
                "Without a rollout, users that match no rule get ON. "
                {effect}
            </p>
            <FormActions
                action="Remove rollout"
                danger=true
                back=shown.address.href()
                keep="Keep rollout"
                focus_back=true
            />
        </form>
    }
}

/// Renders the rollout's form.
fn editor(shown: &Shown, rollout: Option<&FlagRollout>) -> Html {
    let typed = shown
        .typed()
        .map(|form| RolloutForm::read(|name| form.texts(name)));
    let input = typed.unwrap_or_else(|| {
        rollout
            .map(|rollout| RolloutForm::from(rollout.rollout))
            .unwrap_or_default()
    });
    let (errors, other) = match shown.error() {
        Some(AdminError::Invalid(errors)) => (errors.clone(), None),
        Some(AdminError::Stale) | None => (Vec::new(), None),
        other => (Vec::new(), other.cloned()),
    };
    let stale = shown.stale().then(|| {
        let now = match rollout {
            Some(rollout) => describe::capital(&describe::rollout(rollout.rollout)),
            None => "none".to_owned(),
        };
        overtaken(format!(
            "Current rollout: {now}. What you typed is still here; saving it replaces that."
        ))
    });
    let seen = shown.typed().map(|form| form.parsed("revision"));
    let now = rollout.map(|rollout| rollout.revision);
    let revision = seen.filter(|_| !shown.stale()).unwrap_or(now);
    let before = rollout.map(|rollout| before(describe::rollout(rollout.rollout)));
    html! {
        <form
            class="step-editor"
            id="rollout-form"
            method="post"
            action=shown.address.editing(Edit::Rollout)
            aria-label="Rollout"
        >
            {stale}
            <RefusalNotice error=other/>
            {shown.hidden(Action::Rollout, revision)}
            <RolloutFields input errors/>
            {before}
            {shown.effect_of(ProposedChange::Rollout)}
            <FormActions action="Save rollout" back=format!("{}#rollout", shown.address.href())/>
        </form>
    }
}
