//! What pages ask about use.

use async_trait::async_trait;
use pennon_model::{flag::Flag, time::Timestamp, usage::FlagEnvironmentUsage};

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
    pub environments: Vec<FlagEnvironmentUsage>,
}
