//! Probable mistakes: rules without effect, and flags with the same value for everyone.
//!
//! The linter has no evaluation logic: it runs the engine for the representatives of all subjects
//! (module `representatives`).

use alloc::vec::Vec;

use crate::config::FlagConfig;
use crate::representatives::{Budget, Decision, decisions};
use crate::rollout::Rollout;
use crate::rule::{Condition, Logic, Priority, Rule};

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
