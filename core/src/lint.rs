//! What is surely not meant: rules that decide nothing, and flags that are the same for everybody.
//!
//! Nothing is decided here. The engine is asked about subjects that stand for all others: of each attribute every value that the
//! rules name, what lies between those, a value of another type, and none. Two values that no condition tells apart need no
//! second subject, so what none of these subjects sees, nobody sees. Where there would be too many of them, nothing is said.

use alloc::string::String;
use alloc::vec::Vec;

use crate::compiled::CompiledFlag;
use crate::config::FlagConfig;
use crate::context::{CustomValue, Subject, Value};
use crate::evaluate::{Cause, MissingBucketingValue, evaluate_with_cause};
use crate::evaluation::{Evaluation, Reason};
use crate::rollout::{Rollout, Strategy};
use crate::rule::{Attribute, Condition, Logic, Operand, Priority, Rule};

/// The most subjects that are tried for one question.
const MOST_SUBJECTS: usize = 1024;

/// Something that is surely not meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The rule matches nobody.
    NeverMatches {
        /// The rule.
        rule: Priority,
    },
    /// One condition of the rule holds for nobody, though another may.
    ConditionNeverHolds {
        /// The rule.
        rule: Priority,
        /// The condition, counted from 0.
        condition: usize,
    },
    /// The rule decides for nobody, because rules before it have decided for all whom it matches.
    NeverReached {
        /// The rule.
        rule: Priority,
        /// The one rule that does so alone, if there is one.
        behind: Option<Priority>,
    },
    /// Where the flag is on, it is the same for everybody, although there are rules or a rollout.
    Constant {
        /// What everybody gets.
        value: bool,
    },
}

/// What is surely not meant in a flag, by ascending priority of the rules. It is looked at as if it were enabled.
pub fn lint(flag: &FlagConfig) -> Vec<Finding> {
    let mut rules: Vec<&Rule> = flag.rules.iter().collect();
    rules.sort_by_key(|rule| rule.priority);
    let reached = reached(&rules);
    let mut findings = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let earlier = rules.get(..index).unwrap_or_default();
        match never_decides(rule, earlier, reached.as_deref()) {
            Some(finding) => findings.push(finding),
            None => findings.extend(idle_conditions(rule)),
        }
    }
    let value = constant(&rules, flag.rollout);
    findings.extend(value.map(|value| Finding::Constant { value }));
    findings
}

/// Why a rule decides for nobody, if it is so.
fn never_decides(rule: &Rule, earlier: &[&Rule], reached: Option<&[Priority]>) -> Option<Finding> {
    let priority = rule.priority;
    if !can_match(rule) {
        return Some(Finding::NeverMatches { rule: priority });
    }
    let behind = earlier
        .iter()
        .find(|before| takes_all(before, rule))
        .map(|before| before.priority);
    let is_reached = reached.is_none_or(|reached| reached.contains(&priority));
    (behind.is_some() || !is_reached).then_some(Finding::NeverReached {
        rule: priority,
        behind,
    })
}

/// The conditions of a rule that can match, which hold for nobody.
fn idle_conditions(rule: &Rule) -> impl Iterator<Item = Finding> {
    let conditions = rule.conditions.iter().enumerate();
    conditions
        .filter(|(_, condition)| !all_can_hold(&[condition]))
        .map(|(condition, _)| Finding::ConditionNeverHolds {
            rule: rule.priority,
            condition,
        })
}

/// Whether a rule matches anybody. Attributes do not depend on each other, so each can be looked at by itself.
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

/// Whether all these conditions, which are about one attribute, can hold at once.
fn all_can_hold(conditions: &[&Condition]) -> bool {
    let rule = Rule {
        priority: Priority::FIRST,
        logic: Logic::And,
        value: true,
        conditions: conditions.iter().copied().cloned().collect(),
    };
    decisions(&[&rule], None).is_none_or(|mut all| all.any(|(_, cause)| cause.rule.is_some()))
}

