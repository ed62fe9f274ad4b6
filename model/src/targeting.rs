//! Rules and rollouts of a flag in an environment, as stored objects.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::id::{EnvironmentId, FlagId, RuleId};
use crate::time::Timestamp;
use pennon_core::rollout::Rollout;
use pennon_core::rule::{Priority, Rule};

/// A targeting rule of a flag in an environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TargetingRule {
    /// Its id, which the server assigns.
    pub id: RuleId,
    /// Its flag.
    pub flag_id: FlagId,
    /// Its environment.
    pub environment_id: EnvironmentId,
    /// The rule itself.
    #[serde(flatten)]
    pub rule: Rule,
    /// The time at which it was created.
    pub created_at: Timestamp,
    /// The time at which it was last replaced.
    pub updated_at: Timestamp,
    /// The revision, which every change increments.
    #[serde(skip)]
    pub revision: i64,
}

/// The rollout of a flag in an environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FlagRollout {
    /// Its flag.
    pub flag_id: FlagId,
    /// Its environment.
    pub environment_id: EnvironmentId,
    /// The rollout itself.
    #[serde(flatten)]
    pub rollout: Rollout,
    /// The time at which it was first configured.
    pub created_at: Timestamp,
    /// The time at which it was last changed.
    pub updated_at: Timestamp,
    /// The revision, which every change increments.
    #[serde(skip)]
    pub revision: i64,
}

/// Returns the indexes of the rules that have the priority of an earlier one.
pub fn repeated_priorities<'r>(
    rules: impl IntoIterator<Item = &'r Rule>,
) -> impl Iterator<Item = usize> {
    let mut taken = BTreeSet::new();
    let rules = rules.into_iter().enumerate();
    rules.filter_map(move |(index, rule)| (!taken.insert(rule.priority)).then_some(index))
}

/// Lowers the last priorities if necessary, and returns the priority of a new rule after all others, which are in their
/// order.
pub fn make_room_at_end<'r>(rules: impl DoubleEndedIterator<Item = &'r mut Rule>) -> Priority {
    let mut next = None;
    let mut limit = Priority::LAST;
    for rule in rules.rev() {
        rule.priority = rule.priority.min(relative(limit, -1));
        limit = rule.priority;
        next = next.or_else(|| Some(relative(limit, 1)));
    }
    next.unwrap_or(Priority::FIRST)
}

/// Returns the priority at a distance from another one, which is not at that end.
fn relative(to: Priority, distance: i64) -> Priority {
    Priority::try_from(i64::from(to.get()).saturating_add(distance)).unwrap_or(to)
}
