//! Usage.

use async_trait::async_trait;
use pennon_model::{flag::Flag, time::Timestamp, usage::FlagEnvironmentUsage};

use crate::error::AdminError;

/// The use cases for usage.
#[async_trait]
pub trait UsageAdmin: Send + Sync {
    /// Returns the usage of the flag with this key, from a time until now.
    async fn flag_usage(&self, key: &str, from: Timestamp) -> Result<FlagUsage, AdminError>;
}

/// The usage of a flag.
#[derive(Clone, Debug)]
pub struct FlagUsage {
    /// The flag.
    pub flag: Flag,
    /// The environments in which it was ever evaluated, by product, in the order of each. Environments that
    /// replaced each other by key rotations count as one.
    pub environments: Vec<FlagEnvironmentUsage>,
}
