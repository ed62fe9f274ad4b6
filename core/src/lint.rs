//! Probable mistakes: rules without effect, and flags with the same value for everyone.
//!
//! The linter has no evaluation logic. It runs the engine for representative subjects: for each attribute, every value
//! in the rules, the values between and around them, and no value. Values that no condition distinguishes have the same
//! result, so one of them represents all, and the representatives have every result that a subject can have. A check
//! that needs more than `MAX_SUBJECTS` representatives reports nothing.

use alloc::string::String;
use alloc::vec::Vec;

use crate::compiled::CompiledFlag;
use crate::config::FlagConfig;
use crate::context::{CustomValue, Subject, Value};
use crate::evaluate::{Cause, MissingBucketingKey, evaluate_with_cause};
use crate::evaluation::{Evaluation, Reason};
use crate::rollout::{Rollout, Strategy};
use crate::rule::{Attribute, Condition, Logic, Operand, Priority, Rule};

/// The maximum number of subjects for one check.
const MAX_SUBJECTS: usize = 1024;

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
    let reached = reached(&rules);
    let mut findings = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let earlier = rules.get(..index).unwrap_or_default();
        match find_ineffective_rule(rule, earlier, reached.as_deref()) {
            Some(finding) => findings.push(finding),
            None => findings.extend(idle_conditions(rule)),
        }
    }
    let value = constant(&rules, flag.rollout);
    findings.extend(value.map(|value| Finding::Constant { value }));
    findings
}

/// Returns a finding if a rule never determines a result.
fn find_ineffective_rule(
    rule: &Rule,
    earlier: &[&Rule],
    reached: Option<&[Priority]>,
) -> Option<Finding> {
    let priority = rule.priority;
    if !can_match(rule) {
        return Some(Finding::NeverMatches { rule: priority });
    }
    let shadowed_by = earlier
        .iter()
        .find(|before| is_shadowed_by(rule, before))
        .map(|before| before.priority);
    let is_reached = reached.is_none_or(|reached| reached.contains(&priority));
    (shadowed_by.is_some() || !is_reached).then_some(Finding::NeverReached {
        rule: priority,
        shadowed_by,
    })
}

/// Returns the conditions that never hold in a rule that can match.
fn idle_conditions(rule: &Rule) -> impl Iterator<Item = Finding> {
    let conditions = rule.conditions.iter().enumerate();
    conditions
        .filter(|(_, condition)| !all_can_hold(&[condition]))
        .map(|(condition, _)| Finding::ConditionNeverHolds {
            rule: rule.priority,
            condition,
        })
}

/// Returns true if a rule can match. Attributes are independent, so each is checked separately.
fn can_match(rule: &Rule) -> bool {
    let mut conditions = rule.conditions.iter();
    match rule.logic {
        Logic::Or => conditions.any(|condition| all_can_hold(&[condition])),
        Logic::And => conditions.all(|condition| {
            let same = rule.conditions.iter();
            let same: Vec<&Condition> = same
                .filter(|other| other.attribute == condition.attribute)
                .collect();
            all_can_hold(&same)
        }),
    }
}

/// Returns true if conditions on one attribute can all hold at once.
fn all_can_hold(conditions: &[&Condition]) -> bool {
    let rule = Rule {
        priority: Priority::FIRST,
        logic: Logic::And,
        value: true,
        conditions: conditions.iter().copied().cloned().collect(),
    };
    decisions(&[&rule], None).is_none_or(|mut all| all.any(|(_, cause)| cause.rule.is_some()))
}

/// Returns true if an earlier rule matches every subject that a later one matches.
fn is_shadowed_by(rule: &Rule, before: &Rule) -> bool {
    decisions(&[before, rule], None)
        .is_some_and(|mut all| all.all(|(_, cause)| cause.rule != Some(1)))
}

/// Returns the rules that determine the result for some subject; `None` if that needs too many subjects.
fn reached(rules: &[&Rule]) -> Option<Vec<Priority>> {
    let mut reached = Vec::new();
    for (_, cause) in decisions(rules, None)? {
        let rule = cause.rule.and_then(|rule| rules.get(rule));
        reached.extend(rule.map(|rule| rule.priority));
    }
    Some(reached)
}

