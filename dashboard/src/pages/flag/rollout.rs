//! The rollout: its line in the list, and its form.

use leptos::prelude::*;
use pennon_core::rule::Rule;
use pennon_model::{configuration::FlagConfiguration, targeting::FlagRollout};

use super::{
    PageData,
    actions::{Action, write_expected_rules},
    address::Edit,
    conflict_notice, current_state, describe_effect, icon_link,
    steps::sentence,
};
use crate::{
    components::{
        form_actions::FormActions, icon::Icon, link_button::LinkButton,
        recipe_fields::RecipeFields, refusal::RefusalNotice, rollout_fields::RolloutFields,
    },
    describe,
    effect::ProposedChange,
    error::{AdminError, FieldError},
    html::{Html, IntoHtml as _, hidden, html},
    recipe_form::RecipeForm,
    rule_form::RolloutForm,
};

/// Renders the line of the rollout, or the form that is open in its place.
pub(super) fn rollout(page: &PageData, current: &FlagConfiguration) -> Html {
    let rollout = current.rollout.as_ref();
    let body = match (page.edit, rollout) {
        (Edit::Recipe, _) => recipe(page, current),
        (Edit::Rollout, Some(rollout)) => editor(page, rollout),
        (Edit::RemoveRollout, Some(rollout)) => removal(page, current, rollout),
        (_, Some(rollout)) => line(page, rollout, !current.rules.is_empty()),
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
                <LinkButton href=page.address.editing(Edit::Recipe) icon=Icon::PLUS label="Add rollout"/>
            </li>
        }
    })
}

fn line(page: &PageData, rollout: &FlagRollout, has_rules: bool) -> Html {
    let rollout = rollout.rollout;
    let description = describe::rollout_after(has_rules, rollout);
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
            <p title=describe::rollout_meaning(rollout)>{description}</p>
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
                {format!("Ends the {}% rollout: users that match no rule get ON. ", rollout.rollout.percentage.get())}
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

/// Renders the form of an existing rollout.
fn editor(page: &PageData, rollout: &FlagRollout) -> Html {
    let posted = page
        .posted_form()
        .map(|form| RolloutForm::read(|name| form.texts(name)));
    let input = posted.unwrap_or_else(|| RolloutForm::from(rollout.rollout));
    let (errors, other) = form_errors(page);
    let current = describe::rollout(rollout.rollout);
    html! {
        <form
            class="step-editor"
            id="rollout-form"
            method="post"
            action=page.address.editing(Edit::Rollout)
            aria-label="Rollout"
        >
            {conflict(page, Some(rollout))}
            <RefusalNotice error=other/>
            {page.hidden(Action::Rollout, expected_revision(page, Some(rollout)))}
            <RolloutFields input errors/>
            <p class="hint">
                <a href=page.address.editing(Edit::Recipe)>"Limit it to users where …"</a>
            </p>
            {current_state(current)}
            {page.effect_of(ProposedChange::Rollout)}
            <FormActions action="Save rollout" back=format!("{}#rollout", page.address.href())/>
        </form>
    }
}

/// Renders the form of a new rollout, or of one that replaces the current rollout.
fn recipe(page: &PageData, current: &FlagConfiguration) -> Html {
    let rollout = current.rollout.as_ref();
    let posted = page.posted_form().map(|form| {
        let input = RecipeForm::read(|name| form.texts(name));
        let attempt = page.attempt.as_ref();
        let edited = attempt.and_then(|attempt| attempt.edited_rule.clone());
        RecipeForm {
            rule: edited.unwrap_or_else(|| input.rule.clone()),
            ..input
        }
    });
    let input = posted.unwrap_or_else(|| RecipeForm {
        rollout: rollout
            .map(|rollout| RolloutForm::from(rollout.rollout))
            .unwrap_or_default(),
        ..RecipeForm::default()
    });
    let (errors, other) = form_errors(page);
    let posted = page.posted_form().filter(|_| !page.is_stale());
    let expected_rules = posted.map_or_else(
        || write_expected_rules(&current.rules),
        |form| form.text("seen"),
    );
    html! {
        <form
            class="step-editor"
            id="recipe-form"
            method="post"
            action=page.address.editing(Edit::Recipe)
            aria-label="Rollout"
        >
            // Enter in a field presses the first button, which must be the one that saves.
            <button class="visually-hidden" tabindex="-1" aria-hidden="true">
                "Save rollout"
            </button>
            {conflict(page, rollout)}
            <RefusalNotice error=other/>
            {page.hidden(Action::Recipe, expected_revision(page, rollout))}
            {hidden("seen", expected_rules)}
            <RecipeFields
                input
                errors
                suggestions=page.suggestions.clone()
                is_rest=!current.rules.is_empty()
            />
            {page.effect_of(ProposedChange::Recipe)}
            <FormActions action="Save rollout" back=format!("{}#rollout", page.address.href())/>
        </form>
    }
}

/// Returns the errors of the fields, and the error that does not concern a field.
fn form_errors(page: &PageData) -> (Vec<FieldError>, Option<AdminError>) {
    match page.error() {
        Some(AdminError::Invalid(errors)) => (errors.clone(), None),
        Some(AdminError::Stale) | None => (Vec::new(), None),
        other => (Vec::new(), other.cloned()),
    }
}

/// Renders the current rollout if somebody else made a change first.
fn conflict(page: &PageData, rollout: Option<&FlagRollout>) -> Option<Html> {
    page.is_stale().then(|| {
        let now = match rollout {
            Some(rollout) => describe::capitalize(&describe::rollout(rollout.rollout)),
            None => "none".to_owned(),
        };
        conflict_notice(format!(
            "Current rollout: {now}. What you typed is still here; saving it replaces that."
        ))
    })
}

/// Returns the revision that the form expects: the posted one, unless this page shows the user the current one.
fn expected_revision(page: &PageData, rollout: Option<&FlagRollout>) -> Option<i64> {
    let posted = page.posted_form().map(|form| form.parsed("revision"));
    let current = rollout.map(|rollout| rollout.revision);
    posted.filter(|_| !page.is_stale()).unwrap_or(current)
}
