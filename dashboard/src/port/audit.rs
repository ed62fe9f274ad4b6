//! What pages ask about the record of changes.

use async_trait::async_trait;
use pennon_core::{
    FlagConfig,
    model::{
        audit::{AuditAction, AuditEntry},
        environment::Environment,
        id::{AuditId, EnvironmentId, FlagId},
        page::{Page, PageRequest},
        time::Timestamp,
    },
};
use serde_json::Value;

use crate::error::AdminError;

/// The use cases that concern the audit log.
#[async_trait]
pub trait AuditAdmin: Send + Sync {
    /// One page of changes, newest first. What is about accounts is for administrators alone.
    async fn changes(&self, query: AuditQuery) -> Result<Page<Record>, AdminError>;

    /// What would take back the action that made a change, as things stand now.
    async fn reversal(&self, id: AuditId) -> Result<Reversal, AdminError>;

    /// Takes back the action that made a change, if things still stand as in the plan that was seen.
    async fn revert(&self, id: AuditId, seen: &str) -> Result<(), AdminError>;
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

/// What one action changed, and what would take that back.
#[derive(Clone, Debug)]
pub struct Reversal {
    /// What the action changed, the newest first.
    pub records: Vec<Record>,
    /// What would take it back, or a sentence that says why nothing does.
    pub plan: Result<Plan, String>,
}

/// The changes that would take others back.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All of them.
    pub changes: Vec<PlannedChange>,
    /// What becomes of each flag in each environment in which it would do something else.
    pub effects: Vec<PlannedEffect>,
    /// Whether something that goes was changed after the action.
    pub overwrites: bool,
    /// What the plan is about, and in which state.
    pub seen: String,
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

/// What a flag does in an environment, before and after.
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
}
