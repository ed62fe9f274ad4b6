//! The changes that take others back, before they are made.

use pennon_core::FlagConfig;
use serde_json::Value;

use crate::audit::AuditAction;
use crate::client::Client;
use crate::environment::Environment;
use crate::flag::FlagKey;
use crate::id::FlagId;

/// The changes that take others back.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All of them.
    pub changes: Vec<PlannedChange>,
    /// The effect on each flag configuration that changes.
    pub effects: Vec<PlannedEffect>,
    /// True if the revert overwrites a change that was made after the action.
    pub overwrites: bool,
    /// The fingerprint of everything that the plan depends on. The revert is refused if it differs.
    pub fingerprint: String,
}

/// A change that takes others back.
#[derive(Clone, Debug)]
pub struct PlannedChange {
    /// Its action in the audit log.
    pub action: AuditAction,
    /// The key of the flag concerned.
    pub flag: Option<FlagKey>,
    /// The environment concerned.
    pub environment: Option<Environment>,
    /// The object as it stands, if it is there.
    pub now: Option<Value>,
    /// The object as it will be, if it will be there.
    pub then: Option<Value>,
}

/// A flag in an environment before and after the revert.
#[derive(Clone, Debug)]
pub struct PlannedEffect {
    /// The flag.
    pub flag: FlagId,
    /// The environment.
    pub environment: Environment,
    /// The flag as it stands.
    pub before: FlagConfig,
    /// The flag as it would be.
    pub after: FlagConfig,
    /// The clients in use in the environment that cannot read every word of the config document.
    pub outdated_clients: Vec<Client>,
}
