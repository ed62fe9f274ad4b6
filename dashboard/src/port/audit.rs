//! What pages ask about the record of changes.

use async_trait::async_trait;
use pennon_core::FlagConfig;
use pennon_model::{
    audit::{AuditAction, AuditEntry},
    client::Client,
    environment::Environment,
    id::{AuditId, EnvironmentId, FlagId},
    page::{Page, PageRequest},
    time::Timestamp,
};
use serde_json::Value;

use crate::error::AdminError;

/// The use cases that concern the audit log.
#[async_trait]
pub trait AuditAdmin: Send + Sync {
    /// One page of changes, newest first. What is about accounts is for administrators alone.
    async fn changes(&self, query: AuditQuery) -> Result<Page<Record>, AdminError>;

    /// Plans the revert of the action that wrote an entry, against the current state.
    async fn reversal(&self, id: AuditId) -> Result<Reversal, AdminError>;

    /// Takes back the action that made a change, if things still stand as in the plan that was seen.
    async fn revert(&self, id: AuditId, fingerprint: &str) -> Result<(), AdminError>;
}

/// Which changes to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditQuery {
    /// The key of the flag that they are about; empty for any.
    pub flag_key: String,
    /// The name of the environment that they are about; empty for any.
    pub environment: String,
    /// The product of that environment; empty for any.
    pub product: String,
    /// The first moment that counts.
    pub from: Option<Timestamp>,
    /// The last moment that counts.
    pub to: Option<Timestamp>,
    /// Whether changes of accounts are among them.
    pub accounts: bool,
    /// Which page of them.
    pub page: PageRequest,
}

/// A change that was made.
#[derive(Clone, Debug)]
pub struct Record {
    /// What is recorded of it.
    pub entry: AuditEntry,
    /// The environment concerned, under whatever name.
    pub environment: Option<EnvironmentId>,
    /// Whether the reader may try to take it back.
    pub revertible: bool,
}

/// The entries of one action, and the plan of its revert.
#[derive(Clone, Debug)]
pub struct Reversal {
    /// The entries, newest first.
    pub records: Vec<Record>,
    /// The plan, or a sentence that explains why the action cannot be reverted.
    pub plan: Result<Plan, String>,
}

/// The changes that would take others back.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All of them.
    pub changes: Vec<PlannedChange>,
    /// The effect on each flag configuration that would change.
    pub effects: Vec<PlannedEffect>,
    /// True if the revert overwrites a change that was made after the action.
    pub overwrites: bool,
    /// The fingerprint of everything that the plan depends on.
    pub fingerprint: String,
}

/// A change that would take others back.
#[derive(Clone, Debug)]
pub struct PlannedChange {
    /// What the audit log will call it.
    pub action: AuditAction,
    /// The key of the flag concerned.
    pub flag: Option<String>,
    /// The environment concerned.
    pub environment: Option<EnvironmentId>,
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
