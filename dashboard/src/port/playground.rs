//! The playground.

use async_trait::async_trait;
use pennon_core::FlagConfig;
use pennon_model::{
    client::Client,
    environment::Environment,
    id::{EnvironmentId, FlagId},
};

use crate::error::AdminError;

/// The use cases for the playground. After a key rotation, the ID of the old environment means the one that replaced
/// it.
#[async_trait]
pub trait PlaygroundAdmin: Send + Sync {
    /// Returns the flags and environments to choose from, of one product or of all.
    async fn choices(&self, product: Option<&str>) -> Result<Choices, AdminError>;

    /// Returns the configuration of a flag in an environment, as it is in the database now.
    async fn config(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
    ) -> Result<FlagConfig, AdminError>;

    /// Returns the clients in use in an environment that do not support the whole config document.
    async fn outdated_clients(&self, environment: EnvironmentId)
    -> Result<Vec<Client>, AdminError>;
}

/// The flags and environments to choose from.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The keys of active flags, newest first, up to a limit.
    pub keys: Vec<String>,
    /// The active environments by product, in the order of each.
    pub environments: Vec<Environment>,
}
