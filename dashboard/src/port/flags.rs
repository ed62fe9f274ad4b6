//! What pages ask about flags.

use async_trait::async_trait;
use pennon_model::{
    flag::Flag,
    id::{EnvironmentId, FlagId},
    page::{Page, PageRequest},
    time::Timestamp,
};

use crate::{error::AdminError, model::Switched};

/// The use cases that concern flags.
#[async_trait]
pub trait FlagAdmin: Send + Sync {
    /// One page of flags, with what each does in every active environment and how it is used.
    async fn flags(&self, query: FlagQuery) -> Result<FlagTable, AdminError>;

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
    ) -> Result<Switched, AdminError>;
}

/// Which flags to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlagQuery {
    /// Text that the name or the key contains, in any case; empty for all.
    pub search: String,
    /// Which state the flags are in.
    pub state: FlagState,
    /// The environment that counts for all else that is asked; every active one without it, or if it is not one of them.
    pub environment: Option<EnvironmentId>,
    /// How the flags stand there, or in one of them.
    pub standing: Option<Standing>,
    /// Stale ones only.
    pub stale: bool,
    /// In what order.
    pub order: FlagOrder,
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

/// How a flag stands in an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// On for everyone.
    On,
    /// Off.
    Off,
    /// On, and rules or a rollout decide for whom.
    Partly,
}

/// The order of a list of flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlagOrder {
    /// The newest first.
    #[default]
    Newest,
    /// By name.
    Name,
    /// What was evaluated last first, and what never was last.
    LastEvaluated,
}

/// Flags against environments.
#[derive(Clone, Debug)]
pub struct FlagTable {
    /// The active environments, by product and nearness to users.
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

/// A flag with what it does in each environment and how it is used.
#[derive(Clone, Debug)]
pub struct FlagRow {
    /// The flag.
    pub flag: Flag,
    /// What it does, in the order of the environments; none where it is not configured.
    pub cells: Vec<Option<Cell>>,
    /// When it was last evaluated.
    pub last_evaluated_at: Option<Timestamp>,
    /// How often it was evaluated in each of the last 24 hours, the current one last; none if never.
    pub hours: Vec<i64>,
    /// Why it can probably go.
    pub stale: Option<Stale>,
}

/// Why a flag that nobody has changed for 30 days can probably go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// No application has asked for it for 14 days.
    Unasked,
    /// Applications ask for it, and it gives everyone the same answer, in every active environment.
    Constant,
}

/// What a flag does in one environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Whether it is switched on.
    pub enabled: bool,
    /// The revision of its configuration there.
    pub revision: i64,
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
