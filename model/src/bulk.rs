//! Changes of several flags at once.

use pennon_core::string_enum;

use crate::id::{EnvironmentId, FlagId};
use crate::metadata::FlagTags;

/// A change of several flags: all of them change, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkChange {
    /// The flags, each once.
    pub flags: Vec<FlagId>,
    /// The change of each flag.
    pub action: BulkAction,
}

impl BulkChange {
    /// The maximum number of flags.
    pub const MAX_FLAGS: usize = 100;
}

/// A change that can be made to several flags at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BulkAction {
    /// Adds and removes tags.
    Tag {
        /// The tags that each flag gets, unless it has them.
        add: FlagTags,
        /// The tags that each flag loses, if it has them.
        remove: FlagTags,
    },
    /// Archives the flags.
    Archive,
    /// Enables or disables the flags in one environment.
    Switch {
        /// The environment.
        environment: EnvironmentId,
        /// True to enable them.
        is_enabled: bool,
    },
}

string_enum! {
    /// The name of a change of several flags.
    pub enum BulkActionName {
        /// Add and remove tags.
        Tag = "tag",
        /// Archive.
        Archive = "archive",
        /// Enable in one environment.
        Enable = "enable",
        /// Disable in one environment.
        Disable = "disable",
    }
    else "must be `tag`, `archive`, `enable` or `disable`"
}
