//! What pages ask about flags.

use async_trait::async_trait;
use pennon_core::model::{
    flag::Flag,
    id::{EnvironmentId, FlagId},
    page::{Page, PageRequest},
};

use crate::error::AdminError;

/// The use cases that concern flags.
#[async_trait]
pub trait FlagAdmin: Send + Sync {
    /// One page of flags, newest first, with what each does in every active environment.
    async fn flags(&self, query: FlagQuery) -> Result<FlagTable, AdminError>;

    /// Creates a flag, disabled everywhere.
    async fn create_flag(&self, new: NewFlag) -> Result<Flag, AdminError>;

    /// Switches a flag in one environment and answers how it stands afterwards.
    async fn set_enabled(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
        enabled: bool,
    ) -> Result<bool, AdminError>;
}

/// Which flags to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagQuery {
    /// Text that the name or the key contains, in any case; empty for all.
    pub search: String,
    /// Which state the flags are in.
    pub state: FlagState,
    /// Which page of them.
    pub page: PageRequest,
}

/// The states that a list of flags can be narrowed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlagState {
    /// Flags in use.
    #[default]
    Active,
    /// Flags that were archived.
    Archived,
    /// Both.
    All,
}

/// Flags against environments.
#[derive(Clone, Debug)]
pub struct FlagTable {
    /// The active environments, by product and name.
    pub environments: Vec<EnvironmentColumn>,
    /// The flags that were asked for.
    pub flags: Page<FlagRow>,
}

/// An environment as the heading of a column.
#[derive(Clone, Debug)]
pub struct EnvironmentColumn {
    /// Its id.
    pub id: EnvironmentId,
    /// The product it belongs to.
    pub product: String,
    /// Its name.
    pub name: String,
}

/// A flag with what it does in each environment.
#[derive(Clone, Debug)]
pub struct FlagRow {
    /// The flag.
    pub flag: Flag,
    /// One for each column, in their order; none where the flag was archived before the environment existed.
    pub cells: Vec<Option<Cell>>,
}

/// What a flag does in one environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Whether it is switched on.
    pub enabled: bool,
    /// How many targeting rules it has there.
    pub rules: u32,
    /// The percentage of its rollout, if it has one.
    pub rollout: Option<u8>,
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
