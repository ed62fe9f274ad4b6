//! The dashboard's playground, which evaluates a flag for a context.

use async_trait::async_trait;
use pennon_core::FlagConfig;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::playground::{Choices, PlaygroundAdmin};
use pennon_model::client::Client;
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::environment;
use pennon_model::flag::FlagFilter;
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::page::PageRequest;

use super::SignedIn;
use crate::admin::targeting;
use crate::admin::{environments, flags, usage};

#[async_trait]
impl PlaygroundAdmin for SignedIn {
    async fn choices(&self, product: Option<&str>) -> Result<Choices, AdminError> {
        let (admin, actor) = (&self.admin, &self.actor);
        let active = FlagFilter {
            archived: Some(false),
            product: product.map(str::to_owned),
            ..FlagFilter::default()
        };
        let flags = flags::list(admin, actor, &active, PageRequest::LONGEST).await?;
        let mut environments = environments::active(admin, actor).await?;
        environments.retain(|each| product.is_none_or(|product| each.product.as_str() == product));
        environment::sort(&mut environments);
        Ok(Choices {
            keys: flags.map(|flag| flag.key.to_string()).items,
            environments,
        })
    }

    async fn config(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
    ) -> Result<FlagConfig, AdminError> {
        let environment = self.current(environment).await?;
        let id = FlagEnvironmentId { flag, environment };
        Ok(targeting::flag_config(&self.admin, &self.actor, id).await?)
    }

    async fn outdated_clients(
        &self,
        environment: EnvironmentId,
    ) -> Result<Vec<Client>, AdminError> {
        let environment = self.current(environment).await?;
        Ok(usage::outdated_clients(&self.admin, &self.actor, environment).await?)
    }
}
