//! Flags against environments: the list in which people look for flags.

use pennon_core::string_enum;

use crate::environment::Environment;
use crate::flag::Flag;
use crate::id::EnvironmentId;
use crate::page::{Page, PageRequest};
use crate::time::Timestamp;

/// The flags to list, and their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlagTableQuery {
    /// Text that the name or the key contains, in any case; empty for all.
    pub search: String,
    /// Flags in use, archived ones, or both.
    pub lifecycle: Lifecycle,
    /// The environment that counts for the members below; every active one without it, or if it is not one of them.
    pub environment: Option<EnvironmentId>,
    /// The state that the flags have there, or in one of them.
    pub state: Option<FlagState>,
    /// True for stale ones only.
    pub stale: bool,
    /// The order of the list.
    pub order: FlagTableOrder,
    /// The page of the list.
    pub page: PageRequest,
}

string_enum! {
    /// The flags that a list can be narrowed to.
    #[derive(Default)]
    pub enum Lifecycle {
        /// Flags in use.
        #[default]
        Active = "active",
        /// Flags that were archived.
        Archived = "archived",
        /// Both.
        All = "all",
    }
    else "must be `active`, `archived` or `all`"
}

string_enum! {
    /// The state of a flag in an environment.
    pub enum FlagState {
        /// On for everyone.
        On = "on",
        /// On, and rules or a rollout decide for whom.
        Partly = "partly",
        /// Off.
        Off = "off",
    }
    else "must be `on`, `partly` or `off`"
}

string_enum! {
    /// The order of the list. Each is total.
    #[derive(Default)]
    pub enum FlagTableOrder {
        /// The newest first.
        #[default]
        Newest = "newest",
        /// By name, in any case.
        Name = "name",
        /// The last evaluated first, and those that never were last.
        LastEvaluated = "evaluated",
    }
    else "must be `newest`, `name` or `evaluated`"
}

/// Flags against environments.
#[derive(Clone, Debug)]
pub struct FlagTable {
    /// The active environments, by product and nearness to users.
    pub environments: Vec<Environment>,
    /// The flags that were asked for.
    pub flags: Page<FlagRow>,
}

/// A flag with a cell for each environment, and its use in the environments that count.
#[derive(Clone, Debug)]
pub struct FlagRow {
    /// The flag.
    pub flag: Flag,
    /// Its cells, in the order of the environments; none where it is not configured.
    pub cells: Vec<Option<FlagCell>>,
    /// The time of its last evaluation, to the minute.
    pub last_evaluated_at: Option<Timestamp>,
    /// The number of evaluations in each of the last 24 hours, the current one last; empty if there were none.
    pub hours: Vec<i64>,
    /// The reason why it is stale, if it is.
    pub stale: Option<StaleReason>,
}

/// The reason why a flag that nobody has changed for 30 days can probably go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleReason {
    /// No application has asked for it for 14 days.
    Unasked,
    /// Applications ask for it, and it gives everyone the same answer, in every active environment.
    Constant,
}

/// A flag in one environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagCell {
    /// True if it is switched on.
    pub enabled: bool,
    /// The revision of its configuration there.
    pub revision: i64,
    /// The number of its targeting rules there.
    pub rules: u32,
    /// The percentage of its rollout, if it has one.
    pub rollout: Option<u8>,
}
