//! Targeting rules: their lines in the list, and their form.

use leptos::prelude::*;
use pennon_core::rule::MAX_RULES;
use pennon_model::{configuration::FlagConfiguration, id::RuleId, targeting::TargetingRule};

use super::{
    Shown,
    actions::{Action, rule_anchor, said},
    address::Edit,
    before, effect, icon_link, overtaken,
    path::sentence,
};
use crate::{
    components::{
        form_actions::FormActions,
        icon::{Drawing, Icon},
        refusal::RefusalNotice,
        rule_fields::RuleFields,
    },
    describe,
    effect::ProposedChange,
    error::AdminError,
    form::Form,
    html::{Html, hidden, html},
    rule_form::RuleForm,
};

/// Renders a line for each rule, or the form that is open in its place.
pub(super) fn rules(shown: &Shown, current: &FlagConfiguration) -> Html {
    let last = current.rules.len().saturating_sub(1);
    let lines = current.rules.iter().enumerate().map(|(index, rule)| {
        let ends = (index == 0, index == last);
        match shown.edit {
            Edit::Rule(id) if id == rule.id => editor(shown, current, Some(rule)),
            Edit::DeleteRule(id) if id == rule.id => deletion(shown, current, rule),
            _ => line(shown, rule, ends),
        }
    });
    let lines = lines.collect_view();
    let gone = |id: RuleId| !current.rules.iter().any(|rule| rule.id == id);
    let new = match shown.edit {
        Edit::NewRule => Some(editor(shown, current, None)),
        // Somebody deleted the rule while it was being edited here.
        Edit::Rule(id) if gone(id) => Some(editor(shown, current, None)),
        _ => None,
    };
    html! {
        {lines}
        {new}
    }
}

fn line(shown: &Shown, rule: &TargetingRule, ends: (bool, bool)) -> Html {
    let text = describe::rule(&rule.rule);
    let id = rule.id.to_string();
    let movable = ends != (true, true);
    let actions = (shown.may_edit() && shown.edit == Edit::Nothing).then(|| {
        let order = movable.then(|| {
            view! {
                {mover("up", "Move up", Icon::UP, &id, ends.0)}
                {mover("down", "Move down", Icon::DOWN, &id, ends.1)}
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
                {icon_link(shown.address.editing(Edit::Rule(rule.id)), Icon::PENCIL, "Edit")}
                {icon_link(shown.address.editing(Edit::DeleteRule(rule.id)), Icon::BIN, "Delete")}
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
fn mover(
    name: &'static str,
    label: &'static str,
    icon: Icon,
    rule: &str,
    at_its_end: bool,
) -> impl IntoView + use<> {
    view! {
        <button
            class="icon-button"
            form="rule-order"
            name=name
            value=rule.to_owned()
            title=label
            aria-label=label
            data-end=at_its_end.to_string()
        >
            <Drawing icon/>
        </button>
    }
}

/// Renders the confirmation to delete a rule, with the consequences.
fn deletion(shown: &Shown, current: &FlagConfiguration, rule: &TargetingRule) -> Html {
    let others = current.rules.iter().filter(|other| other.id != rule.id);
    let rollout = current.rollout.as_ref().map(|rollout| rollout.rollout);
    let effect = effect(current, others.map(|other| &other.rule), rollout);
    let error = shown.error().cloned();
    html! {
        <li class="step rule open" id=rule_anchor(rule.id)>
            <span class="step-mark step-number"></span>
            <form class="step-question" method="post" action=shown.address.editing(shown.edit)>
                <RefusalNotice error/>
                {shown.hidden(Action::DeleteRule, Some(rule.revision))}
                <input type="hidden" name="rule" value=rule.id.to_string()/>
                <p class="step-text struck">{sentence(&describe::rule(&rule.rule))}</p>
                <p>{effect}</p>
                <FormActions
                    action="Delete rule"
                    danger=true
                    back=shown.address.href()
                    keep="Keep rule"
                    focus_back=true
                />
            </form>
        </li>
    }
}

/// Renders the form of an existing or a new rule.
fn editor(shown: &Shown, current: &FlagConfiguration, rule: Option<&TargetingRule>) -> Html {
    let redrawn = shown
        .attempt
        .as_ref()
        .and_then(|attempt| attempt.redrawn.clone());
    let read = |form: &Form| RuleForm::read(|name| form.texts(name));
    let input = redrawn.or(shown.typed().map(read)).unwrap_or_else(|| {
        rule.map(|rule| RuleForm::from(&rule.rule))
            .unwrap_or_default()
    });
    let (errors, other) = match shown.error() {
        Some(AdminError::Invalid(errors)) => (errors.clone(), None),
        Some(AdminError::Stale | AdminError::NotFound) | None => (Vec::new(), None),
        other => (Vec::new(), other.cloned()),
    };
    // Expect the state from the form, unless this page shows the user the current one.
    let meanwhile = meanwhile(shown, rule);
    let typed = shown.typed().filter(|_| meanwhile.is_none());
    let revision = rule.map(|rule| {
        let seen = typed.and_then(|form| form.parsed("revision"));
        seen.unwrap_or(rule.revision)
    });
    let seen = rule.is_none().then(|| {
        let seen = typed.map(|form| form.text("seen"));
        hidden("seen", seen.unwrap_or_else(|| said(&current.rules)))
    });
    let full = rule.is_none() && current.rules.len() >= MAX_RULES;
    let full = full.then(|| {
        AdminError::Conflict(
            "This flag has 100 rules here, the maximum in one environment. Delete a rule first."
                .to_owned(),
        )
    });
    let before = rule.map(|rule| before(describe::rule(&rule.rule)));
    let id = rule.map(|rule| hidden("rule", rule.id.to_string()));
    let here = shown.address.href();
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
    let suggestions = shown.suggestions.clone();
    let effect = shown.effect_of(change);
    html! {
        <li class="step rule open" id=anchor>
            <span class="step-mark step-number"></span>
            <form
                class="step-editor"
                id="rule-form"
                method="post"
                action=shown.address.editing(edit)
                aria-label=title
            >
                // Enter in a field presses the first button, which must be the one that saves.
                <button class="visually-hidden" tabindex="-1" aria-hidden="true">
                    {save}
                </button>
                {meanwhile.map(overtaken)}
                <RefusalNotice error=other.or(full)/>
                {shown.hidden(Action::Rule, revision)}
                {id}
                {seen}
                <RuleFields input errors suggestions/>
                {before}
                {effect}
                <FormActions action=save back/>
            </form>
        </li>
    }
}

/// Describes the current state if somebody else made a change first.
fn meanwhile(shown: &Shown, rule: Option<&TargetingRule>) -> Option<String> {
    let was_one = shown
        .typed()
        .is_some_and(|form| !form.text("rule").is_empty());
    match rule {
        Some(rule) if shown.stale() => Some(format!(
            "The rule is now “{}”. What you typed is still here; saving it replaces that.",
            describe::rule(&rule.rule)
        )),
        None if was_one => Some("The rule was deleted. What you typed is still here; adding it creates a new rule after the others.".to_owned()),
        None if shown.stale() => Some("The list shows the current rules. What you typed is still here; adding it puts it after them.".to_owned()),
        _ => None,
    }
}