/// Whether an earlier rule matches everybody whom a later one matches.
fn takes_all(before: &Rule, rule: &Rule) -> bool {
    decisions(&[before, rule], None)
        .is_some_and(|mut all| all.all(|(_, cause)| cause.rule != Some(1)))
}

/// The rules that decide for somebody; none if that is too much to find out.
fn reached(rules: &[&Rule]) -> Option<Vec<Priority>> {
    let mut reached = Vec::new();
    for (_, cause) in decisions(rules, None)? {
        let rule = cause.rule.and_then(|rule| rules.get(rule));
        reached.extend(rule.map(|rule| rule.priority));
    }
    Some(reached)
}

/// Returns true if some context evaluates to OFF before a change of a flag and to ON after it; `None` if there are too many
/// combinations of attributes to try.
pub fn turns_somebody_on(before: &FlagConfig, after: &FlagConfig) -> Option<bool> {
    let rules = before.rules.iter().chain(&after.rules);
    let conditions: Vec<&Condition> = rules.flat_map(|rule| &rule.conditions).collect();
    let flags = [before, after].map(|flag| (CompiledFlag::from(flag.clone()), flag.rollout));
    let mut attributes = flags.each_ref().map(|(flag, _)| flag.attributes()).concat();
    attributes.sort_unstable();
    attributes.dedup();
    let choices = all_choices(&attributes, &conditions);
    Some((0..combinations(&choices)?).any(|number| {
        let subject = Named {
            attributes: &attributes,
            values: Representative::new(number, &choices),
        };
        let [was, will] = flags.each_ref().map(|(flag, rollout)| {
            let missing = MissingBucketingValue::Excluded;
            Share::of(*rollout, evaluate_with_cause(flag, &subject, missing))
        });
        match (was.strategy, will.strategy) {
            // Buckets of different attributes have nothing to do with each other.
            (Some(one), Some(other)) if one != other => will.percentage > 0 && was.percentage < 100,
            _ => will.percentage > was.percentage,
        }
    }))
}

/// The share of ON among all contexts that no rule distinguishes from a given one.
struct Share {
    percentage: u8,
    /// By what the rollout chooses them; none if they are all or none.
    strategy: Option<Strategy>,
}

impl Share {
    fn of(rollout: Option<Rollout>, (evaluation, cause): (Evaluation, Cause)) -> Self {
        match rollout {
            // Where a bucket decided, others, whom no rule tells from this subject, have other buckets.
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

/// What everybody gets, if it is the same, and something takes part in deciding it.
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

/// What the engine says for all subjects that have to be told apart; none if there are too many of them.
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
        evaluate_with_cause(&flag, &subject, MissingBucketingValue::Excluded)
    }))
}

/// The number of subjects that these choices make; none if there are too many.
fn combinations(choices: &[Choices]) -> Option<usize> {
    choices
        .iter()
        .try_fold(1_usize, |count, choices| count.checked_mul(choices.len()))
        .filter(|count| *count <= MOST_SUBJECTS)
}

/// The values of one attribute that have to be told apart.
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

/// The least text, each of `named`, and the least text after each.
fn texts(mut named: Vec<&str>) -> impl Iterator<Item = String> {
    named.push("");
    named.sort_unstable();
    named.dedup();
    named
        .into_iter()
        .flat_map(|text| [String::from(text), [text, "\0"].concat()])
}

/// Each of `named`, a number between each and the next, if there is one, and one before and after them all.
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

/// One subject out of all combinations of choices.
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

/// A subject of two flags, which may have an attribute in different slots.
struct Named<'c> {
    attributes: &'c [Attribute],
    values: Representative<'c>,
}

impl Subject for Named<'_> {
    fn value(&self, attribute: &Attribute, _slot: usize) -> Option<Value<'_>> {
        let place = self.attributes.iter().position(|each| each == attribute)?;
        self.values.value(attribute, place)
    }
}
