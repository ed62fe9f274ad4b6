//! The preview of a change.

use leptos::prelude::*;
use pennon_core::{
    FlagConfig,
    lint::{Finding, lint},
    rule::{Priority, Rule},
    turns_on::enables_any_context,
};
use pennon_model::{
    capabilities::{gaps, since},
    client::Client,
    id::{EnvironmentId, FlagId},
    targeting::make_room_at_end,
};

use super::icon::{Drawing, Icon};
use crate::{
    describe,
    error::FieldError,
    form::Form,
    html::{Html, IntoHtml as _, html, with_code},
    islands::effect::EffectBeforeSave,
    preview::{ConfigChange, Preview, ProposedChange},
    recipe_form::{Audience, RecipeForm},
    targeting_form::{RolloutForm, RuleForm},
};

/// Renders the effect that saving these fields would have on a flag.
pub fn preview(
    before: &FlagConfig,
    change: ProposedChange,
    form: &Form,
    outdated_clients: &[Client],
) -> Preview {
    let Ok((after, audience)) = apply(before, change, form) else {
        let html = view! { <p class="quiet">"Fill in the fields to see what would change."</p> };
        return Preview {
            html: html.to_html(),
            change: None,
        };
    };
    let described = audience
        .as_ref()
        .map(|audience| describe_audience(audience, before));
    let html = view! {
        {described}
        <Sentences before=before.clone() after=after.clone() after_label="After saving"/>
        <Findings flag=after.clone() outdated_clients=outdated_clients.to_vec()/>
    };
    let change = ConfigChange {
        strict: audience.and_then(|audience| audience.apply_strictly_to(before)),
        before: before.clone(),
        after,
    };
    Preview {
        html: html.to_html(),
        change: Some(change.map(|flag| entry(&flag))),
    }
}

/// Renders the description of an audience, and of the users that join it without an attribute.
fn describe_audience(audience: &Audience, before: &FlagConfig) -> Html {
    let note = audience.note_about_missing_attributes();
    let note = note.map(|note| vec![note.into_html()]);
    html! {
        <p class="aloud">{audience.description(!before.rules.is_empty())}</p>
        {findings(note.unwrap_or_default())}
    }
}

/// Serializes a flag as an entry of the config document.
fn entry(flag: &FlagConfig) -> String {
    serde_json::to_string(flag).unwrap_or_default()
}

/// The effect of a pending change on a flag: before and after, lint findings, and a sample of contexts.
#[component]
pub fn Effect(
    /// The flag.
    flag: FlagId,
    /// The environment.
    environment: EnvironmentId,
    /// The flag before the change.
    before: FlagConfig,
    /// The flag after the change.
    after: FlagConfig,
    /// The clients in use in the environment that do not support the whole config document.
    outdated_clients: Vec<Client>,
) -> impl IntoView {
    let warning = match enables_any_context(&before, &after) {
        Some(false) => None,
        Some(true) => Some("Some users who now get OFF will get ON."),
        None => Some("Some users who now get OFF may get ON."),
    };
    let may_turn_on = warning.is_some();
    let warning = warning.map(|warning| {
        view! {
            <p class="effect-warning">
                <Drawing icon=Icon::ALERT/>
                {warning}
            </p>
        }
    });
    let sample = html! { <EffectBeforeSave flag environment change=ProposedChange::Known/> };
    html! {
        <div class="effect-words" class:alarming=may_turn_on>
            {warning.into_html()}
            <Sentences before=before.clone() after=after.clone() after_label="After reverting"/>
            <Findings flag=after.clone() outdated_clients/>
        </div>
        <div data-before=entry(&before) data-after=entry(&after)>
            {sample}
        </div>
    }
}

/// Returns true if the description of a flag differs before and after a change.
pub fn changes_description(before: &FlagConfig, after: &FlagConfig) -> bool {
    let (old, new) = sentences(before, after);
    old != new
}

/// Describes a flag before and after a change. A flag that stays switched off is described as if it were on.
fn sentences(before: &FlagConfig, after: &FlagConfig) -> (String, String) {
    let stays_off = !before.enabled && !after.enabled;
    let sentence =
        |flag: &FlagConfig| describe::flag(flag.enabled || stays_off, &flag.rules, flag.rollout);
    (sentence(before), sentence(after))
}

