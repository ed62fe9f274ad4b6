//! The rollout: its line in the list, and its form.

use leptos::prelude::*;
use pennon_core::{rollout::Rollout, rule::Rule};
use pennon_model::{configuration::FlagConfiguration, targeting::FlagRollout};

use super::{
    PageData,
    actions::{Action, PERCENTAGE_BEFORE, edited_rule, read_expected, write_expected_rules},
    address::Edit,
    current_state, describe_effect, icon_link,
    steps::sentence,
};
use crate::{
    components::{
        form_actions::FormActions, icon::Icon, link_button::LinkButton,
        recipe_fields::RecipeFields, refusal::RefusalNotice, rollout_fields::RolloutFields,
    },
    describe,
    html::{Html, IntoHtml as _, hidden, html},
    preview::ProposedChange,
    recipe_form::RecipeForm,
    targeting_form::RolloutForm,
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
    let is_rest = rollout.is_some_and(|rollout| includes_nobody(rollout.rollout));
    let mark = if is_rest { "else" } else { "then" };
    html! {
        <li class="step" id="rollout" tabindex="-1">
            <span class="step-mark">{mark}</span>
            {body}
        </li>
    }
}

/// Returns true if everyone that no rule matches gets OFF.
pub(super) fn includes_nobody(rollout: Rollout) -> bool {
    rollout.percentage.get() == 0
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
            <p title=describe::rollout_meaning(rollout)>{sentence(&description)}</p>
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
    let former = describe::rollout_after(!rules.is_empty(), rollout.rollout);
    let effect = describe_effect(current, rules, None);
    let error = page.error().cloned();
    html! {
        <form class="step-question" method="post" action=page.address.editing(Edit::RemoveRollout)>
            <RefusalNotice error/>
            {page.hidden(Action::RemoveRollout, Some(rollout.revision))}
            <p class="step-text struck">{sentence(&former)}</p>
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
    let (errors, other) = page.form_errors(&["percentage", "strategy"]);
    let current = describe::rollout(rollout.rollout);
    html! {
        <form
            class="step-editor"
            id="rollout-form"
            method="post"
            action=page.address.editing(Edit::Rollout)
            aria-label="Rollout"
            data-enabled=page.is_enabled().to_string()
        >
            {conflict(page, Some(rollout))}
            <RefusalNotice error=other/>
            {hidden_fields(page, Action::Rollout, Some(rollout))}
            <RolloutFields input errors/>
            <p class="hint">
                <a href=page.address.editing(Edit::Recipe)>"Limit it to users where …"</a>
            </p>
            {current_state(current)}
            <FormActions action="Save rollout" back=format!("{}#rollout", page.address.href())/>
            {page.effect_of(ProposedChange::Rollout)}
        </form>
    }
}

/// Renders the form of a new rollout, or of one that replaces the current rollout.
fn recipe(page: &PageData, current: &FlagConfiguration) -> Html {
    let rollout = current.rollout.as_ref();
    let posted = page.posted_form().map(|form| RecipeForm {
        rule: edited_rule(form),
        ..RecipeForm::read(|name| form.texts(name))
    });
    let input = posted.unwrap_or_else(|| RecipeForm {
        rollout: rollout
            .map(|rollout| RolloutForm::from(rollout.rollout))
            .unwrap_or_default(),
        ..RecipeForm::default()
    });
    let (errors, other) = page.form_errors(&["recipe", "percentage", "strategy", "conditions"]);
    let shown = write_expected_rules(&current.rules);
    let expected_rules = page.state.expected(read_expected, shown);
    html! {
        <form
            class="step-editor"
            id="recipe-form"
            method="post"
            action=page.address.editing(Edit::Recipe)
            aria-label="Rollout"
            data-enabled=page.is_enabled().to_string()
        >
            // Enter in a field presses the first button, which must be the one that saves.
            <button class="visually-hidden" tabindex="-1" aria-hidden="true">
                "Save"
            </button>
            {conflict(page, rollout)}
            <RefusalNotice error=other/>
            {hidden_fields(page, Action::Recipe, rollout)}
            {hidden("expected", expected_rules)}
            <RecipeFields
                input
                errors
                suggestions=page.extras.suggestions.clone()
                is_rest=!current.rules.is_empty()
            />
            <FormActions action="Save" back=format!("{}#rollout", page.address.href())/>
            {page.effect_of(ProposedChange::Recipe)}
        </form>
    }
}

/// Renders the current rollout if somebody else made a change first.
fn conflict(page: &PageData, rollout: Option<&FlagRollout>) -> Option<Html> {
    page.is_stale().then(|| {
        let now = match rollout {
            Some(rollout) => describe::capitalize(&describe::rollout(rollout.rollout)),
            None => "none".to_owned(),
        };
        page.conflict_notice(format!(
            "Current rollout: {now}. What you typed is still here; saving it replaces that."
        ))
    })
}

/// Renders the hidden fields for an action, with the revision and the percentage of the rollout that the form expects.
fn hidden_fields(page: &PageData, action: Action, rollout: Option<&FlagRollout>) -> Html {
    let revision = rollout.map(|rollout| rollout.revision);
    let percentage = rollout.map(|rollout| rollout.rollout.percentage.get().to_string());
    let (revision, percentage) = page.state.expected(
        |form| Some((form.parsed("revision"), form.text(PERCENTAGE_BEFORE))),
        (revision, percentage.unwrap_or_default()),
    );
    html! {
        {page.hidden(action, revision)}
        {hidden(PERCENTAGE_BEFORE, percentage)}
    }
}
