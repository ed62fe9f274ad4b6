//! Usage of flags and environments.

use std::collections::BTreeMap;

use serde::Serialize;

use pennon_core::{Evaluation, Reason, string_enum};

use crate::id::EnvironmentId;
use crate::time::Timestamp;

/// The evaluations of a flag in an environment. Environments that replaced each other by key rotations count as one.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FlagEnvironmentUsage {
    /// The environment's id.
    pub environment_id: EnvironmentId,
    /// The product of the environment.
    pub product: String,
    /// The environment's name.
    pub environment: String,
    /// The time of the last evaluation, to the minute.
    #[cfg_attr(feature = "schema", schema(required))]
    pub last_evaluated_at: Option<Timestamp>,
    /// The hours with evaluations, in order.
    pub hours: Vec<FlagHour>,
}

/// The evaluations of a flag in an hour.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FlagHour {
    /// The start of the hour.
    pub hour: Timestamp,
    /// The number of evaluations by reason.
    pub evaluations: BTreeMap<String, i64>,
    /// The part of them that clients reported, by reason; absent if there is none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reported: BTreeMap<String, i64>,
    /// The number of evaluations that returned true.
    pub enabled: i64,
    /// The number of evaluations that returned false. The result of the rest is unknown, because a report left it out
    /// or an older version of the server counted them.
    pub disabled: i64,
}

/// The reason of an evaluation, and its result as far as it is known. Evaluations are counted by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outcome {
    reason: Reason,
    enabled: Option<bool>,
}

impl Outcome {
    /// All outcomes, in the order of [`index`](Self::index).
    pub const ALL: [Self; 9] = [
        Self::of(Reason::FlagEnabled, Some(true)),
        Self::of(Reason::FlagDisabled, Some(false)),
        Self::of(Reason::FlagArchived, Some(false)),
        Self::of(Reason::TargetingRule, Some(true)),
        Self::of(Reason::TargetingRule, Some(false)),
        Self::of(Reason::TargetingRule, None),
        Self::of(Reason::Rollout, Some(true)),
        Self::of(Reason::Rollout, Some(false)),
        Self::of(Reason::Rollout, None),
    ];

    const fn of(reason: Reason, enabled: Option<bool>) -> Self {
        Self { reason, enabled }
    }

    /// Returns the outcome of an evaluation with this reason. `enabled` is its result, if it is known; it only matters
    /// if the reason does not imply the result.
    pub const fn new(reason: Reason, enabled: Option<bool>) -> Self {
        match reason {
            Reason::FlagEnabled => Self::of(reason, Some(true)),
            Reason::FlagDisabled | Reason::FlagArchived => Self::of(reason, Some(false)),
            Reason::TargetingRule | Reason::Rollout => Self::of(reason, enabled),
        }
    }

    /// Returns the reason.
    pub const fn reason(self) -> Reason {
        self.reason
    }

    /// Returns the result, if it is known.
    pub const fn enabled(self) -> Option<bool> {
        self.enabled
    }

    /// Returns its index in [`Self::ALL`].
    pub const fn index(self) -> usize {
        match (self.reason, self.enabled) {
            (Reason::FlagEnabled, _) => 0,
            (Reason::FlagDisabled, _) => 1,
            (Reason::FlagArchived, _) => 2,
            (Reason::TargetingRule, Some(true)) => 3,
            (Reason::TargetingRule, Some(false)) => 4,
            (Reason::TargetingRule, None) => 5,
            (Reason::Rollout, Some(true)) => 6,
            (Reason::Rollout, Some(false)) => 7,
            (Reason::Rollout, None) => 8,
        }
    }
}

impl From<Evaluation> for Outcome {
    fn from(evaluation: Evaluation) -> Self {
        Self::new(evaluation.reason, Some(evaluation.enabled))
    }
}

/// The number of times that clients fetched a config document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Polls {
    /// Fetches by clients without a document.
    pub first: i64,
    /// Fetches by clients with the newest document.
    pub current: i64,
    /// Fetches by clients with another document.
    pub outdated: i64,
}

impl Polls {
    /// Returns the sum.
    pub fn total(self) -> i64 {
        self.first
            .saturating_add(self.current)
            .saturating_add(self.outdated)
    }

    /// Returns the share of fetches with the newest document among those with any document, in percent, rounded down;
    /// none without such fetches.
    pub fn percent_current(self) -> Option<i64> {
        let known = self.current.saturating_add(self.outdated);
        self.current.saturating_mul(100).checked_div(known)
    }
}

/// The requests of an environment's clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Polling {
    /// The time of the last fetch of the config document, to the minute.
    pub last_polled_at: Option<Timestamp>,
    /// The time of the last evaluation of any flag, to the minute.
    pub last_evaluated_at: Option<Timestamp>,
    /// The number of fetches.
    pub polls: Polls,
}

impl Polling {
    /// Returns the time of the last fetch or evaluation, to the minute.
    pub fn last_request_at(self) -> Option<Timestamp> {
        self.last_polled_at.max(self.last_evaluated_at)
    }
}

string_enum! {
    /// The document that a client has when it fetches one.
    pub enum PollKind {
        /// No document.
        First = "first",
        /// The newest document.
        Current = "current",
        /// Another document.
        Outdated = "outdated",
    }
    else "must be `first`, `current` or `outdated`"
}

#[cfg(test)]
mod tests {
    use pennon_core::Reason;

    use super::{Outcome, Polling, Polls};
    use crate::time::Timestamp;

    #[test]
    fn every_reason_and_result_has_its_own_outcome() {
        for (index, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome.index(), index);
        }
        for reason in Reason::ALL {
            for enabled in [Some(true), Some(false), None] {
                assert!(Outcome::ALL.contains(&Outcome::new(*reason, enabled)));
            }
        }
    }

    #[test]
    fn the_last_request_is_a_poll_or_an_evaluation() {
        let last = |polled: Option<i64>, evaluated: Option<i64>| {
            let polling = Polling {
                last_polled_at: polled.map(Timestamp::from_millis),
                last_evaluated_at: evaluated.map(Timestamp::from_millis),
                polls: Polls::default(),
            };
            polling.last_request_at().map(Timestamp::millis)
        };
        assert_eq!(last(Some(1), Some(2)), Some(2));
        assert_eq!(last(Some(2), Some(1)), Some(2));
        assert_eq!(last(None, Some(1)), Some(1));
        assert_eq!(last(Some(1), None), Some(1));
        assert_eq!(last(None, None), None);
    }

    #[test]
    fn a_percentage_is_of_clients_with_a_document_and_whole_only_if_all_are_current() {
        let percent = |first, current, outdated| {
            let polls = Polls {
                first,
                current,
                outdated,
            };
            polls.percent_current()
        };
        assert_eq!(percent(5, 0, 0), None);
        assert_eq!(percent(5, 3, 1), Some(75));
        assert_eq!(percent(0, 999, 1), Some(99));
        assert_eq!(percent(0, 7, 0), Some(100));
    }
}
