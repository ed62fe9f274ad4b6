//! Environments.

use async_trait::async_trait;
use pennon_model::{
    client::ClientUsage,
    environment::{CreatedEnvironment, Environment},
    first_steps::FirstSteps,
    id::EnvironmentId,
    page::{Page, PageRequest},
    previous_key::PreviousKeyUsage,
    time::Timestamp,
    usage::Polling,
};

use super::Expected;
use crate::{error::AdminError, model::Naming};

/// The use cases for environments.
#[async_trait]
pub trait EnvironmentAdmin: Send + Sync {
    /// Returns all active environments by product, in the order of each.
    async fn active_environments(&self) -> Result<Vec<Environment>, AdminError>;

    /// Returns the [active environments](Self::active_environments) with their polls of the last 24 hours.
    async fn polled_environments(&self) -> Result<Vec<PolledEnvironment>, AdminError>;

    /// Returns the first steps of the installation that are taken.
    async fn first_steps(&self) -> Result<FirstSteps, AdminError>;

    /// Returns the naming scheme of environments.
    async fn naming(&self) -> Result<Naming, AdminError>;

    /// Returns the products of the active environments, by name.
    async fn products(&self) -> Result<Vec<String>, AdminError>;

    /// Returns one page of revoked environments, newest first, of one product or of all.
    async fn revoked_environments(
        &self,
        product: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<Environment>, AdminError>;

    /// Returns one environment, the number of its flags, and its usage.
    async fn environment(&self, id: EnvironmentId) -> Result<EnvironmentDetail, AdminError>;

    /// Creates an environment. Only this result contains its key.
    async fn create_environment(
        &self,
        new: NewEnvironment,
    ) -> Result<CreatedEnvironment, AdminError>;

    /// Creates an environment with the flag configurations of another one. Only this result contains its key.
    async fn clone_environment(
        &self,
        original: EnvironmentId,
        new: NewEnvironment,
    ) -> Result<CreatedEnvironment, AdminError>;

    /// Puts the active environments of a product into this order.
    async fn order_environments(
        &self,
        product: String,
        environments: Vec<EnvironmentId>,
    ) -> Result<(), AdminError>;

    /// Renames an environment.
    async fn rename_environment(
        &self,
        expected: Expected<EnvironmentId>,
        name: String,
    ) -> Result<(), AdminError>;

    /// Changes the client rules of a public environment to `full` or `answers`.
    async fn set_client_rules(
        &self,
        expected: Expected<EnvironmentId>,
        client_rules: &str,
    ) -> Result<(), AdminError>;

    /// Changes the safeguards of an environment.
    async fn set_safeguards(
        &self,
        expected: Expected<EnvironmentId>,
        safeguards: Safeguards,
    ) -> Result<(), AdminError>;

    /// Rotates the key of an environment. Only this result contains the new key. The old key stops working after
    /// `overlap` seconds.
    ///
    /// `confirmation` must be the environment's name; otherwise [`AdminError::Invalid`] names the field `confirmation`.
    async fn rotate_key(
        &self,
        expected: Expected<EnvironmentId>,
        confirmation: &str,
        overlap: &str,
    ) -> Result<CreatedEnvironment, AdminError>;

    /// Ends the overlap of an environment. Its previous key stops working immediately.
    async fn end_previous_key(&self, expected: Expected<EnvironmentId>) -> Result<(), AdminError>;

    /// Revokes an environment permanently. `confirmation` has the same rule as in [`rotate_key`](Self::rotate_key).
    async fn revoke_environment(
        &self,
        expected: Expected<EnvironmentId>,
        confirmation: &str,
    ) -> Result<(), AdminError>;
}

/// An environment and its polls.
#[derive(Clone, Debug)]
pub struct PolledEnvironment {
    /// The environment.
    pub environment: Environment,
    /// Its polls.
    pub polling: Polling,
}

/// An environment, its flags and its usage.
#[derive(Clone, Debug)]
pub struct EnvironmentDetail {
    /// The environment.
    pub environment: Environment,
    /// The number of active flags that exist in it.
    pub flags: i64,
    /// The key of the newest of them.
    pub newest_flag: Option<String>,
    /// Its polls.
    pub polling: Polling,
    /// The last use of its key, to the minute.
    pub last_used: Option<Timestamp>,
    /// The clients that fetched its flags in the last 31 days, most recently seen first.
    pub clients: Page<ClientUsage>,
    /// The previous key and the clients that use it, while it works.
    pub previous_key: Option<PreviousKeyUsage>,
}

/// The safeguards of an environment against unintended changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Safeguards {
    /// True if the dashboard asks before each change.
    pub is_protected: bool,
    /// True if a change must have a reason.
    pub is_reason_required: bool,
}

/// An environment to create, as typed.
#[derive(Clone, Debug, Default)]
pub struct NewEnvironment {
    /// Its product.
    pub product: String,
    /// Its name.
    pub name: String,
    /// `server` or `public`.
    pub visibility: String,
    /// `full` or `answers`; `full` unless the environment is public.
    pub client_rules: String,
    /// True if the dashboard asks before each change; none if it does so for a name that looks like production.
    pub is_protected: Option<bool>,
    /// True if a change must have a reason.
    pub is_reason_required: bool,
}
