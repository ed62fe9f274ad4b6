//! Flags.

use async_trait::async_trait;
use pennon_model::{
    bulk::BulkChange,
    flag::Flag,
    flag_table::{FlagCell, FlagTable, FlagTableQuery},
    id::{EnvironmentId, FlagId},
    plan::Plan,
};

use crate::error::AdminError;

/// The use cases for flags.
#[async_trait]
pub trait FlagAdmin: Send + Sync {
    /// Returns one page of flags, with their state in every active environment and their usage.
    async fn flags(&self, query: FlagTableQuery) -> Result<FlagTable, AdminError>;

    /// Returns true if a new flag can have this key: no active or archived flag has it.
    async fn is_key_free(&self, key: &str) -> Result<bool, AdminError>;

    /// Creates a flag, disabled everywhere.
    async fn create_flag(&self, new: NewFlag) -> Result<Flag, AdminError>;

    /// Returns the flags with these IDs, in the same order; none for an ID that no flag has.
    async fn flags_with_ids(&self, ids: &[FlagId]) -> Result<Vec<Option<Flag>>, AdminError>;

    /// Plans a change of several flags.
    ///
    /// Fails with [`AdminError::UnchangeableFlags`] if some of them cannot change.
    async fn preview_bulk_change(&self, change: &BulkChange) -> Result<Plan, AdminError>;

    /// Changes several flags, if the plan still has this fingerprint.
    async fn change_flags(&self, change: &BulkChange, fingerprint: &str) -> Result<(), AdminError>;

    /// Switches a flag in one environment, or in the one that replaced it after a key rotation, and returns its new
    /// state.
    ///
    /// Fails if the configuration is no longer at the revision that the caller expects.
    async fn set_enabled(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
        enabled: bool,
        expected_revision: Option<i64>,
    ) -> Result<FlagCell, AdminError>;
}

/// A flag to create, as typed.
#[derive(Clone, Debug, Default)]
pub struct NewFlag {
    /// The key.
    pub key: String,
    /// The name.
    pub name: String,
    /// The description; may be empty.
    pub description: String,
    /// `boolean`, `string` or `multivariate`; the form's field is called `type`.
    pub flag_type: String,
    /// The products in whose environments the flag is configured; none for every product.
    pub products: Option<Vec<String>>,
    /// True if the flag exists in public environments.
    pub is_public: bool,
    /// Its tags, owner, kind and expiry.
    pub metadata: MetadataForm,
}

/// The metadata of a flag, as typed. Each part may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetadataForm {
    /// The tags, separated by commas.
    pub tags: String,
    /// The owner.
    pub owner: String,
    /// The kind, as in the API.
    pub kind: String,
    /// The expiry: a date, or an RFC 3339 date-time.
    pub expires_at: String,
}
