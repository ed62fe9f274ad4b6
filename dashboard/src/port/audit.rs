//! What pages ask about the record of changes.

use async_trait::async_trait;
use pennon_core::model::{
    audit::{AuditAction, AuditEntry},
    id::{AuditId, EnvironmentId},
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

    /// What would take a change back, as things stand now.
    async fn reversal(&self, id: AuditId) -> Result<Reversal, AdminError>;

    /// Takes a change back by a new one, if things still stand as in the reversal with this revision.
    async fn revert(&self, id: AuditId, revision: i64) -> Result<(), AdminError>;
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

/// A change that was made, and the one that would take it back.
#[derive(Clone, Debug)]
pub struct Reversal {
    /// The change that was made.
    pub record: Record,
    /// The change that would take it back, or a sentence that says why there is none.
    pub plan: Result<Plan, String>,
}

/// A change that would take another one back.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the audit log will call it.
    pub action: AuditAction,
    /// The object as it stands, if it is there.
    pub now: Option<Value>,
    /// The object as it will be, if it will be there.
    pub then: Option<Value>,
    /// The revision of what the plan is about.
    pub revision: i64,
}
