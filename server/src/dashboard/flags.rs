//! The dashboard's access to flags.

use async_trait::async_trait;
use pennon_dashboard::error::{AdminError, FieldErrors};
use pennon_dashboard::port::flags::{FlagAdmin, NewFlag};
use pennon_model::bulk::BulkChange;
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::flag::{Flag, FlagType};
use pennon_model::flag_table::{FlagCell, FlagTable, FlagTableQuery};
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::plan::Plan;

use super::{SignedIn, expected, flag_metadata, flag_products, optional_description};
use crate::admin::patch::Patch;
use crate::admin::precondition::Precondition;
use crate::admin::targeting::ConfigurationPatch;
use crate::admin::{bulk, flag_table, flags, targeting};

#[async_trait]
impl FlagAdmin for SignedIn {
    async fn flags(&self, query: FlagTableQuery) -> Result<FlagTable, AdminError> {
        Ok(flag_table::page(&self.admin, &self.actor, query).await?)
    }

    async fn is_key_free(&self, key: &str) -> Result<bool, AdminError> {
        let found = flags::by_key(&self.admin, &self.actor, key).await?;
        Ok(found.is_none())
    }

    async fn create_flag(&self, new: NewFlag) -> Result<Flag, AdminError> {
        let actor = self.actor.any_editor()?;
        let mut errors = FieldErrors::default();
        let key = errors.keep("key", new.key.try_into());
        let name = errors.keep("name", new.name.try_into());
        let description = errors.keep("description", optional_description(new.description));
        let flag_type = errors.keep("type", FlagType::parse(&new.flag_type));
        let products = errors.keep("products", flag_products(new.products));
        let metadata = flag_metadata(&mut errors, &new.metadata);
        let (
            Some(key),
            Some(name),
            Some(description),
            Some(flag_type),
            Some(products),
            Some(metadata),
        ) = (key, name, description, flag_type, products, metadata)
        else {
            return Err(errors.into());
        };
        let new = flags::NewFlag {
            key,
            name,
            description,
            flag_type,
            products,
            is_public: new.is_public,
            metadata,
        };
        Ok(flags::create(&self.admin, &actor, new).await?)
    }

    async fn flags_with_ids(&self, ids: &[FlagId]) -> Result<Vec<Option<Flag>>, AdminError> {
        Ok(flags::with_ids(&self.admin, &self.actor, ids).await?)
    }

    async fn preview_bulk_change(&self, change: &BulkChange) -> Result<Plan, AdminError> {
        let actor = self.actor.any_editor()?;
        Ok(bulk::preview(&self.admin, &actor, change).await?)
    }

    async fn change_flags(&self, change: &BulkChange, fingerprint: &str) -> Result<(), AdminError> {
        let actor = self.actor.any_editor()?;
        bulk::apply(&self.admin, &actor, change, Some(fingerprint)).await?;
        Ok(())
    }

    async fn set_enabled(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
        enabled: bool,
        expected_revision: Option<i64>,
    ) -> Result<FlagCell, AdminError> {
        let actor = self.actor.any_editor()?;
        let environment = self.current(environment).await?;
        let id = FlagEnvironmentId { flag, environment };
        let precondition = expected_revision.map_or(Precondition::None, expected);
        let patch = ConfigurationPatch {
            is_enabled: Some(enabled),
            ttl: Patch::Keep,
        };
        targeting::configure(&self.admin, &actor, id, &precondition, patch).await?;
        let cell = targeting::cell(&self.admin, &actor, id).await;
        cell.map_err(|error| match error.into() {
            AdminError::Unavailable => AdminError::OutcomeUnknown,
            error => error,
        })
    }
}
