//! The evaluation of a flag, and its explanation.
//!
//! The order of precedence is the chain in [`decide`]; each step has the name of its reason.

use alloc::vec::Vec;

use crate::bucketing::bucket;
use crate::compiled::{CompiledFlag, CompiledRule};
use crate::context::{CustomValue, Subject, Value};
use crate::evaluation::{Evaluation, Reason};
pub use crate::matching::Outcome;
use crate::matching::compare;
use crate::rollout::{Percentage, Strategy};
use crate::rule::{Attribute, Condition, Logic, Operand, Operator, Priority};

/// The effect of a rollout on a subject without a bucketing key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingBucketingKey {
    /// The rollout excludes the subject. Every evaluation with a caller's context uses this.
    Excluded,
    /// The rollout is skipped. Only [`evaluate_without_context`] uses this.
    FallsThrough,
}

/// Evaluates `flag` for `subject`.
pub fn evaluate(
    flag: &CompiledFlag,
    subject: &impl Subject,
    missing: MissingBucketingKey,
) -> Evaluation {
    decide(flag, subject, missing, &mut NoObserver)
}

/// Evaluates `flag` without a context: targeting rules never match, and a rollout is skipped.
pub fn evaluate_without_context(flag: &CompiledFlag) -> Evaluation {
    evaluate(flag, &NoSubject, MissingBucketingKey::FallsThrough)
}

/// Evaluates `flag` for `subject` as [`evaluate`] does, and also returns the cause, at no extra cost.
pub fn evaluate_with_cause(
    flag: &CompiledFlag,
    subject: &impl Subject,
    missing: MissingBucketingKey,
) -> (Evaluation, Cause) {
    let mut recorder = CauseRecorder::default();
    let evaluation = decide(flag, subject, missing, &mut recorder);
    (evaluation, recorder.cause)
}

/// The cause of an evaluation, in addition to its reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// The rule that matched, counted from 0 by ascending priority.
    pub rule: Option<usize>,
    /// The subject's bucket, 0 to 99, if a rollout was reached and the subject has a bucketing key.
    pub bucket: Option<u32>,
}

/// Evaluates `flag` for `subject` as [`evaluate`] does, and records each step.
pub fn explain(
    flag: &CompiledFlag,
    subject: &impl Subject,
    missing: MissingBucketingKey,
) -> Explanation {
    let mut steps = TraceRecorder::default();
    let evaluation = decide(flag, subject, missing, &mut steps);
    Explanation {
        evaluation,
        rules: steps.rules,
        rollout: steps.rollout,
    }
}

/// The complete trace of one evaluation. The evaluation's reason names the step that determined it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Explanation {
    /// The result.
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// The rules that were evaluated, in order; if a rule matched, it is the last one.
    pub rules: Vec<RuleTrace>,
    /// The rollout, if the evaluation reached one.
    pub rollout: Option<RolloutTrace>,
}

/// One evaluated rule.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RuleTrace {
    /// The rule's priority, which identifies it within its flag and environment.
    pub priority: Priority,
    /// The logic that combines its conditions.
    pub logic: Logic,
    /// The result if the rule matches.
    pub value: bool,
    /// True if the rule matched.
    pub matched: bool,
    /// All conditions, including those after the one that determined the result.
    pub conditions: Vec<ConditionTrace>,
}

/// One condition, the attribute's value, and the outcome.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ConditionTrace {
    /// The condition.
    #[serde(flatten)]
    pub condition: Condition,
    /// The attribute's value in the context, with its JSON type. Long strings are [cut](Value::shown).
    pub actual: Option<CustomValue<'static>>,
    /// The outcome of the comparison.
    pub outcome: Outcome,
}

/// The rollout that was reached, and the subject's bucket.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RolloutTrace {
    /// The strategy, which selects the bucketing key.
    pub strategy: Strategy,
    /// The number of included buckets, out of 100.
    pub percentage: Percentage,
    /// The subject's bucket, 0 to 99; none without a bucketing key.
    #[cfg_attr(feature = "schema", schema(required, maximum = 99))]
    pub bucket: Option<u32>,
}

/// Evaluates `flag` for `subject`, and reports rules, conditions and the rollout to `observer`. The steps run in the
/// order of precedence: the first one with a result determines the evaluation.
pub fn decide(
    flag: &CompiledFlag,
    subject: &impl Subject,
    missing: MissingBucketingKey,
    observer: &mut impl Observer,
) -> Evaluation {
    flag_archived(flag)
        .or_else(|| flag_disabled(flag))
        .or_else(|| targeting_rule(flag, subject, observer))
        .or_else(|| rollout(flag, subject, missing, observer))
        .unwrap_or(Evaluation {
            enabled: true,
            reason: Reason::FlagEnabled,
        })
}

fn flag_archived(flag: &CompiledFlag) -> Option<Evaluation> {
    flag.archived.then_some(Evaluation {
        enabled: false,
        reason: Reason::FlagArchived,
    })
}

fn flag_disabled(flag: &CompiledFlag) -> Option<Evaluation> {
    (!flag.enabled).then_some(Evaluation {
        enabled: false,
        reason: Reason::FlagDisabled,
    })
}

