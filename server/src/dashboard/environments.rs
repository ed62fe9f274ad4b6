//! What the dashboard does with environments.

use async_trait::async_trait;
use pennon_core::model::environment::Environment;
use pennon_core::model::page::{Page, PageRequest};
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::environments::{CreatedEnvironment, EnvironmentAdmin, NewEnvironment};

use super::{Form, SignedIn, told};
use crate::service::environments;
use crate::store::environments::EnvironmentFilter;

#[async_trait]
impl EnvironmentAdmin for SignedIn {
    async fn environments(&self, page: PageRequest) -> Result<Page<Environment>, AdminError> {
        let all = EnvironmentFilter::default();
        environments::list(&self.service, &self.actor, &all, page)
            .await
            .map_err(told)
    }

    async fn create_environment(
        &self,
        new: NewEnvironment,
    ) -> Result<CreatedEnvironment, AdminError> {
        let actor = self.actor.administrator().map_err(told)?;
        let mut form = Form::default();
        let product = form.field("product", new.product.try_into());
        let name = form.field("name", new.name.try_into());
        let (Some(product), Some(name)) = (product, name) else {
            return Err(form.refused());
        };
        let new = environments::NewEnvironment { product, name };
        let created = environments::create(&self.service, &actor, new)
            .await
            .map_err(told)?;
        Ok(CreatedEnvironment {
            environment: created.environment,
            sdk_key: created.sdk_key.expose().to_owned(),
        })
    }
}
