//! What trying a flag asks.

use async_trait::async_trait;
use pennon_core::FlagConfig;
use pennon_core::model::id::{EnvironmentId, FlagId};

use crate::error::AdminError;

/// The use cases that concern trying a flag before anybody else does.
#[async_trait]
pub trait TrialAdmin: Send + Sync {
    /// All that the engine has to know of a flag in an environment, as it stands in the database now.
    async fn config(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
    ) -> Result<FlagConfig, AdminError>;
}
