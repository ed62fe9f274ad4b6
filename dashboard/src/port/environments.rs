//! What pages ask about environments.

use async_trait::async_trait;
use pennon_core::model::{
    environment::Environment,
    page::{Page, PageRequest},
};

use crate::error::AdminError;

/// The use cases that concern environments.
#[async_trait]
pub trait EnvironmentAdmin: Send + Sync {
    /// One page of environments, newest first, revoked ones included.
    async fn environments(&self, page: PageRequest) -> Result<Page<Environment>, AdminError>;

    /// Creates an environment; its key is in this answer and nowhere else.
    async fn create_environment(
        &self,
        new: NewEnvironment,
    ) -> Result<CreatedEnvironment, AdminError>;
}

/// An environment to create, as it was typed.
#[derive(Clone, Debug, Default)]
pub struct NewEnvironment {
    /// The product it belongs to.
    pub product: String,
    /// Its name.
    pub name: String,
}

/// An environment that has just been created.
#[derive(Clone)]
pub struct CreatedEnvironment {
    /// The environment.
    pub environment: Environment,
    /// Its key, in full; it is shown once and can never be read again.
    pub sdk_key: String,
}
