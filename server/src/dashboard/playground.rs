//! What the dashboard needs to try a flag.

use async_trait::async_trait;
use pennon_core::FlagConfig;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::playground::{Choices, PlaygroundAdmin};
use pennon_model::client::Client;
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::environment;
use pennon_model::flag::FlagFilter;
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::page::{Limit, PageNumber, PageRequest};

use super::{SignedIn, to_admin_error};
use crate::admin::targeting;
use crate::admin::{environments, flags, usage};

#[async_trait]
impl PlaygroundAdmin for SignedIn {
    async fn choices(&self) -> Result<Choices, AdminError> {
        let (admin, actor) = (&self.admin, &self.actor);
        let active = FlagFilter {
            archived: Some(false),
            ..FlagFilter::default()
        };
        let page = PageRequest {
            page: PageNumber::default(),
            limit: Limit::MAX,
        };
        let flags = flags::list(admin, actor, &active, page);
        let keys = flags.await.map_err(to_admin_error)?.items.into_iter();
        let mut environments = environments::active(admin, actor)
            .await
            .map_err(to_admin_error)?;
        environment::sort(&mut environments);
        Ok(Choices {
            keys: keys.map(|flag| flag.key.to_string()).collect(),
            environments,
        })
    }

    async fn config(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
    ) -> Result<FlagConfig, AdminError> {
        let id = FlagEnvironmentId { flag, environment };
        targeting::flag_config(&self.admin, &self.actor, id)
            .await
            .map_err(to_admin_error)
    }

    async fn outdated_clients(
        &self,
        environment: EnvironmentId,
    ) -> Result<Vec<Client>, AdminError> {
        usage::outdated_clients(&self.admin, &self.actor, environment)
            .await
            .map_err(to_admin_error)
    }
}
