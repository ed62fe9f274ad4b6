//! The answer of an evaluation.

use crate::string_enum;

/// What a flag is for a subject, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Evaluation {
    /// Whether the flag is on for the subject.
    pub enabled: bool,
    /// The step that decided.
    pub reason: Reason,
}

impl Evaluation {
    /// The evaluation as a number, for borders that words are too slow for: bit 0 is `enabled`, the bits above are the
    /// index of the reason in [`Reason::ALL`].
    pub const fn encode(self) -> u32 {
        self.enabled as u32 | (self.reason as u32) << 1
    }
}

string_enum! {
    /// The step that decided an evaluation.
    pub enum Reason {
        /// Enabled in the environment, and neither a rule nor a rollout decided.
        FlagEnabled = "flag_enabled",
        /// Disabled in the environment.
        FlagDisabled = "flag_disabled",
        /// The flag is archived.
        FlagArchived = "flag_archived",
        /// A targeting rule matched.
        TargetingRule = "targeting_rule",
        /// The rollout took the subject in or left it out.
        Rollout = "rollout",
    }
    else "is not a reason"
}

string_enum! {
    /// OpenFeature's reason for an evaluation. Caches may keep an answer that is `STATIC` for every context.
    pub enum StandardReason {
        /// The flag is on, and it has neither rules nor a rollout: no context can change the answer.
        Static = "STATIC",
        /// The flag is on, and none of its rules matched: another context may get another answer.
        Default = "DEFAULT",
        /// The flag is off or archived, for every context.
        Disabled = "DISABLED",
        /// A targeting rule matched.
        TargetingMatch = "TARGETING_MATCH",
        /// A rollout took the subject in or left it out.
        Split = "SPLIT",
    }
    else "is not a reason of OpenFeature"
}
