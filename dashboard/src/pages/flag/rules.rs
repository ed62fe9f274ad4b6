//! Targeting rules: their lines in the list, and their form.

use leptos::prelude::*;
use pennon_core::rule::MAX_RULES;
use pennon_model::{configuration::FlagConfiguration, id::RuleId, targeting::TargetingRule};

use super::{
    PageData,
    actions::{Action, edited_rule, read_expected, rule_anchor, write_expected_rules},
    address::Edit,
    current_state, describe_effect, icon_link,
    steps::sentence,
};
use crate::{
    components::{
        form_actions::FormActions,
        icon::{Drawing, Icon},
        refusal::RefusalNotice,
        rule_fields::RuleFields,
    },
    describe,
    error::AdminError,
    html::{Html, hidden, html},
    preview::ProposedChange,
    targeting_form::RuleForm,
};

/// Renders a line for each rule, or the form that is open in its place.
pub(super) fn rules(page: &PageData, current: &FlagConfiguration) -> Html {
    let last = current.rules.len().saturating_sub(1);
    let lines = current.rules.iter().enumerate().map(|(index, rule)| {
        let ends = (index == 0, index == last);
        match page.edit {
            Edit::Rule(id) if id == rule.id => editor(page, current, Some(rule)),
            Edit::DeleteRule(id) if id == rule.id => deletion(page, current, rule),
            _ => line(page, rule, ends),
        }
    });
    let lines = lines.collect_view();
    let is_deleted = |id: RuleId| !current.rules.iter().any(|rule| rule.id == id);
    let new = match page.edit {
        Edit::NewRule => Some(editor(page, current, None)),
        // Somebody deleted the rule while it was being edited here.
        Edit::Rule(id) if is_deleted(id) => Some(editor(page, current, None)),
        _ => None,
    };
    html! {
        {lines}
        {new}
    }
}

fn line(page: &PageData, rule: &TargetingRule, ends: (bool, bool)) -> Html {
    let text = describe::rule(&rule.rule);
    let id = rule.id.to_string();
    let movable = ends != (true, true);
    let actions = (page.may_edit() && page.edit == Edit::None).then(|| {
        let order = movable.then(|| {
            view! {
                {move_button("up", "Move up", Icon::UP, &id, ends.0)}
                {move_button("down", "Move down", Icon::DOWN, &id, ends.1)}
            }
        });
        let handle = movable.then(|| {
            view! {
                <span class="icon-button handle" aria-hidden="true" title="Drag to reorder">
                    <Drawing icon=Icon::GRIP/>
                </span>
            }
        });
        view! {
            <div class="step-actions" role="group" aria-label=text.clone()>
                {order}
                {icon_link(page.address.editing(Edit::Rule(rule.id)), Icon::PENCIL, "Edit")}
                {icon_link(page.address.editing(Edit::DeleteRule(rule.id)), Icon::BIN, "Delete")}
                {handle}
            </div>
        }
    });
    html! {
        <li class="step rule" id=rule_anchor(rule.id) data-rule=id.clone() tabindex="-1">
            <span class="step-mark step-number"></span>
            <p class="step-text">{sentence(&text)}</p>
            {actions}
        </li>
    }
}

/// Renders a button that moves a rule by one position. It is disabled at the end of the list rather than absent,
/// because scripts move rules without rendering the page again.
fn move_button(
    name: &'static str,
    label: &'static str,
    icon: Icon,
    rule: &str,
    is_at_end: bool,
) -> impl IntoView + use<> {
    view! {
        <button
            class="icon-button"
            form="rule-order"
            name=name
            value=rule.to_owned()
            title=label
            aria-label=label
            data-end=is_at_end.to_string()
        >
            <Drawing icon/>
        </button>
    }
}

