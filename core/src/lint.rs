//! Probable mistakes: rules without effect, and flags with the same value for everyone.
//!
//! The linter has no evaluation logic. It runs the engine for representative subjects: for each attribute, every value
//! in the rules, the values between and around them, and no value. Values that no condition distinguishes have the same
//! result, so one of them represents all, and the representatives have every result that a subject can have. A check
//! that needs more than `MAX_SUBJECTS` representatives reports nothing, and so does every check after `MAX_COMPARISONS`
//! comparisons.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::compiled::{CompiledFlag, CompiledRollout};
use crate::config::FlagConfig;
use crate::context::{CustomValue, Subject, Value};
use crate::evaluate::{Cause, MissingBucketingKey, evaluate_with_cause};
use crate::evaluation::Reason;
use crate::rollout::Rollout;
use crate::rule::{Attribute, Condition, Logic, Operand, Priority, Rule};

/// The maximum number of subjects for one check.
const MAX_SUBJECTS: usize = 1024;

/// The maximum number of comparisons for one flag or change. A flag can have 5,000 conditions, and each pair of its 100
/// rules is a check, so without this limit one flag could block a thread of the server for several seconds.
const MAX_COMPARISONS: usize = 1_000_000;

/// The cost of preparing a check, in comparisons for each condition.
const PREPARATION: usize = 16;

/// A probable mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The rule matches nobody.
    NeverMatches {
        /// The rule.
        rule: Priority,
    },
    /// A condition never holds, although the rule can match.
    ConditionNeverHolds {
        /// The rule.
        rule: Priority,
        /// The condition, counted from 0.
        condition: usize,
    },
    /// The rule has no effect, because earlier rules match all its subjects.
    NeverReached {
        /// The rule.
        rule: Priority,
        /// The earlier rule that alone matches all of them, if one does.
        shadowed_by: Option<Priority>,
    },
    /// The enabled flag has the same value for everyone, despite its rules or rollout.
    Constant {
        /// The value for everyone.
        value: bool,
    },
}

/// Returns the probable mistakes in a flag, by ascending priority of the rules. Treats the flag as enabled.
pub fn lint(flag: &FlagConfig) -> Vec<Finding> {
    let mut rules: Vec<&Rule> = flag.rules.iter().collect();
    rules.sort_by_key(|rule| rule.priority);
    let budget = Budget::new();
    let value = constant(&rules, flag.rollout, &budget);
    let reached = reached(&rules, &budget);
    let mut findings = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let earlier = rules.get(..index).unwrap_or_default();
        match find_ineffective_rule(rule, earlier, reached.as_deref(), &budget) {
            Some(finding) => findings.push(finding),
            None => findings.extend(idle_conditions(rule, &budget)),
        }
    }
    findings.extend(value.map(|value| Finding::Constant { value }));
    findings
}

/// The comparisons that are left.
struct Budget(Cell<usize>);

impl Budget {
    const fn new() -> Self {
        Self(Cell::new(MAX_COMPARISONS))
    }

    fn spend(&self, comparisons: usize) {
        self.0.set(self.0.get().saturating_sub(comparisons));
    }

    fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// Returns a finding if a rule never determines a result.
fn find_ineffective_rule(
    rule: &Rule,
    earlier: &[&Rule],
    reached: Option<&[Priority]>,
    budget: &Budget,
) -> Option<Finding> {
    let priority = rule.priority;
    if !can_match(rule, budget) {
        return Some(Finding::NeverMatches { rule: priority });
    }
    let shadowed_by = earlier
        .iter()
        .find(|before| is_shadowed_by(rule, before, budget))
        .map(|before| before.priority);
    let is_reached = reached.is_none_or(|reached| reached.contains(&priority));
    (shadowed_by.is_some() || !is_reached).then_some(Finding::NeverReached {
        rule: priority,
        shadowed_by,
    })
}

/// Returns the conditions that never hold in a rule that can match.
fn idle_conditions(rule: &Rule, budget: &Budget) -> impl Iterator<Item = Finding> {
    let conditions = rule.conditions.iter().enumerate();
    conditions
        .filter(|(_, condition)| !all_can_hold(&[condition], budget))
        .map(|(condition, _)| Finding::ConditionNeverHolds {
            rule: rule.priority,
            condition,
        })
}

/// Returns true if a rule can match. Attributes are independent, so each is checked separately.
fn can_match(rule: &Rule, budget: &Budget) -> bool {
    let mut conditions = rule.conditions.iter();
    match rule.logic {
        Logic::Or => conditions.any(|condition| all_can_hold(&[condition], budget)),
        Logic::And => conditions.all(|condition| {
            let same = rule.conditions.iter();
            let same: Vec<&Condition> = same
                .filter(|other| other.attribute == condition.attribute)
                .collect();
            all_can_hold(&same, budget)
        }),
    }
}

/// Returns true if conditions on one attribute can all hold at once, or if that remains unknown.
fn all_can_hold(conditions: &[&Condition], budget: &Budget) -> bool {
    let rule = Rule {
        priority: Priority::FIRST,
        logic: Logic::And,
        value: true,
        conditions: conditions.iter().copied().cloned().collect(),
    };
    let holds =
        |decision: Option<Decision>| decision.is_none_or(|decision| decision.cause.rule.is_some());
    decisions(&[&rule], None, budget).is_none_or(|mut all| all.any(holds))
}

/// Returns true if an earlier rule certainly matches every subject that a later one matches.
fn is_shadowed_by(rule: &Rule, before: &Rule, budget: &Budget) -> bool {
    let is_shadowed = |decision: Option<Decision>| {
        decision.is_some_and(|decision| decision.cause.rule != Some(1))
    };
    decisions(&[before, rule], None, budget).is_some_and(|mut all| all.all(is_shadowed))
}

/// Returns the rules that determine the result for some subject; `None` if that is too much work.
fn reached(rules: &[&Rule], budget: &Budget) -> Option<Vec<Priority>> {
    let mut reached = Vec::new();
    for decision in decisions(rules, None, budget)? {
        let rule = decision?.cause.rule.and_then(|rule| rules.get(rule));
        reached.extend(rule.map(|rule| rule.priority));
    }
    Some(reached)
}

/// Returns true if a change turns a flag from off to on for some context; `None` if there are too many combinations of
/// attributes and conditions to try.
pub fn enables_any_context(before: &FlagConfig, after: &FlagConfig) -> Option<bool> {
    let is_always_on = before.enabled
        && !before.archived
        && before.rollout.is_none()
        && before.rules.iter().all(|rule| rule.value);
    if is_always_on || !after.enabled {
        return Some(false);
    }
    let rules = before.rules.iter().chain(&after.rules);
    let conditions: Vec<&Condition> = rules.flat_map(|rule| &rule.conditions).collect();
    let flags = [before, after].map(|flag| CompiledFlag::from(flag.clone()));
    let mut attributes = flags.each_ref().map(CompiledFlag::attributes).concat();
    attributes.sort_unstable();
    attributes.dedup();
    let (choices, combinations) = all_choices(&attributes, &conditions)?;
    let budget = Budget::new();
    for number in 0..combinations {
        let subject = NamedAttributes {
            attributes: &attributes,
            values: Representative::new(number, &choices, &budget),
        };
        let [before, after] = flags.each_ref().map(|flag| decide(flag, &subject));
        if budget.is_spent() {
            return None;
        }
        // This suffices for rollouts by different attributes, too: the rollout before excludes the subject that lacks
        // only its attribute.
        if after.percentage > before.percentage {
            return Some(true);
        }
    }
    Some(false)
}

/// The result for the contexts that no rule distinguishes from a given one.
struct Decision {
    /// The percentage of them for which the flag is on.
    percentage: u8,
    cause: Cause,
}

fn decide(flag: &CompiledFlag, subject: &impl Subject) -> Decision {
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

/// Returns the value if it is the same for everyone although the flag has rules or a rollout.
fn constant(rules: &[&Rule], rollout: Option<Rollout>, budget: &Budget) -> Option<bool> {
    if rules.is_empty() && rollout.is_none() {
        return None;
    }
    let (mut on, mut off) = (false, false);
    for decision in decisions(rules, rollout, budget)? {
        let Decision { percentage, .. } = decision?;
        on |= percentage > 0;
        off |= percentage < 100;
    }
    (on != off).then_some(on)
}

/// Evaluates the representative subjects. Returns `None` instead of them, or instead of one of them, if that is too
/// much work.
fn decisions(
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
type Choices = Vec<Option<CustomValue<'static>>>;

/// Returns the choices for each attribute and the number of their combinations; `None` if there are too many.
fn all_choices(
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
struct Representative<'c> {
    values: Vec<Option<&'c CustomValue<'static>>>,
    budget: &'c Budget,
}

impl<'c> Representative<'c> {
    fn new(mut number: usize, choices: &'c [Choices], budget: &'c Budget) -> Self {
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

/// A subject for two flags, in which an attribute may have different slots.
struct NamedAttributes<'c> {
    attributes: &'c [Attribute],
    values: Representative<'c>,
}

impl Subject for NamedAttributes<'_> {
    fn value(&self, attribute: &Attribute, _slot: usize) -> Option<Value<'_>> {
        let slot = self.attributes.iter().position(|each| each == attribute)?;
        self.values.value(attribute, slot)
    }
}
