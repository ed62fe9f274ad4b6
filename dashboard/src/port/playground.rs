//! What trying a flag asks.

use async_trait::async_trait;
use pennon_core::FlagConfig;
use pennon_model::{
    client::Client,
    environment::Environment,
    id::{EnvironmentId, FlagId},
};

use crate::error::AdminError;

/// The use cases that concern trying a flag before anybody else does.
#[async_trait]
pub trait PlaygroundAdmin: Send + Sync {
    /// What can be tried, and where.
    async fn choices(&self) -> Result<Choices, AdminError>;

    /// All that the engine has to know of a flag in an environment, as it stands in the database now.
    async fn config(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
    ) -> Result<FlagConfig, AdminError>;

    /// The clients in use in an environment that cannot read every word of the config document.
    async fn outdated_clients(&self, environment: EnvironmentId)
    -> Result<Vec<Client>, AdminError>;
}

/// What can be tried, and where.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The keys of active flags, the newest first; no more of them than one can look through.
    pub keys: Vec<String>,
    /// The active environments, by product and nearness to users.
    pub environments: Vec<Environment>,
}