/// Renders the confirmation to delete a rule, with the consequences.
fn deletion(page: &PageData, current: &FlagConfiguration, rule: &TargetingRule) -> Html {
    let others = current.rules.iter().filter(|other| other.id != rule.id);
    let rollout = current.rollout.as_ref().map(|rollout| rollout.rollout);
    let effect = describe_effect(current, others.map(|other| &other.rule), rollout);
    let error = page.error().cloned();
    html! {
        <li class="step rule open" id=rule_anchor(rule.id)>
            <span class="step-mark step-number"></span>
            <form class="step-question" method="post" action=page.address.editing(page.edit)>
                <RefusalNotice error/>
                {page.hidden(Action::DeleteRule, Some(rule.revision))}
                {hidden("rule", rule.id.to_string())}
                <p class="step-text struck">{sentence(&describe::rule(&rule.rule))}</p>
                <p>{effect}</p>
                {page.confirmed_fields()}
                <FormActions
                    action="Delete rule"
                    danger=true
                    back=page.address.href()
                    keep="Keep rule"
                    focus_back=true
                />
            </form>
        </li>
    }
}

/// Renders the form of an existing or a new rule.
fn editor(page: &PageData, current: &FlagConfiguration, rule: Option<&TargetingRule>) -> Html {
    let saved = || {
        rule.map(|rule| RuleForm::from(&rule.rule))
            .unwrap_or_default()
    };
    let input = page.posted_form().map_or_else(saved, edited_rule);
    let (errors, other) = page.form_errors(&["conditions"]);
    // The notice says that the rule was deleted.
    let other = other.filter(|error| *error != AdminError::NotFound);
    let conflict = describe_conflict(page, rule);
    let state = &page.state;
    let revision = rule.map(|rule| state.expected(|form| form.parsed("revision"), rule.revision));
    let expected_rules = rule.is_none().then(|| {
        let shown = write_expected_rules(&current.rules);
        hidden("expected", state.expected(read_expected, shown))
    });
    let full = rule.is_none() && current.rules.len() >= MAX_RULES;
    let full = full.then(|| {
        AdminError::Conflict(format!(
            "This flag has {MAX_RULES} rules here, the maximum in one environment. Delete a rule first."
        ))
    });
    let current_state = rule.map(|rule| current_state(describe::rule(&rule.rule)));
    let id = rule.map(|rule| hidden("rule", rule.id.to_string()));
    let here = page.address.href();
    let (edit, change, anchor, back) = match rule {
        Some(rule) => {
            let change = ProposedChange::Rule(rule.rule.priority);
            let anchor = rule_anchor(rule.id);
            (
                Edit::Rule(rule.id),
                change,
                anchor.clone(),
                format!("{here}#{anchor}"),
            )
        }
        None => (
            Edit::NewRule,
            ProposedChange::NewRule,
            "new-rule".to_owned(),
            here,
        ),
    };
    let (title, save) = match rule {
        Some(_) => ("Edit rule", "Save rule"),
        None => ("New rule", "Add rule"),
    };
    let suggestions = page.extras.suggestions.clone();
    let effect = page.effect_of(change);
    html! {
        <li class="step rule open" id=anchor>
            <span class="step-mark step-number"></span>
            <form
                class="step-editor"
                id="rule-form"
                method="post"
                action=page.address.editing(edit)
                aria-label=title
                data-enabled=page.is_enabled().to_string()
            >
                // Enter in a field presses the first button, which must be the one that saves.
                <button class="visually-hidden" tabindex="-1" aria-hidden="true">
                    {save}
                </button>
                {conflict.map(|current| page.conflict_notice(current))}
                <RefusalNotice error=other.or(full)/>
                {page.hidden(Action::Rule, revision)}
                {id}
                {expected_rules}
                <RuleFields input errors suggestions/>
                {current_state}
                <FormActions action=save back/>
                {effect}
            </form>
        </li>
    }
}

/// Describes the current state if somebody else made a change first.
fn describe_conflict(page: &PageData, rule: Option<&TargetingRule>) -> Option<String> {
    let was_existing = page
        .posted_form()
        .is_some_and(|form| !form.text("rule").is_empty());
    match rule {
        Some(rule) if page.is_stale() => Some(format!(
            "The rule is now “{}”. What you typed is still here; saving it replaces that.",
            describe::rule(&rule.rule)
        )),
        None if was_existing => Some("The rule was deleted. What you typed is still here; adding it creates a new rule after the others.".to_owned()),
        None if page.is_stale() => Some("The list shows the current rules. What you typed is still here; adding it puts it after them.".to_owned()),
        _ => None,
    }
}
