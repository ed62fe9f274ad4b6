//! What pages ask about the record of changes.

use async_trait::async_trait;
use pennon_model::{
    audit::{AuditEntry, AuditFilter},
    id::{AuditId, EnvironmentId},
    page::{Page, PageRequest},
    reversal::Plan,
};

use crate::error::AdminError;

/// The use cases that concern the audit log.
#[async_trait]
pub trait AuditAdmin: Send + Sync {
    /// One page of changes, newest first. What is about accounts is for administrators alone.
    async fn changes(
        &self,
        filter: &AuditFilter,
        page: PageRequest,
    ) -> Result<Page<Record>, AdminError>;

    /// Plans the revert of the action that wrote an entry, against the current state.
    async fn reversal(&self, id: AuditId) -> Result<Reversal, AdminError>;

    /// Takes back the action that made a change, if things still stand as in the plan that was seen.
    async fn revert(&self, id: AuditId, fingerprint: &str) -> Result<(), AdminError>;
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
