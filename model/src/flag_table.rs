//! The flag list, with a state for each environment.

use pennon_core::string_enum;
use pennon_core::ttl::Ttl;

use crate::environment::Environment;
use crate::flag::Flag;
use crate::id::EnvironmentId;
use crate::metadata::MetadataFilter;
use crate::page::{Page, PageRequest};
use crate::time::Timestamp;

/// The flags to list, and their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlagTableQuery {
    /// Text that the name or the key contains, in any case; empty for all.
    pub search: String,
    /// The product that the list is limited to: its environments, and the flags that are configured there; all if none.
    pub product: Option<String>,
    /// Active flags, archived ones, or both.
    pub lifecycle: Lifecycle,
    /// The environment for the state, the staleness and the usage; all active environments if it is none or not active.
    pub environment: Option<EnvironmentId>,
    /// The state of the flags in that environment, or in any of them.
    pub state: Option<FlagState>,
    /// True for stale flags only.
    pub stale: bool,
    /// The tags, owner and kind of the flags.
    pub metadata: MetadataFilter,
    /// The order of the list.
    pub order: FlagTableOrder,
    /// The page of the list.
    pub page: PageRequest,
}

string_enum! {
    /// A filter of the list by the lifecycle of flags.
    #[derive(Default)]
    pub enum Lifecycle {
        /// Active flags.
        #[default]
        Active = "active",
        /// Archived flags.
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
        /// On, subject to rules or a rollout.
        Partly = "partly",
        /// Off.
        Off = "off",
    }
    else "must be `on`, `partly` or `off`"
}

string_enum! {
    /// The order of the list. Every order is total.
    #[derive(Default)]
    pub enum FlagTableOrder {
        /// Newest first.
        #[default]
        Newest = "newest",
        /// By name, ignoring case.
        Name = "name",
        /// Last evaluated first, and flags without evaluations last.
        LastEvaluated = "evaluated",
    }
    else "must be `newest`, `name` or `evaluated`"
}

/// A page of the flag list, with its environments.
#[derive(Clone, Debug)]
pub struct FlagTable {
    /// The active environments by product, in the order of each.
    pub environments: Vec<Environment>,
    /// The flags that match the query.
    pub flags: Page<FlagRow>,
}

/// A flag with a cell for each environment, and its usage in the environments of the query.
#[derive(Clone, Debug)]
pub struct FlagRow {
    /// The flag.
    pub flag: Flag,
    /// Its cells, in the order of the environments; none where it is not configured.
    pub cells: Vec<Option<FlagCell>>,
    /// The time of its last evaluation, to the minute.
    pub last_evaluated_at: Option<Timestamp>,
    /// The number of evaluations in each of the last 24 hours, the current one last; empty if all are 0.
    pub hours: Vec<i64>,
    /// The reason why it is stale, if it is stale.
    pub stale: Option<StaleReason>,
}

string_enum! {
    /// The reason why a flag can probably be removed: it has expired, or has not changed for 30 days.
    pub enum StaleReason {
        /// Its `expiresAt` has passed.
        Expired = "expired",
        /// No application has evaluated it for 14 days.
        Unused = "unused",
        /// Applications evaluate it, and it has the same value for everyone in every active environment.
        Constant = "constant",
    }
    else "must be `expired`, `unused` or `constant`"
}

string_enum! {
    /// Members of listed flags that are omitted unless they are requested.
    pub enum FlagExtra {
        /// The last evaluation, and whether the flag is stale.
        Usage = "usage",
    }
    else "must be `usage`"
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
    /// Its TTL there; none for the default.
    pub ttl: Option<Ttl>,
}

impl FlagCell {
    /// Returns the state of the flag in the environment.
    #[must_use]
    pub fn state(&self) -> FlagState {
        match (self.enabled, self.rules > 0 || self.rollout.is_some()) {
            (false, _) => FlagState::Off,
            (true, false) => FlagState::On,
            (true, true) => FlagState::Partly,
        }
    }
}
