//! A flag ready to be evaluated: rules in order, attributes numbered.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::config::FlagConfig;
use crate::model::configuration::Ttl;
use crate::model::rollout::{Percentage, Rollout, Strategy};
use crate::model::rule::{Attribute, Condition, Logic, Operand, Operator, Priority, Rule};

/// One flag in one environment, as the engine runs it.
///
/// Each attribute that the flag reads has a number, its slot: the index in [`attributes`](Self::attributes). A caller who
/// has just these values at hand, in this order, spares the engine every look-up by name.
#[derive(Clone, Debug)]
pub struct CompiledFlag {
    key: Box<str>,
    ttl: Option<Ttl>,
    attributes: Box<[Attribute]>,
    pub(crate) archived: bool,
    pub(crate) enabled: bool,
    pub(crate) rules: Box<[CompiledRule]>,
    pub(crate) rollout: Option<CompiledRollout>,
}

#[derive(Clone, Debug)]
pub(crate) struct CompiledRule {
    pub(crate) priority: Priority,
    pub(crate) logic: Logic,
    pub(crate) value: bool,
    pub(crate) conditions: Box<[CompiledCondition]>,
}

#[derive(Clone, Debug)]
pub(crate) struct CompiledCondition {
    pub(crate) slot: usize,
    pub(crate) operator: Operator,
    pub(crate) operand: Operand,
}

#[derive(Clone, Debug)]
pub(crate) struct CompiledRollout {
    pub(crate) slot: usize,
    pub(crate) strategy: Strategy,
    pub(crate) percentage: Percentage,
}

impl CompiledFlag {
    /// The flag's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// How long clients may keep the flag, where that differs from their default.
    pub fn ttl(&self) -> Option<Ttl> {
        self.ttl
    }

    /// The attributes that the flag's rules and rollout read, each once; slot `i` of a subject is the `i`th of them.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Whether more than the enabled state takes part in the decision.
    pub fn is_targeted(&self) -> bool {
        !self.rules.is_empty() || self.rollout.is_some()
    }
}

impl From<FlagConfig> for CompiledFlag {
    /// Sorts the rules by ascending priority and numbers the attributes in the order of their first use.
    fn from(config: FlagConfig) -> Self {
        let FlagConfig {
            key,
            archived,
            enabled,
            mut rules,
            rollout,
            ttl,
        } = config;
        let mut slots = Slots::default();
        rules.sort_by_key(|rule| rule.priority);
        let rules = rules
            .into_iter()
            .map(|rule| compiled_rule(rule, &mut slots))
            .collect();
        let rollout = rollout.map(|rollout| compiled_rollout(rollout, &mut slots));
        Self {
            key,
            ttl,
            attributes: slots.0.into(),
            archived,
            enabled,
            rules,
            rollout,
        }
    }
}

fn compiled_rule(rule: Rule, slots: &mut Slots) -> CompiledRule {
    let condition = |Condition {
                         attribute,
                         operator,
                         operand,
                     }| CompiledCondition {
        slot: slots.number(attribute),
        operator,
        operand,
    };
    CompiledRule {
        priority: rule.priority,
        logic: rule.logic,
        value: rule.value,
        conditions: rule.conditions.into_iter().map(condition).collect(),
    }
}

fn compiled_rollout(rollout: Rollout, slots: &mut Slots) -> CompiledRollout {
    CompiledRollout {
        slot: slots.number(rollout.strategy.attribute()),
        strategy: rollout.strategy,
        percentage: rollout.percentage,
    }
}

/// The attributes seen so far.
#[derive(Default)]
struct Slots(Vec<Attribute>);

impl Slots {
    fn number(&mut self, attribute: Attribute) -> usize {
        if let Some(slot) = self.0.iter().position(|seen| *seen == attribute) {
            return slot;
        }
        self.0.push(attribute);
        self.0.len() - 1
    }
}
