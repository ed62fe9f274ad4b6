//! An evaluation as a list of steps, from first to last.

use leptos::prelude::*;
use pennon_core::{
    Explanation, FlagConfig, Reason,
    context::CustomValue,
    evaluate::{ConditionTrace, Outcome, RolloutTrace, RuleTrace},
    rule::{Logic, Rule},
};

use super::icon::{Drawing, Icon};
use crate::describe;
use crate::html::{Html, html};

/// The outcome of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TraceStep {
    /// It determined the result.
    Decided,
    /// The flag is on, so the next step followed.
    Passed,
    /// The rule did not match, so the next step followed.
    NotMatched,
    /// An earlier step determined the result.
    NotReached,
}

impl TraceStep {
    /// Returns the outcome of the last step, which applies when no other step has determined the result.
    fn of(decided: Reason, own: Reason) -> Self {
        if decided == own {
            Self::Decided
        } else {
            Self::NotReached
        }
    }

    /// Returns the class and the note of the step's line.
    fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::Decided => ("trace-step decided", "decides"),
            Self::Passed => ("trace-step", "passed"),
            Self::NotMatched => ("trace-step", "no match"),
            Self::NotReached => ("trace-step not-reached", "not reached"),
        }
    }
}

/// The result in large type, with the reason in words.
#[component]
pub fn EvaluationResult(
    /// The explanation of the engine.
    explanation: Explanation,
) -> impl IntoView {
    let on = explanation.evaluation.enabled;
    let reason = reason(&explanation);
    view! {
        <p class="answer" data-on=on.to_string()>
            <strong>{describe::on_off(on)}</strong>
            <span>{reason}</span>
        </p>
    }
}

fn reason(explanation: &Explanation) -> String {
    match explanation.evaluation.reason {
        Reason::FlagArchived => "The flag is archived.".to_owned(),
        Reason::FlagDisabled => "The flag is switched off in this environment.".to_owned(),
        Reason::TargetingRule => format!("Rule {} matches.", explanation.rules.len()),
        Reason::Rollout => explanation
            .rollout
            .as_ref()
            .map_or_else(String::new, rollout_reason),
        Reason::FlagEnabled if explanation.rules.is_empty() => {
            "The flag is switched on, for everyone.".to_owned()
        }
        Reason::FlagEnabled => {
            "No rule matches, and the flag is switched on for everyone else.".to_owned()
        }
    }
}

fn rollout_reason(trace: &RolloutTrace) -> String {
    let percentage = trace.percentage.get();
    let attribute = trace.strategy.attribute();
    let attribute = attribute.as_str();
    match trace.bucket {
        _ if percentage == 0 => "No rule matches, and a rollout of 0% includes nobody.".to_owned(),
        None => format!("The rollout needs a {attribute}, which is not given."),
        Some(bucket) if bucket < u32::from(percentage) => {
            format!(
                "This {attribute} is in the rollout: its bucket, {bucket}, is below {percentage}."
            )
        }
        Some(bucket) => {
            format!(
                "This {attribute} is not in the rollout: its bucket, {bucket}, is not below {percentage}."
            )
        }
    }
}

/// The steps of an evaluation, including those that it did not reach.
#[component]
pub fn Steps(
    /// The flag that the engine evaluated.
    flag: FlagConfig,
    /// The explanation of the engine.
    explanation: Explanation,
) -> impl IntoView {
    let decided = explanation.evaluation.reason;
    let FlagConfig {
        mut rules, rollout, ..
    } = flag;
    rules.sort_by_key(|rule| rule.priority);
    let mut traces = explanation.rules.into_iter();
    let rules = (1_usize..)
        .zip(rules)
        .map(|(number, rule)| rule_step(number, &rule, traces.next()));
    let rules: Vec<_> = rules.collect();
    let rest = if let Some(rollout) = rollout {
        let step = TraceStep::of(decided, Reason::Rollout);
        // At 0% and 100%, the bucket makes no difference.
        let divides = |trace: &RolloutTrace| (1..100).contains(&trace.percentage.get());
        let trace = explanation.rollout.filter(divides);
        let scale = trace.map(|trace| view! { <Scale trace/> });
        let sentence = describe::rollout_after(!rules.is_empty(), rollout);
        let sentence = describe::capitalize(&sentence);
        line(step, "%", sentence, scale)
    } else {
        let step = TraceStep::of(decided, Reason::FlagEnabled);
        line(step, "=", "Everyone else is ON".to_owned(), ())
    };
    view! {
        <ol>
            {switch(decided)}
            {rules}
            {rest}
        </ol>
    }
}

/// Renders the first step, which checks that the flag is switched on.
fn switch(decided: Reason) -> Html {
    let (step, sentence) = match decided {
        Reason::FlagArchived => (TraceStep::Decided, "The flag is archived: OFF for everyone"),
        Reason::FlagDisabled => (
            TraceStep::Decided,
            "The flag is switched off here: OFF for everyone",
        ),
        _ => (TraceStep::Passed, "The flag is switched on here"),
    };
    line(step, "I", sentence.to_owned(), ())
}