fn targeting_rule(
    flag: &CompiledFlag,
    subject: &impl Subject,
    observer: &mut impl Observer,
) -> Option<Evaluation> {
    let rule = flag
        .rules()
        .iter()
        .find(|rule| matches(rule, flag, subject, observer))?;
    Some(Evaluation {
        enabled: rule.value,
        reason: Reason::TargetingRule,
    })
}

fn rollout(
    flag: &CompiledFlag,
    subject: &impl Subject,
    missing: MissingBucketingKey,
    observer: &mut impl Observer,
) -> Option<Evaluation> {
    let rollout = flag.rollout()?;
    let bucket = value(flag, rollout.slot, subject)
        .and_then(bucketing_key)
        .map(bucket);
    observer.rollout(rollout.strategy, rollout.percentage, bucket);
    let is_included = match (bucket, missing) {
        (Some(bucket), _) => bucket < u32::from(rollout.percentage.get()),
        (None, MissingBucketingKey::Excluded) => false,
        (None, MissingBucketingKey::FallsThrough) => return None,
    };
    Some(Evaluation {
        enabled: is_included,
        reason: Reason::Rollout,
    })
}

/// Returns a value as a bucketing key. An empty string counts as missing here, but not in conditions.
fn bucketing_key(value: Value<'_>) -> Option<&[u8]> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

fn matches<O: Observer>(
    rule: &CompiledRule,
    flag: &CompiledFlag,
    subject: &impl Subject,
    observer: &mut O,
) -> bool {
    observer.rule(rule.priority, rule.logic, rule.value);
    let deciding = rule.logic == Logic::Or;
    let mut matched = !deciding;
    for condition in &rule.conditions {
        let actual = value(flag, condition.slot, subject);
        let (operator, operand) = (condition.operator, &condition.operand);
        let outcome = compare(actual, operator, operand);
        if let Some(attribute) = flag.attributes().get(condition.slot) {
            observer.condition(attribute, operator, operand, actual, outcome);
        }
        if (outcome == Outcome::Held) == deciding {
            matched = deciding;
            if !O::NEEDS_ALL_CONDITIONS {
                break;
            }
        }
    }
    observer.rule_ended(matched);
    matched
}

fn value<'s>(flag: &CompiledFlag, slot: usize, subject: &'s impl Subject) -> Option<Value<'s>> {
    subject.value(flag.attributes().get(slot)?, slot)
}

/// An observer of an evaluation, which cannot change it.
pub trait Observer {
    /// True to compare all conditions of a rule, even after its result is certain.
    const NEEDS_ALL_CONDITIONS: bool = false;

    /// Reports that a rule is about to be evaluated.
    fn rule(&mut self, _priority: Priority, _logic: Logic, _value: bool) {}

    /// Reports a condition of that rule, the value, and the outcome.
    fn condition(
        &mut self,
        _attribute: &Attribute,
        _operator: Operator,
        _operand: &Operand,
        _actual: Option<Value<'_>>,
        _outcome: Outcome,
    ) {
    }

    /// Reports whether the rule matched.
    fn rule_ended(&mut self, _matched: bool) {}

    /// Reports that a rollout has been reached, and the subject's bucket.
    fn rollout(&mut self, _strategy: Strategy, _percentage: Percentage, _bucket: Option<u32>) {}
}

/// A subject without attributes.
struct NoSubject;

impl Subject for NoSubject {
    fn value(&self, _: &Attribute, _: usize) -> Option<Value<'_>> {
        None
    }
}

/// The observer of a plain evaluation, which compiles to nothing.
struct NoObserver;

impl Observer for NoObserver {}

/// The observer that records the cause.
#[derive(Default)]
struct CauseRecorder {
    rules: usize,
    cause: Cause,
}

impl Observer for CauseRecorder {
    fn rule_ended(&mut self, matched: bool) {
        if matched {
            self.cause.rule = Some(self.rules);
        }
        self.rules = self.rules.saturating_add(1);
    }

    fn rollout(&mut self, _: Strategy, _: Percentage, bucket: Option<u32>) {
        self.cause.bucket = bucket;
    }
}

/// The observer of an explanation.
#[derive(Default)]
struct TraceRecorder {
    rules: Vec<RuleTrace>,
    rollout: Option<RolloutTrace>,
}

impl Observer for TraceRecorder {
    const NEEDS_ALL_CONDITIONS: bool = true;

    fn rule(&mut self, priority: Priority, logic: Logic, value: bool) {
        self.rules.push(RuleTrace {
            priority,
            logic,
            value,
            matched: false,
            conditions: Vec::new(),
        });
    }

    fn condition(
        &mut self,
        attribute: &Attribute,
        operator: Operator,
        operand: &Operand,
        actual: Option<Value<'_>>,
        outcome: Outcome,
    ) {
        let condition = Condition {
            attribute: attribute.clone(),
            operator,
            operand: operand.clone(),
        };
        if let Some(rule) = self.rules.last_mut() {
            rule.conditions.push(ConditionTrace {
                condition,
                actual: actual.map(Value::shown),
                outcome,
            });
        }
    }

    fn rule_ended(&mut self, matched: bool) {
        if let Some(rule) = self.rules.last_mut() {
            rule.matched = matched;
        }
    }

    fn rollout(&mut self, strategy: Strategy, percentage: Percentage, bucket: Option<u32>) {
        self.rollout = Some(RolloutTrace {
            strategy,
            percentage,
            bucket,
        });
    }
}
