//! A flag ready for evaluation, with sorted rules and numbered attributes.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::bucketing::fnv1a;
use crate::config::FlagConfig;
use crate::evaluation::{Reason, StandardReason};
use crate::rollout::{Percentage, Rollout, Strategy};
use crate::rule::{Attribute, Condition, Logic, Operand, Operator, Priority, Rule};

/// One flag in one environment, ready for evaluation.
///
/// Each attribute that the flag reads has a slot: its index in [`attributes`](Self::attributes). A caller that keeps
/// the values in an array in this order avoids lookups by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledFlag {
    pub(crate) archived: bool,
    pub(crate) enabled: bool,
    /// A pointer, because most flags have no targeting, and a client holds all flags of its environment. It is shared
    /// between snapshots in which the targeting is the same.
    targeting: Option<Arc<Targeting>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Targeting {
    attributes: Box<[Attribute]>,
    rules: Box<[CompiledRule]>,
    rollout: Option<CompiledRollout>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompiledRule {
    pub(crate) priority: Priority,
    pub(crate) logic: Logic,
    pub(crate) value: bool,
    pub(crate) conditions: Box<[CompiledCondition]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompiledCondition {
    pub(crate) slot: usize,
    pub(crate) operator: Operator,
    pub(crate) operand: Operand,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompiledRollout {
    pub(crate) slot: usize,
    pub(crate) strategy: Strategy,
    pub(crate) percentage: Percentage,
}

impl CompiledFlag {
    /// Compiles a flag. Accepts rules in any order, and numbers the attributes in the order of their first use.
    pub(crate) fn new(
        archived: bool,
        enabled: bool,
        rules: Vec<Rule>,
        rollout: Option<Rollout>,
    ) -> Self {
        let targeting = (!rules.is_empty() || rollout.is_some()).then(|| {
            let mut slots = Slots::default();
            let rules = compile_rules(rules, &mut slots);
            let rollout = rollout.map(|rollout| compile_rollout(rollout, &mut slots));
            Arc::new(Targeting {
                attributes: slots.attributes.into(),
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

    /// Returns the attributes that the flag's rules and rollout read, without duplicates. Slot `i` of a subject holds
    /// the value of the attribute at index `i`.
    pub fn attributes(&self) -> &[Attribute] {
        match &self.targeting {
            Some(targeting) => &targeting.attributes,
            None => &[],
        }
    }

    /// Returns true if the flag has rules or a rollout. Otherwise its evaluation is the same for every context.
    pub fn is_targeted(&self) -> bool {
        self.targeting.is_some()
    }

    /// Returns OpenFeature's reason for an evaluation of this flag.
    ///
    /// A rollout is always a split, even at 0% or 100%: at 100%, it still excludes subjects without a bucketing key,
    /// and percentages change.
    pub fn standard_reason(&self, reason: Reason) -> StandardReason {
        match reason {
            Reason::FlagEnabled if self.is_targeted() => StandardReason::Default,
            Reason::FlagEnabled => StandardReason::Static,
            Reason::FlagDisabled | Reason::FlagArchived => StandardReason::Disabled,
            Reason::TargetingRule => StandardReason::TargetingMatch,
            Reason::Rollout => StandardReason::Split,
        }
    }

    /// Returns the rules by ascending priority.
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

/// Sorts rules by ascending priority, and keeps the order of rules with the same priority. The service sends rules
/// sorted, so each insertion appends. The standard library's sort would make up a tenth of the wasm engine.
fn compile_rules(rules: Vec<Rule>, slots: &mut Slots) -> Box<[CompiledRule]> {
    let mut sorted: Vec<CompiledRule> = Vec::with_capacity(rules.len());
    for rule in rules {
        let index = sorted.partition_point(|other| other.priority <= rule.priority);
        sorted.insert(index, compile_rule(rule, slots));
    }
    sorted.into()
}

fn compile_rule(rule: Rule, slots: &mut Slots) -> CompiledRule {
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

fn compile_rollout(rollout: Rollout, slots: &mut Slots) -> CompiledRollout {
    CompiledRollout {
        slot: slots.number(rollout.strategy.attribute()),
        strategy: rollout.strategy,
        percentage: rollout.percentage,
    }
}

/// The attributes found so far, with the hashes of their names.
#[derive(Default)]
struct Slots {
    attributes: Vec<Attribute>,
    hashes: Vec<u32>,
}

impl Slots {
    /// Returns an attribute's slot. Hashes are compared first: a flag can have 5,000 attributes, and comparing the
    /// names of each pair would block a page for a second. It is not inlined, to keep the wasm engine small.
    #[inline(never)]
    fn number(&mut self, attribute: Attribute) -> usize {
        let hash = fnv1a(attribute.as_str().as_bytes());
        let mut seen = self.hashes.iter().zip(&self.attributes);
        if let Some(slot) = seen.position(|(other, seen)| *other == hash && *seen == attribute) {
            return slot;
        }
        self.hashes.push(hash);
        self.attributes.push(attribute);
        self.hashes.len() - 1
    }
}