/// Returns the flag with the change applied, and the audience if the change is a recipe.
fn apply(
    before: &FlagConfig,
    change: ProposedChange,
    form: &Form,
) -> Result<(FlagConfig, Option<Audience>), Vec<FieldError>> {
    let mut after = before.clone();
    let rule = |priority| RuleForm::read(|name| form.texts(name)).rule(priority);
    match change {
        ProposedChange::Known => {}
        ProposedChange::Recipe => {
            let recipe = RecipeForm::read(|name| form.texts(name));
            // Without a rule, the others keep their priorities.
            let priority = if recipe.chosen().has_conditions() {
                make_room_at_end(after.rules.iter_mut())
            } else {
                Priority::LAST
            };
            let audience = recipe.audience(priority)?;
            return Ok((audience.apply_to(&after), Some(audience)));
        }
        ProposedChange::Rollout => {
            after.rollout = Some(RolloutForm::read(|name| form.texts(name)).rollout()?);
        }
        ProposedChange::NewRule => {
            let added = rule(make_room_at_end(after.rules.iter_mut()))?;
            after.rules.push(added);
        }
        ProposedChange::Rule(priority) => {
            let replaced = rule(priority)?;
            after.rules.retain(|rule| rule.priority != priority);
            after.rules.push(replaced);
            after.rules.sort_by_key(|rule| rule.priority);
        }
    }
    Ok((after, None))
}

/// The descriptions of a flag before and after a change.
#[component]
fn Sentences(
    before: FlagConfig,
    after: FlagConfig,
    /// The label of the second description.
    after_label: &'static str,
) -> impl IntoView {
    let (old, new) = sentences(&before, &after);
    if old == new {
        return html! { <p class="quiet">"Nothing would change."</p> };
    }
    let stays_off = !before.enabled && !after.enabled;
    let off = stays_off.then(|| {
        view! { <p class="hint">"The flag is off here. This takes effect when you switch it on."</p> }
    });
    let label = |label: &str| {
        if stays_off {
            format!("Once switched on, {}", label.to_lowercase())
        } else {
            label.to_owned()
        }
    };
    html! {
        {off}
        <dl class="before-after">
            <dt>{label("Now")}</dt>
            <dd>
                <del>{old}</del>
            </dd>
            <dt>{label(after_label)}</dt>
            <dd>
                <ins>{new}</ins>
            </dd>
        </dl>
    }
}

/// Lint findings, and warnings about clients in use that cannot read the flag.
#[component]
fn Findings(flag: FlagConfig, outdated_clients: Vec<Client>) -> impl IntoView {
    let lint = lint(&flag).into_iter();
    let mut items: Vec<Html> = lint
        .map(|finding| describe_finding(&flag, finding).into_html())
        .collect();
    let gaps = gaps([&flag], &outdated_clients, since);
    items.extend(gaps.iter().map(|gap| with_code(&gap.to_string())));
    findings(items)
}

/// Renders a list of warnings; nothing if it is empty.
pub(crate) fn findings(items: Vec<Html>) -> Html {
    let list = (!items.is_empty()).then(|| {
        let items = items.into_iter().map(|item| {
            view! {
                <li>
                    <Drawing icon=Icon::ALERT/>
                    <span>{item}</span>
                </li>
            }
        });
        view! { <ul class="findings">{items.collect_view()}</ul> }
    });
    // The types of whole pages exceed the length that rustc supports.
    list.into_html()
}

/// Returns the name of a rule by its position, counted from 1.
fn rule_name(rules: &[Rule], priority: Priority) -> String {
    let index = rules.iter().position(|rule| rule.priority == priority);
    index.map_or_else(
        || "A rule".to_owned(),
        |index| format!("Rule {}", index.saturating_add(1)),
    )
}

/// Describes a finding about a flag, whose rules are in their order, as a sentence.
fn describe_finding(flag: &FlagConfig, finding: Finding) -> String {
    let rules = &flag.rules;
    match finding {
        Finding::NeverMatches { rule } => format!(
            "{} matches nobody: its conditions contradict each other or can never hold.",
            rule_name(rules, rule)
        ),
        Finding::ConditionNeverHolds { rule, condition } => {
            let found = rules.iter().find(|each| each.priority == rule);
            let found = found.and_then(|rule| rule.conditions.get(condition));
            format!(
                "In {}, “{}” never holds.",
                rule_name(rules, rule).to_lowercase(),
                found.map(describe::condition).unwrap_or_default()
            )
        }
        Finding::NeverReached {
            rule,
            shadowed_by: Some(earlier),
        } => format!(
            "{} has no effect: {} already decides for everyone it matches.",
            rule_name(rules, rule),
            rule_name(rules, earlier).to_lowercase()
        ),
        Finding::NeverReached {
            rule,
            shadowed_by: None,
        } => format!(
            "{} has no effect: earlier rules already decide for everyone it matches.",
            rule_name(rules, rule)
        ),
        Finding::Constant { value } => format!(
            "{} would be {} for everyone: the rules and the rollout make no difference.",
            if flag.enabled {
                "The flag"
            } else {
                "Once switched on, the flag"
            },
            describe::on_off(value)
        ),
    }
}