/// Returns true if a change turns a flag from off to on for some context; `None` if there are too many combinations of
/// attributes to try.
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
    let flags = [before, after].map(|flag| (CompiledFlag::from(flag.clone()), flag.rollout));
    let mut attributes = flags.each_ref().map(|(flag, _)| flag.attributes()).concat();
    attributes.sort_unstable();
    attributes.dedup();
    let choices = all_choices(&attributes, &conditions);
    Some((0..combinations(&choices)?).any(|number| {
        let subject = NamedAttributes {
            attributes: &attributes,
            values: Representative::new(number, &choices),
        };
        let [before, after] = flags.each_ref().map(|(flag, rollout)| {
            let missing = MissingBucketingKey::Excluded;
            Share::of(*rollout, evaluate_with_cause(flag, &subject, missing))
        });
        match (before.strategy, after.strategy) {
            // Buckets of different attributes are independent.
            (Some(one), Some(other)) if one != other => {
                after.percentage > 0 && before.percentage < 100
            }
            _ => after.percentage > before.percentage,
        }
    }))
}

/// The percentage of contexts for which the flag is on, among those that no rule distinguishes from a given context.
struct Share {
    percentage: u8,
    /// The strategy of the rollout; none if no bucket determined the result.
    strategy: Option<Strategy>,
}

impl Share {
    fn of(rollout: Option<Rollout>, (evaluation, cause): (Evaluation, Cause)) -> Self {
        match rollout {
            // The bucket determined the result. The contexts that no rule distinguishes from this one are in all
            // buckets.
            Some(rollout) if evaluation.reason == Reason::Rollout && cause.bucket.is_some() => {
                Self {
                    percentage: rollout.percentage.get(),
                    strategy: Some(rollout.strategy),
                }
            }
            _ => Self {
                percentage: if evaluation.enabled { 100 } else { 0 },
                strategy: None,
            },
        }
    }
}

/// Returns the value if it is the same for everyone although the flag has rules or a rollout.
fn constant(rules: &[&Rule], rollout: Option<Rollout>) -> Option<bool> {
    if rules.is_empty() && rollout.is_none() {
        return None;
    }
    let (mut on, mut off) = (false, false);
    for decision in decisions(rules, rollout)? {
        let share = Share::of(rollout, decision);
        on |= share.percentage > 0;
        off |= share.percentage < 100;
    }
    (on != off).then_some(on)
}

/// Evaluates the representative subjects; `None` if there are too many.
fn decisions(
    rules: &[&Rule],
    rollout: Option<Rollout>,
) -> Option<impl Iterator<Item = (Evaluation, Cause)>> {
    let conditions: Vec<&Condition> = rules.iter().flat_map(|rule| &rule.conditions).collect();
    let rules = rules.iter().copied().cloned().collect();
    let flag = CompiledFlag::new(false, true, rules, rollout);
    let choices = all_choices(flag.attributes(), &conditions);
    Some((0..combinations(&choices)?).map(move |number| {
        let subject = Representative::new(number, &choices);
        evaluate_with_cause(&flag, &subject, MissingBucketingKey::Excluded)
    }))
}

/// Returns the number of subjects for these choices; `None` if there are too many.
fn combinations(choices: &[Choices]) -> Option<usize> {
    choices
        .iter()
        .try_fold(1_usize, |count, choices| count.checked_mul(choices.len()))
        .filter(|count| *count <= MAX_SUBJECTS)
}

/// The representative values of one attribute: no value, and those that conditions can distinguish.
type Choices = Vec<Option<CustomValue<'static>>>;

fn all_choices(attributes: &[Attribute], conditions: &[&Condition]) -> Vec<Choices> {
    let attributes = attributes.iter();
    attributes
        .map(|attribute| choices(attribute, conditions))
        .collect()
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

/// A subject with one combination of choices.
struct Representative<'c>(Vec<Option<&'c CustomValue<'static>>>);

impl<'c> Representative<'c> {
    fn new(mut number: usize, choices: &'c [Choices]) -> Self {
        let pick = |choices: &'c Choices| {
            let index = number.checked_rem(choices.len()).unwrap_or_default();
            number = number.checked_div(choices.len()).unwrap_or_default();
            choices.get(index)?.as_ref()
        };
        Self(choices.iter().map(pick).collect())
    }
}

impl Subject for Representative<'_> {
    fn value(&self, _attribute: &Attribute, slot: usize) -> Option<Value<'_>> {
        (*self.0.get(slot)?).map(Value::from)
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