fn rule_step(number: usize, rule: &Rule, trace: Option<RuleTrace>) -> Html {
    let (number, sentence) = (number.to_string(), describe::rule(rule));
    let Some(trace) = trace else {
        return line(TraceStep::NotReached, &number, sentence, ());
    };
    let step = if trace.matched {
        TraceStep::Decided
    } else {
        TraceStep::NotMatched
    };
    let link = match (trace.logic, trace.conditions.len()) {
        (_, 1) => None,
        (Logic::And, _) => Some("All of these must hold:"),
        (Logic::Or, _) => Some("One of these must hold:"),
    };
    let conditions = trace.conditions.into_iter().map(condition).collect_view();
    let detail = view! {
        {link.map(|link| view! { <p class="trace-link">{link}</p> })}
        <ul class="held">{conditions}</ul>
    };
    line(step, &number, sentence, detail)
}

/// Renders a condition with the actual value.
fn condition(trace: ConditionTrace) -> impl IntoView {
    let held = trace.outcome == Outcome::Held;
    let actual = trace.actual.as_ref().map(value);
    let attribute = trace.condition.attribute.as_str().to_owned();
    let actual_text = match (trace.outcome, actual) {
        (Outcome::Missing, _) | (_, None) => format!("{attribute} is not given"),
        (Outcome::OtherType, Some(actual)) => format!("{attribute} is {actual}, of another type"),
        (_, Some(actual)) => format!("{attribute} is {actual}"),
    };
    let (icon, label) = if held {
        (Icon::CHECK, "holds")
    } else {
        (Icon::CLOSE, "does not hold")
    };
    view! {
        <li data-met=held.to_string()>
            <Drawing icon/>
            <span>{describe::condition(&trace.condition)} <span class="quiet">" · " {actual_text}</span></span>
            <span class="visually-hidden">{label}</span>
        </li>
    }
}

/// Formats a value as in the context: text in quotation marks, which show its type.
fn value(actual: &CustomValue<'_>) -> String {
    match actual {
        CustomValue::String(text) => format!("“{text}”"),
        CustomValue::Number(number) => number.to_string(),
        CustomValue::Boolean(boolean) => boolean.to_string(),
    }
}

/// The buckets from 0 to 99, with a mark for those in the rollout and for the context's bucket.
#[component]
fn Scale(trace: RolloutTrace) -> impl IntoView {
    let percentage = trace.percentage.get();
    let description = match trace.bucket {
        Some(bucket) => format!("Bucket {bucket}. Buckets below {percentage} are ON."),
        None => format!("No bucket. Buckets below {percentage} are ON."),
    };
    let marker = trace.bucket.map(|bucket| {
        let middle = f64::from(bucket) + 0.5;
        view! { <line class="scale-bucket" x1=middle x2=middle y1="0" y2="10"></line> }
    });
    view! {
        <figure class="scale">
            <svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label=description.clone()>
                <rect class="scale-all" x="0" y="3" width="100" height="4"></rect>
                <rect class="scale-in" x="0" y="3" width=percentage.to_string() height="4"></rect>
                {marker}
            </svg>
            <figcaption>
                <span>"0"</span>
                <span>{description}</span>
                <span>"99"</span>
            </figcaption>
        </figure>
    }
}

/// Renders a step: its mark, its sentence, its outcome, and details.
fn line(step: TraceStep, mark: &str, sentence: String, detail: impl IntoView) -> Html {
    let (class, note) = step.parts();
    html! {
        <li class=class>
            <div class="trace-line">
                <span class="trace-mark" aria-hidden="true">{mark.to_owned()}</span>
                <span class="trace-text">{sentence}</span>
                <span class="trace-note">{note}</span>
            </div>
            {detail}
        </li>
    }
}

#[cfg(test)]
mod tests {
    use pennon_core::Context;

    use super::*;
    use crate::evaluated::{explain_flag, read};

    /// Evaluates a flag with a rule that does not match and a rollout, and renders the result and the steps.
    fn rendered(percentage: u8, user_id: Option<&'static str>) -> String {
        let flag = format!(
            r#"{{"key": "f", "enabled": true, "rules": [{{"priority": 1, "logic": "and", "value": true, "conditions":
            [{{"attribute": "country", "operator": "==", "valueType": "string", "valueString": "DE"}}]}}],
            "rollout": {{"percentage": {percentage}, "strategy": "per_user"}}}}"#
        );
        let flag = read(&flag).expect("a flag");
        let context = Context {
            user_id: user_id.map(Into::into),
            ..Context::default()
        };
        let explanation = explain_flag(&flag, &context);
        let result = view! { <EvaluationResult explanation=explanation.clone()/> };
        let steps = view! { <Steps flag explanation/> };
        format!("{}{}", result.to_html(), steps.to_html())
    }

    #[test]
    fn a_rollout_to_nobody_needs_no_bucket() {
        for user_id in [None, Some("ada")] {
            let html = rendered(0, user_id);
            assert!(html.contains("No rule matches, and a rollout of 0% includes nobody."));
            assert!(html.contains("Everyone else is OFF"), "{html}");
            assert!(!html.contains("scale"), "{html}");
        }
    }

    #[test]
    fn only_a_percentage_between_has_a_scale() {
        let some = rendered(64, Some("ada"));
        assert!(some.contains("its bucket, 63, is below 64"), "{some}");
        assert!(some.contains("Bucket 63. Buckets below 64 are ON."));
        let everyone = rendered(100, None);
        assert!(everyone.contains("The rollout needs a userId"));
        assert!(!everyone.contains("scale"), "{everyone}");
    }
}
