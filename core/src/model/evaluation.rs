//! The answer of an evaluation.

use super::word::words;

/// What a flag is for a subject, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

words! {
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
