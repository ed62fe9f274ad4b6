//! What pages ask about use.

use async_trait::async_trait;
use pennon_core::Reason;
use pennon_model::{flag::Flag, id::EnvironmentId, time::Timestamp};

use crate::error::AdminError;

/// The use cases that concern how often flags are evaluated.
#[async_trait]
pub trait UsageAdmin: Send + Sync {
    /// How often the flag with this key was evaluated, from a moment until now.
    async fn flag_usage(&self, key: &str, from: Timestamp) -> Result<FlagUsage, AdminError>;
}

/// How often a flag was evaluated.
#[derive(Clone, Debug)]
pub struct FlagUsage {
    /// The flag.
    pub flag: Flag,
    /// The environments in which it was ever evaluated, by product and nearness to users. Those that replaced each other by key rotations
    /// are one.
    pub environments: Vec<EnvironmentUsage>,
}

/// How often a flag was evaluated in an environment.
#[derive(Clone, Debug)]
pub struct EnvironmentUsage {
    /// The environment's id.
    pub id: EnvironmentId,
    /// The product it belongs to.
    pub product: String,
    /// Its name.
    pub name: String,
    /// When the flag was last evaluated there.
    pub last_evaluated_at: Option<Timestamp>,
    /// The counts of the period.
    pub counts: Vec<Count>,
}

/// How often a flag was evaluated within an hour, for a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// When the hour began.
    pub hour: Timestamp,
    /// The reason.
    pub reason: Reason,
    /// How often.
    pub evaluations: i64,
}
