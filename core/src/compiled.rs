//! A flag ready to be evaluated: rules in order, attributes numbered.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::config::FlagConfig;
use crate::evaluation::{Reason, StandardReason};
use crate::rollout::{Percentage, Rollout, Strategy};
use crate::rule::{Attribute, Condition, Logic, Operand, Operator, Priority, Rule};

/// One flag in one environment, as the engine runs it.
///
/// Each attribute that the flag reads has a number, its slot: the index in [`attributes`](Self::attributes). A caller who
/// has just these values at hand, in this order, spares the engine every look-up by name.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledFlag {
    pub(crate) archived: bool,
    pub(crate) enabled: bool,
    /// Apart, because most flags have none, and a client holds all flags of its environment.
    targeting: Option<Box<Targeting>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Targeting {
    attributes: Box<[Attribute]>,
    rules: Box<[CompiledRule]>,
    rollout: Option<CompiledRollout>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompiledRule {
    pub(crate) priority: Priority,
    pub(crate) logic: Logic,
    pub(crate) value: bool,
    pub(crate) conditions: Box<[CompiledCondition]>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompiledCondition {
    pub(crate) slot: usize,
    pub(crate) operator: Operator,
    pub(crate) operand: Operand,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompiledRollout {
    pub(crate) slot: usize,
    pub(crate) strategy: Strategy,
    pub(crate) percentage: Percentage,
}

impl CompiledFlag {
    /// Takes the rules in any order, and numbers the attributes in the order of their first use.
    pub(crate) fn new(
        archived: bool,
        enabled: bool,
        rules: Vec<Rule>,
        rollout: Option<Rollout>,
    ) -> Self {
        let targeting = (!rules.is_empty() || rollout.is_some()).then(|| {
            let mut slots = Slots::default();
            let rules = compiled_rules(rules, &mut slots);
            let rollout = rollout.map(|rollout| compiled_rollout(rollout, &mut slots));
            Box::new(Targeting {
                attributes: slots.0.into(),
                rules,
                rollout,
            })
        });
        Self {
            archived,
            enabled,
            targeting,
        }
    }

    /// The attributes that the flag's rules and rollout read, each once; slot `i` of a subject is the `i`th of them.
    pub fn attributes(&self) -> &[Attribute] {
        match &self.targeting {
            Some(targeting) => &targeting.attributes,
            None => &[],
        }
    }

    /// Returns true if rules or a rollout take part in the decision. Otherwise no context can change the answer.
    pub fn is_targeted(&self) -> bool {
        self.targeting.is_some()
    }

    /// OpenFeature's reason for an answer of this flag.
    ///
    /// A rollout is always a split, also where it takes in 0% or 100%: at 100%, a subject without a bucketing value is still
    /// left out, and a percentage is there to be changed.
    pub fn standard_reason(&self, reason: Reason) -> StandardReason {
        match reason {
            Reason::FlagEnabled if self.is_targeted() => StandardReason::Default,
            Reason::FlagEnabled => StandardReason::Static,
            Reason::FlagDisabled | Reason::FlagArchived => StandardReason::Disabled,
            Reason::TargetingRule => StandardReason::TargetingMatch,
            Reason::Rollout => StandardReason::Split,
        }
    }

    /// The rules by ascending priority.
    pub(crate) fn rules(&self) -> &[CompiledRule] {
        match &self.targeting {
            Some(targeting) => &targeting.rules,
            None => &[],
        }
    }

    pub(crate) fn rollout(&self) -> Option<&CompiledRollout> {
        self.targeting.as_ref()?.rollout.as_ref()
    }
}

impl From<FlagConfig> for CompiledFlag {
    fn from(config: FlagConfig) -> Self {
        Self::new(
            config.archived,
            config.enabled,
            config.rules,
            config.rollout,
        )
    }
}

/// Sorts by ascending priority, and leaves rules of the same priority in their order. The service has sorted them, so
/// each comes behind the last; the sort of the standard library would be a tenth of the wasm engine.
fn compiled_rules(rules: Vec<Rule>, slots: &mut Slots) -> Box<[CompiledRule]> {
    let mut sorted: Vec<CompiledRule> = Vec::with_capacity(rules.len());
    for rule in rules {
        let place = sorted.partition_point(|other| other.priority <= rule.priority);
        sorted.insert(place, compiled_rule(rule, slots));
    }
    sorted.into()
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
