//! What the dashboard does with flags.

use async_trait::async_trait;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::flags::{FlagAdmin, NewFlag};
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::flag::{Flag, FlagFilter, FlagType};
use pennon_model::flag_table::{FlagCell, FlagTable, FlagTableQuery};
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::page::PageRequest;

use super::{Form, SignedIn, expected, to_admin_error};
use crate::admin::patch::Patch;
use crate::admin::precondition::Precondition;
use crate::admin::targeting::ConfigurationPatch;
use crate::admin::{flag_table, flags, targeting};

#[async_trait]
impl FlagAdmin for SignedIn {
    async fn flags(&self, query: FlagTableQuery) -> Result<FlagTable, AdminError> {
        flag_table::page(&self.admin, &self.actor, query)
            .await
            .map_err(to_admin_error)
    }

    async fn is_key_free(&self, key: &str) -> Result<bool, AdminError> {
        let selection = FlagFilter {
            key: Some(key.to_owned()),
            ..FlagFilter::default()
        };
        let found = flags::list(&self.admin, &self.actor, &selection, PageRequest::default());
        Ok(found.await.map_err(to_admin_error)?.pagination.total == 0)
    }

    async fn create_flag(&self, new: NewFlag) -> Result<Flag, AdminError> {
        let actor = self.actor.editor().map_err(to_admin_error)?;
        let mut form = Form::default();
        let key = form.field("key", new.key.try_into());
        let name = form.field("name", new.name.try_into());
        let description = Some(new.description).filter(|text| !text.is_empty());
        let description = form.field(
            "description",
            description.map(TryInto::try_into).transpose(),
        );
        let kind = form.field("type", FlagType::parse(&new.kind));
        let (Some(key), Some(name), Some(description), Some(kind)) = (key, name, description, kind)
        else {
            return Err(form.refused());
        };
        let new = flags::NewFlag {
            key,
            name,
            description,
            kind,
        };
        flags::create(&self.admin, &actor, new)
            .await
            .map_err(to_admin_error)
    }

    async fn set_enabled(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
        enabled: bool,
        seen: Option<i64>,
    ) -> Result<FlagCell, AdminError> {
        let actor = self.actor.editor().map_err(to_admin_error)?;
        let id = FlagEnvironmentId { flag, environment };
        let seen = seen.map_or(Precondition::None, expected);
        let patch = ConfigurationPatch {
            is_enabled: Some(enabled),
            ttl: Patch::Keep,
        };
        targeting::configure(&self.admin, &actor, id, &seen, patch)
            .await
            .map_err(to_admin_error)?;
        targeting::cell(&self.admin, &actor, id)
            .await
            .map_err(to_admin_error)
    }
}
