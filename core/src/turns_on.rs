//! Changes that turn a flag on for somebody.

use alloc::vec::Vec;

use crate::compiled::CompiledFlag;
use crate::config::FlagConfig;
use crate::context::{Subject, Value};
use crate::representatives::{Budget, Representative, all_choices, decide};
use crate::rule::{Attribute, Condition};

/// Returns true unless a change certainly turns a flag on for nobody.
pub fn may_turn_on(before: &FlagConfig, after: &FlagConfig) -> bool {
    enables_any_context(before, after) != Some(false)
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
