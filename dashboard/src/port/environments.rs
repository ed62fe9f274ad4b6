//! What pages ask about environments.

use async_trait::async_trait;
use pennon_model::{
    client::ClientUsage,
    environment::{CreatedEnvironment, Environment},
    id::EnvironmentId,
    page::{Page, PageRequest},
    time::Timestamp,
    usage::Polling,
};

use super::Expected;
use crate::{error::AdminError, model::Naming};

/// The use cases that concern environments.
#[async_trait]
pub trait EnvironmentAdmin: Send + Sync {
    /// All active environments by product and nearness to users, with how each was polled in the last day.
    async fn active_environments(&self) -> Result<Vec<PolledEnvironment>, AdminError>;

    /// The naming scheme of environments.
    async fn naming(&self) -> Result<Naming, AdminError>;

    /// One page of revoked environments, newest first.
    async fn revoked_environments(
        &self,
        page: PageRequest,
    ) -> Result<Page<Environment>, AdminError>;

    /// One environment, and how it is used.
    async fn environment(&self, id: EnvironmentId) -> Result<UsedEnvironment, AdminError>;

    /// Creates an environment; its key is in this answer and nowhere else.
    async fn create_environment(
        &self,
        new: NewEnvironment,
    ) -> Result<CreatedEnvironment, AdminError>;

    /// Gives an environment another name.
    async fn rename_environment(
        &self,
        expected: Expected<EnvironmentId>,
        name: String,
    ) -> Result<(), AdminError>;

    /// Gives an environment a new key, which is in this answer and nowhere else. The old one is refused from now on.
    ///
    /// `typed` has to be the environment's name; otherwise [`AdminError::Invalid`] says so of the field `confirmation`.
    async fn rotate_key(
        &self,
        expected: Expected<EnvironmentId>,
        typed: &str,
    ) -> Result<CreatedEnvironment, AdminError>;

    /// Revokes an environment for good, under the same condition.
    async fn revoke_environment(
        &self,
        expected: Expected<EnvironmentId>,
        typed: &str,
    ) -> Result<(), AdminError>;
}

/// An environment, and how applications fetch from it.
#[derive(Clone, Debug)]
pub struct PolledEnvironment {
    /// The environment.
    pub environment: Environment,
    /// How it was polled.
    pub polling: Polling,
}

/// An environment, and how it is used.
#[derive(Clone, Debug)]
pub struct UsedEnvironment {
    /// The environment.
    pub environment: Environment,
    /// How it was polled.
    pub polling: Polling,
    /// When its key was last used for anything, to the minute.
    pub last_used: Option<Timestamp>,
    /// The clients that fetched its flags in the last 31 days: those seen last.
    pub clients: Page<ClientUsage>,
}

/// An environment to create, as it was typed.
#[derive(Clone, Debug, Default)]
pub struct NewEnvironment {
    /// The product it belongs to.
    pub product: String,
    /// Its name.
    pub name: String,
}
