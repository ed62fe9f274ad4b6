//! What the dashboard does with flags.

use std::collections::HashMap;

use async_trait::async_trait;
use pennon_core::model::environment::Environment;
use pennon_core::model::flag::{Flag, FlagType};
use pennon_core::model::id::{EnvironmentId, FlagId};
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::flags::{
    Cell, EnvironmentColumn, FlagAdmin, FlagQuery, FlagRow, FlagState, FlagTable, NewFlag,
};

use super::{Form, SignedIn, told};
use crate::service::patch::Patch;
use crate::service::precondition::Precondition;
use crate::service::targeting::{ConfigurationPatch, PairId};
use crate::service::{flags, targeting};
use crate::store::configurations::CellRow;
use crate::store::flags::FlagSelection;

#[async_trait]
impl FlagAdmin for SignedIn {
    async fn flags(&self, query: FlagQuery) -> Result<FlagTable, AdminError> {
        let archived = match query.state {
            FlagState::Active => Some(false),
            FlagState::Archived => Some(true),
            FlagState::All => None,
        };
        let search = Some(query.search).filter(|text| !text.is_empty());
        let filter = FlagSelection {
            archived,
            search,
            ..FlagSelection::default()
        };
        let table = flags::table(&self.service, &self.actor, &filter, query.page)
            .await
            .map_err(told)?;
        let cells = cells(table.cells);
        let row = |flag: Flag| FlagRow {
            cells: table
                .environments
                .iter()
                .map(|environment| cells.get(&(flag.id, environment.id)).copied())
                .collect(),
            flag,
        };
        Ok(FlagTable {
            flags: table.flags.map(row),
            environments: table.environments.iter().map(column).collect(),
        })
    }

    async fn create_flag(&self, new: NewFlag) -> Result<Flag, AdminError> {
        let actor = self.actor.editor().map_err(told)?;
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
        flags::create(&self.service, &actor, new)
            .await
            .map_err(told)
    }

    async fn set_enabled(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
        enabled: bool,
    ) -> Result<bool, AdminError> {
        let actor = self.actor.editor().map_err(told)?;
        let pair = PairId { flag, environment };
        let patch = ConfigurationPatch {
            is_enabled: Some(enabled),
            ttl: Patch::Keep,
        };
        let configuration =
            targeting::configure(&self.service, &actor, pair, &Precondition::None, patch).await;
        configuration
            .map(|configuration| configuration.is_enabled)
            .map_err(told)
    }
}

fn column(environment: &Environment) -> EnvironmentColumn {
    EnvironmentColumn {
        id: environment.id,
        product: environment.product.to_string(),
        name: environment.name.to_string(),
    }
}

fn cells(rows: Vec<CellRow>) -> HashMap<(FlagId, EnvironmentId), Cell> {
    let cell = |row: CellRow| {
        let cell = Cell {
            enabled: row.is_enabled,
            rules: u32::try_from(row.rules).unwrap_or(u32::MAX),
            rollout: row
                .percentage
                .and_then(|percentage| u8::try_from(percentage).ok()),
        };
        (
            (
                FlagId::new(row.flag_id),
                EnvironmentId::new(row.environment_id),
            ),
            cell,
        )
    };
    rows.into_iter().map(cell).collect()
}
