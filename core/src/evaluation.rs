//! The result of an evaluation.

use crate::string_enum;

/// The result for one flag and one subject, with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Evaluation {
    /// True if the flag is on for the subject.
    pub enabled: bool,
    /// The step that determined the result.
    pub reason: Reason,
}

impl Evaluation {
    /// Encodes the evaluation as a number, for interfaces where strings are too slow. Bit 0 is `enabled`; the higher
    /// bits are the index of the reason in [`Reason::ALL`].
    pub const fn encode(self) -> u32 {
        self.enabled as u32 | (self.reason as u32) << 1
    }
}

string_enum! {
    /// The step that determined an evaluation.
    pub enum Reason {
        /// Enabled in the environment, and no rule or rollout determined the result.
        FlagEnabled = "flag_enabled",
        /// Disabled in the environment.
        FlagDisabled = "flag_disabled",
        /// The flag is archived.
        FlagArchived = "flag_archived",
        /// A targeting rule matched.
        TargetingRule = "targeting_rule",
        /// The rollout included or excluded the subject.
        Rollout = "rollout",
    }
    else "is not a reason"
}

string_enum! {
    /// OpenFeature's reason for an evaluation. A cache may keep a `STATIC` result for every context.
    pub enum StandardReason {
        /// The flag is on, without rules and without a rollout: the result is the same for every context.
        Static = "STATIC",
        /// The flag is on, and none of its rules matched: the result may differ for another context.
        Default = "DEFAULT",
        /// The flag is off or archived, for every context.
        Disabled = "DISABLED",
        /// A targeting rule matched.
        TargetingMatch = "TARGETING_MATCH",
        /// A rollout included or excluded the subject.
        Split = "SPLIT",
    }
    else "is not an OpenFeature reason"
}
