//! The representatives of all subjects: for each attribute, every value in the rules, the values between and around
//! them, and no value.
//!
//! Values that no condition distinguishes have the same result, so one of them represents all, and the representatives
//! have every result that a subject can have. A check that needs more than `MAX_SUBJECTS` representatives has no
//! result. Neither has any check after `MAX_COMPARISONS` comparisons.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::compiled::{CompiledFlag, CompiledRollout};
use crate::context::{CustomValue, Subject, Value};
use crate::evaluate::{Cause, MissingBucketingKey, evaluate_with_cause};
use crate::evaluation::Reason;
use crate::rollout::Rollout;
use crate::rule::{Attribute, Condition, Operand, Rule};

/// The maximum number of subjects for one check.
const MAX_SUBJECTS: usize = 1024;

/// The maximum number of comparisons for one flag or change. A flag can have 5,000 conditions, and each pair of its 100
/// rules is a check, so without this limit one flag could block a thread of the server for several seconds.
const MAX_COMPARISONS: usize = 1_000_000;

/// The cost of preparing a check, in comparisons for each condition.
const PREPARATION: usize = 16;

/// The comparisons that are left.
pub(crate) struct Budget(Cell<usize>);

impl Budget {
    pub(crate) const fn new() -> Self {
        Self(Cell::new(MAX_COMPARISONS))
    }

    fn spend(&self, comparisons: usize) {
        self.0.set(self.0.get().saturating_sub(comparisons));
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// The result for the contexts that no rule distinguishes from a given one.
pub(crate) struct Decision {
    /// The percentage of them for which the flag is on.
    pub(crate) percentage: u8,
    pub(crate) cause: Cause,
}

/// Evaluates a flag for a subject.
pub(crate) fn decide(flag: &CompiledFlag, subject: &impl Subject) -> Decision {
    let (evaluation, cause) = evaluate_with_cause(flag, subject, MissingBucketingKey::Excluded);
    let percentage = match flag.rollout() {
        // The bucket determined the result. The contexts that no rule distinguishes from this one are in all buckets.
        Some(rollout) if evaluation.reason == Reason::Rollout && is_in_gap(subject, rollout) => {
            rollout.percentage.get()
        }
        _ if evaluation.enabled => 100,
        _ => 0,
    };
    Decision { percentage, cause }
}

/// Returns true if the subject's bucketing key stands for all keys between two operands. Such a key ends with U+0000,
/// which no operand contains; any other key stands only for itself.
fn is_in_gap(subject: &impl Subject, rollout: &CompiledRollout) -> bool {
    let key = subject.value(&rollout.strategy.attribute(), rollout.slot);
    matches!(key, Some(Value::String(text)) if text.ends_with(b"\0"))
}

/// Evaluates the representative subjects. Returns `None` instead of them, or instead of one of them, if that is too
/// much work.
pub(crate) fn decisions(
    rules: &[&Rule],
    rollout: Option<Rollout>,
    budget: &Budget,
) -> Option<impl Iterator<Item = Option<Decision>>> {
    let conditions: Vec<&Condition> = rules.iter().flat_map(|rule| &rule.conditions).collect();
    budget.spend(conditions.len().saturating_mul(PREPARATION));
    if budget.is_spent() {
        return None;
    }
    let rules = rules.iter().copied().cloned().collect();
    let flag = CompiledFlag::new(false, true, rules, rollout);
    let (choices, combinations) = all_choices(flag.attributes(), &conditions)?;
    Some((0..combinations).map(move |number| {
        let decision = decide(&flag, &Representative::new(number, &choices, budget));
        (!budget.is_spent()).then_some(decision)
    }))
}

/// The representative values of one attribute: no value, and those that conditions can distinguish.
pub(crate) type Choices = Vec<Option<CustomValue<'static>>>;

/// Returns the choices for each attribute and the number of their combinations; `None` if there are too many.
pub(crate) fn all_choices(
    attributes: &[Attribute],
    conditions: &[&Condition],
) -> Option<(Vec<Choices>, usize)> {
    let mut all = Vec::new();
    let mut combinations = 1_usize;
    for attribute in attributes {
        let choices = choices(attribute, conditions);
        combinations = combinations.saturating_mul(choices.len());
        if combinations > MAX_SUBJECTS {
            return None;
        }
        all.push(choices);
    }
    Some((all, combinations))
}

fn choices(attribute: &Attribute, conditions: &[&Condition]) -> Choices {
    let operands = conditions
        .iter()
        .filter(|condition| condition.attribute == *attribute)
        .map(|condition| &condition.operand);
    let (mut strings, mut numbers, mut has_boolean) = (Vec::new(), Vec::new(), false);
    for operand in operands {
        match operand {
            Operand::String(text) => strings.push(text.as_str()),
            Operand::Number(number) => numbers.push(number.to_f64()),
            Operand::Boolean(_) => has_boolean = true,
        }
    }
    let mut choices = Vec::from([None]);
    choices.extend(texts(strings).map(|text| Some(CustomValue::String(text.into()))));
    if matches!(attribute, Attribute::Custom(_)) {
        choices.extend(
            points(numbers)
                .into_iter()
                .map(CustomValue::Number)
                .map(Some),
        );
        let booleans = has_boolean.then_some([false, true]).into_iter().flatten();
        choices.extend(booleans.map(CustomValue::Boolean).map(Some));
    }
    choices
}

/// Returns the empty string and each of `named`, each followed by the next greater string.
fn texts(mut named: Vec<&str>) -> impl Iterator<Item = String> {
    named.push("");
    named.sort_unstable();
    named.dedup();
    named
        .into_iter()
        .flat_map(|text| [String::from(text), [text, "\0"].concat()])
}

/// Returns the numbers in `named`, one between each pair of neighbors, one below all, and one above all.
fn points(mut named: Vec<f64>) -> Vec<f64> {
    named.sort_unstable_by(f64::total_cmp);
    let before = named.first().map(|least| least - 1.0);
    let after = named.last().map(|greatest| greatest + 1.0);
    let between = named.windows(2).filter_map(|pair| match pair {
        [one, next] => Some(one + (next - one) / 2.0),
        _ => None,
    });
    let mut points: Vec<f64> = between.chain(before).chain(after).collect();
    points.extend(named);
    points.sort_unstable_by(f64::total_cmp);
    points.dedup();
    points
}

/// A subject with one combination of choices, which pays for each comparison.
pub(crate) struct Representative<'c> {
    values: Vec<Option<&'c CustomValue<'static>>>,
    budget: &'c Budget,
}

impl<'c> Representative<'c> {
    pub(crate) fn new(mut number: usize, choices: &'c [Choices], budget: &'c Budget) -> Self {
        let pick = |choices: &'c Choices| {
            let index = number.checked_rem(choices.len()).unwrap_or_default();
            number = number.checked_div(choices.len()).unwrap_or_default();
            choices.get(index)?.as_ref()
        };
        Self {
            values: choices.iter().map(pick).collect(),
            budget,
        }
    }
}

impl Subject for Representative<'_> {
    fn value(&self, _attribute: &Attribute, slot: usize) -> Option<Value<'_>> {
        self.budget.spend(1);
        (*self.values.get(slot)?).map(Value::from)
    }
}
