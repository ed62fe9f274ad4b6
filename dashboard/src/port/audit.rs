//! The audit log.

use async_trait::async_trait;
use pennon_model::{
    audit::{AuditEntry, AuditFilter},
    id::{AuditId, EnvironmentId},
    page::{Page, PageRequest},
    plan::Plan,
    time::Timestamp,
};

use crate::error::AdminError;

/// The use cases for the audit log.
#[async_trait]
pub trait AuditAdmin: Send + Sync {
    /// Returns one page of entries, newest first. Entries about accounts are visible to administrators only.
    async fn changes(
        &self,
        filter: &AuditFilter,
        page: PageRequest,
    ) -> Result<Page<Record>, AdminError>;

    /// Returns the entries of the user's own last action since a time, newest first, up to 100; empty if there is none.
    /// Of changes of accounts, only those of roles count.
    async fn own_last_action(&self, since: Timestamp) -> Result<Vec<Record>, AdminError>;

    /// Returns the newest actions that a filter selects, as many as can be reverted together. Entries about accounts
    /// are visible to administrators only.
    async fn recent_actions(&self, filter: &AuditFilter) -> Result<RecentActions, AdminError>;

    /// Plans the revert of the action that wrote an entry, against the current state.
    async fn reversal(&self, id: AuditId) -> Result<Reversal, AdminError>;

    /// Reverts the action that wrote an entry, if the plan still has this fingerprint.
    async fn revert(&self, id: AuditId, fingerprint: &str) -> Result<(), AdminError>;

    /// Plans the revert of the actions that wrote these entries, as one, against the current state.
    async fn joint_reversal(&self, ids: &[AuditId]) -> Result<JointReversal, AdminError>;

    /// Reverts the actions that wrote these entries as one, if the plan still has this fingerprint.
    async fn revert_jointly(&self, ids: &[AuditId], fingerprint: &str) -> Result<(), AdminError>;
}

/// An audit entry as a page shows it.
#[derive(Clone, Debug)]
pub struct Record {
    /// The entry.
    pub entry: AuditEntry,
    /// The id of the environment, because the name may no longer identify it.
    pub environment: Option<EnvironmentId>,
    /// True if the user's role allows reverting it.
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

/// The newest actions that a filter selects.
#[derive(Clone, Debug)]
pub struct RecentActions {
    /// The selected entries of each action, newest first.
    pub actions: Vec<Vec<Record>>,
    /// True if there are older ones.
    pub has_more: bool,
}

/// Selected actions, and the plan of their revert as one.
#[derive(Clone, Debug)]
pub struct JointReversal {
    /// The actions, newest first.
    pub actions: Vec<SelectedAction>,
    /// The plan, or a sentence that explains why none of them can be reverted.
    pub plan: Result<Plan, String>,
}

/// An action that was selected to be reverted.
#[derive(Clone, Debug)]
pub struct SelectedAction {
    /// All entries of the action, newest first.
    pub records: Vec<Record>,
    /// A sentence that explains why the plan omits the action; none if it is reverted.
    pub omitted: Option<String>,
}
