//! The plan of a change of several objects: of a revert, or of a change of several flags.

use pennon_core::FlagConfig;
use serde_json::Value;

use crate::audit::AuditAction;
use crate::capabilities::{Gap, gaps, since};
use crate::client::Client;
use crate::environment::Environment;
use crate::flag::FlagKey;
use crate::id::FlagId;

/// Changes before they are made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The changes.
    pub changes: Vec<PlannedChange>,
    /// The effect on each flag configuration that changes.
    pub effects: Vec<PlannedEffect>,
    /// True if a revert overwrites a change that was made after the action.
    pub overwrites: bool,
    /// The fingerprint of all inputs of the plan. The change is refused if the fingerprint has changed.
    pub fingerprint: String,
}

impl Plan {
    /// Returns what clients in use cannot read of the flags after the change, each once.
    pub fn gaps(&self) -> Vec<Gap> {
        let mut distinct = Vec::new();
        for effect in &self.effects {
            for gap in gaps([&effect.after], &effect.outdated_clients, since) {
                if !distinct.contains(&gap) {
                    distinct.push(gap);
                }
            }
        }
        distinct
    }
}

/// One planned change.
#[derive(Clone, Debug)]
pub struct PlannedChange {
    /// Its action in the audit log.
    pub action: AuditAction,
    /// The key of the flag.
    pub flag: Option<FlagKey>,
    /// The environment.
    pub environment: Option<Environment>,
    /// The current object, if it exists.
    pub old_value: Option<Value>,
    /// The object after the change, if it will exist.
    pub new_value: Option<Value>,
}

/// A flag in an environment before and after the change.
#[derive(Clone, Debug)]
pub struct PlannedEffect {
    /// The flag.
    pub flag: FlagId,
    /// The environment.
    pub environment: Environment,
    /// The flag before the change.
    pub before: FlagConfig,
    /// The flag after the change.
    pub after: FlagConfig,
    /// The clients in use in the environment that do not support the whole config document.
    pub outdated_clients: Vec<Client>,
}
