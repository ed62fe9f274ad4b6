//! What pages ask about flags.

use async_trait::async_trait;
use pennon_model::{
    flag::Flag,
    flag_table::{FlagCell, FlagTable, FlagTableQuery},
    id::{EnvironmentId, FlagId},
};

use crate::error::AdminError;

/// The use cases that concern flags.
#[async_trait]
pub trait FlagAdmin: Send + Sync {
    /// One page of flags, with what each does in every active environment and how it is used.
    async fn flags(&self, query: FlagTableQuery) -> Result<FlagTable, AdminError>;

    /// Whether a new flag could have this key: no flag has it, nor had it before it was archived.
    async fn is_key_free(&self, key: &str) -> Result<bool, AdminError>;

    /// Creates a flag, disabled everywhere.
    async fn create_flag(&self, new: NewFlag) -> Result<Flag, AdminError>;

    /// Switches a flag in one environment and answers how it stands afterwards.
    ///
    /// Refused if its configuration is no longer in the revision that the caller has seen.
    async fn set_enabled(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
        enabled: bool,
        seen: Option<i64>,
    ) -> Result<FlagCell, AdminError>;
}

/// A flag to create, as it was typed.
#[derive(Clone, Debug, Default)]
pub struct NewFlag {
    /// The key that applications ask for.
    pub key: String,
    /// The name that people read.
    pub name: String,
    /// What it is for; empty for nothing.
    pub description: String,
    /// `boolean`, `string` or `multivariate`; the form's field is called `type`.
    pub kind: String,
}
