//! What the dashboard does with flags.

use std::collections::HashMap;

use async_trait::async_trait;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::model::Switched;
use pennon_dashboard::port::flags::{
    Cell, EnvironmentColumn, FlagAdmin, FlagOrder, FlagQuery, FlagRow, FlagState, FlagTable,
    NewFlag, Stale, Standing,
};
use pennon_model::environment::Environment;
use pennon_model::flag::{Flag, FlagFilter, FlagType};
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::page::PageRequest;

use super::{Form, SignedIn, in_order, told};
use crate::service::flag_table::TableQuery;
use crate::service::patch::Patch;
use crate::service::precondition::Precondition;
use crate::service::targeting::{ConfigurationPatch, PairId};
use crate::service::{flag_table, flags, targeting};
use crate::store;
use crate::store::configurations::CellRow;
use crate::store::flag_table::TableOrder;

#[async_trait]
impl FlagAdmin for SignedIn {
    async fn flags(&self, query: FlagQuery) -> Result<FlagTable, AdminError> {
        let wanted = TableQuery {
            archived: match query.state {
                FlagState::Active => Some(false),
                FlagState::Archived => Some(true),
                FlagState::All => None,
            },
            search: Some(query.search).filter(|text| !text.is_empty()),
            environment: query.environment,
            standing: query.standing.map(|standing| match standing {
                Standing::On => store::flag_table::Standing::On,
                Standing::Off => store::flag_table::Standing::Off,
                Standing::Partly => store::flag_table::Standing::Partly,
            }),
            stale: query.stale,
            order: match query.order {
                FlagOrder::Newest => TableOrder::Newest,
                FlagOrder::Name => TableOrder::Name,
                FlagOrder::LastEvaluated => TableOrder::LastEvaluated,
            },
        };
        let mut table = flag_table::page(&self.service, &self.actor, wanted, query.page)
            .await
            .map_err(told)?;
        let cells = cells(table.cells);
        let environments = in_order(table.environments);
        let row = |flag: Flag| {
            let used = table.uses.remove(&flag.id).unwrap_or_default();
            FlagRow {
                cells: environments
                    .iter()
                    .map(|environment| cells.get(&(flag.id, environment.id)).copied())
                    .collect(),
                last_evaluated_at: used.last_evaluated_at,
                hours: used.hours,
                stale: used.stale.map(|stale| match stale {
                    flag_table::Stale::Unasked => Stale::Unasked,
                    flag_table::Stale::Constant => Stale::Constant,
                }),
                flag,
            }
        };
        Ok(FlagTable {
            flags: table.flags.map(row),
            environments: environments.iter().map(column).collect(),
        })
    }

    async fn is_key_free(&self, key: &str) -> Result<bool, AdminError> {
        let selection = FlagFilter {
            key: Some(key.to_owned()),
            ..FlagFilter::default()
        };
        let found = flags::list(
            &self.service,
            &self.actor,
            &selection,
            PageRequest::default(),
        );
        Ok(found.await.map_err(told)?.pagination.total == 0)
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
        seen: Option<i64>,
    ) -> Result<Switched, AdminError> {
        let actor = self.actor.editor().map_err(told)?;
        let pair = PairId { flag, environment };
        let seen = seen.map_or(Precondition::None, |seen| Precondition::OneOf(vec![seen]));
        let patch = ConfigurationPatch {
            is_enabled: Some(enabled),
            ttl: Patch::Keep,
        };
        let configuration = targeting::configure(&self.service, &actor, pair, &seen, patch)
            .await
            .map_err(told)?;
        Ok(Switched {
            enabled: configuration.is_enabled,
            revision: configuration.revision,
        })
    }
}

pub(super) fn column(environment: &Environment) -> EnvironmentColumn {
    EnvironmentColumn {
        id: environment.id,
        product: environment.product.to_string(),
        name: environment.name.to_string(),
    }
}

pub(super) fn cells(rows: Vec<CellRow>) -> HashMap<(FlagId, EnvironmentId), Cell> {
    let cell = |row: CellRow| {
        let cell = Cell {
            enabled: row.is_enabled,
            revision: row.revision,
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
