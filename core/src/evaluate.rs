//! The decision, and how it came about.
//!
//! The order of precedence is the chain in [`decide`]; each step bears the name of the reason that it gives.

use alloc::vec::Vec;

use crate::bucketing::bucket;
use crate::compiled::{CompiledFlag, CompiledRule};
use crate::context::{CustomValue, Subject, Value};
use crate::evaluation::{Evaluation, Reason};
pub use crate::matching::Outcome;
use crate::matching::compare;
use crate::rollout::{Percentage, Strategy};
use crate::rule::{Attribute, Condition, Logic, Operand, Operator, Priority};

/// What a rollout does with a subject that has no bucketing value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingBucketingValue {
    /// The subject is not in the rollout. Every evaluation with a caller's context decides so.
    Excluded,
    /// The rollout is passed over. Only a client's evaluation ahead of time, with no context at all, decides so.
    FallsThrough,
}

/// Decides `flag` for `subject`.
pub fn evaluate(
    flag: &CompiledFlag,
    subject: &impl Subject,
    missing: MissingBucketingValue,
) -> Evaluation {
    decide(flag, subject, missing, &mut NoObserver)
}

/// Decides `flag` for `subject` as [`evaluate`] does, and tells what decided, at no more cost.
pub fn evaluate_with_cause(
    flag: &CompiledFlag,
    subject: &impl Subject,
    missing: MissingBucketingValue,
) -> (Evaluation, Cause) {
    let mut recorder = CauseRecorder::default();
    let evaluation = decide(flag, subject, missing, &mut recorder);
    (evaluation, recorder.cause)
}

/// What decided, beside the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// The rule that matched, counted from 0 by ascending priority.
    pub rule: Option<usize>,
    /// The subject's bucket, 0 to 99, where a rollout was reached and there was a bucketing value.
    pub bucket: Option<u32>,
}

/// Decides `flag` for `subject` as [`evaluate`] does, and records each step of the way.
pub fn explain(
    flag: &CompiledFlag,
    subject: &impl Subject,
    missing: MissingBucketingValue,
) -> Explanation {
    let mut steps = TraceRecorder::default();
    let evaluation = decide(flag, subject, missing, &mut steps);
    Explanation {
        evaluation,
        rules: steps.rules,
        rollout: steps.rollout,
    }
}

/// The complete trace of one evaluation; the deciding step is the one that the evaluation's reason names.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Explanation {
    /// The result.
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// The rules tried, in order; where a rule decided, it is the last one.
    pub rules: Vec<RuleTrace>,
    /// The rollout, where the evaluation reached one.
    pub rollout: Option<RolloutTrace>,
}

/// One rule that was tried.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RuleTrace {
    /// The rule's priority, which names it within its flag and environment.
    pub priority: Priority,
    /// How its conditions combine.
    pub logic: Logic,
    /// The result that it gives when it matches.
    pub value: bool,
    /// Whether it matched.
    pub matched: bool,
    /// All its conditions, also those after the deciding one.
    pub conditions: Vec<ConditionTrace>,
}

/// One condition and what it met.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ConditionTrace {
    /// The condition.
    #[serde(flatten)]
    pub condition: Condition,
    /// The attribute's value in the context; its JSON type is its type.
    #[cfg_attr(feature = "schema", schema(required))]
    pub actual: Option<CustomValue<'static>>,
    /// What came of the comparison.
    pub outcome: Outcome,
}

/// The rollout that was reached, and where the subject stood in it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RolloutTrace {
    /// Whose bucket counts.
    pub strategy: Strategy,
    /// How many of the 100 buckets are in.
    pub percentage: Percentage,
    /// The subject's bucket, 0 to 99; none without a bucketing value.
    #[cfg_attr(feature = "schema", schema(required, maximum = 99))]
    pub bucket: Option<u32>,
}

/// Decides `flag` for `subject` while `observer` watches. This is the order of precedence: the first step that has an answer
/// gives it.
pub fn decide(
    flag: &CompiledFlag,
    subject: &impl Subject,
    missing: MissingBucketingValue,
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
    missing: MissingBucketingValue,
    observer: &mut impl Observer,
) -> Option<Evaluation> {
    let rollout = flag.rollout()?;
    let bucket = value(flag, rollout.slot, subject)
        .and_then(bucketing_value)
        .map(bucket);
    observer.rollout(rollout.strategy, rollout.percentage, bucket);
    let admitted = match (bucket, missing) {
        (Some(bucket), _) => bucket < u32::from(rollout.percentage.get()),
        (None, MissingBucketingValue::Excluded) => false,
        (None, MissingBucketingValue::FallsThrough) => return None,
    };
    Some(Evaluation {
        enabled: admitted,
        reason: Reason::Rollout,
    })
}

/// For bucketing, and only there, an empty string counts as missing.
fn bucketing_value(value: Value<'_>) -> Option<&str> {
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
            if !O::SEES_ALL_CONDITIONS {
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

/// Watches a decision being made, and cannot change it.
pub trait Observer {
    /// Whether conditions are compared even after the one that decided their rule.
    const SEES_ALL_CONDITIONS: bool = false;

    /// A rule is tried.
    fn rule(&mut self, _priority: Priority, _logic: Logic, _value: bool) {}

    /// A condition of that rule has met this value.
    fn condition(
        &mut self,
        _attribute: &Attribute,
        _operator: Operator,
        _operand: &Operand,
        _actual: Option<Value<'_>>,
        _outcome: Outcome,
    ) {
    }

    /// The rule that is tried matches, or does not.
    fn rule_ended(&mut self, _matched: bool) {}

    /// A rollout has been reached, and the subject has this bucket.
    fn rollout(&mut self, _strategy: Strategy, _percentage: Percentage, _bucket: Option<u32>) {}
}

/// The observer of a plain evaluation: it compiles to nothing.
struct NoObserver;

impl Observer for NoObserver {}

/// The observer that remembers what decided.
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
    const SEES_ALL_CONDITIONS: bool = true;

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
                actual: actual.map(Value::into_owned),
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
