//! The first steps of an installation.

use pennon_model::first_steps::FirstSteps;
use pennon_model::id::EnvironmentId;
use pennon_model::time::Timestamp;
use uuid::Uuid;

use super::{Tx, on_conn};
use crate::error::Error;

/// The objects that prove the first steps. A count is 0 or 1.
#[derive(sqlx::FromRow)]
struct FirstObjectsRow {
    environment_id: Option<Uuid>,
    started_at: Option<i64>,
    flag_key: Option<String>,
    /// The polls and evaluations of any environment.
    requests: i64,
    /// The active flags that are on anywhere.
    enabled: i64,
}

/// Returns the first steps that are taken.
pub(crate) async fn find(tx: &mut Tx) -> Result<FirstSteps, Error> {
    let row: FirstObjectsRow = on_conn!(tx, conn => sqlx::query_as(
        "select
           (select id from environments where status = 'active' order by created_at, id limit 1) as environment_id,
           (select min(created_at) from environments) as started_at,
           (select key from flags where archived_at is null order by created_at desc, id desc limit 1) as flag_key,
           (select count(*) from (select 1 as one from environments_last_seen limit 1) polled)
             + (select count(*) from (select 1 as one from flags_last_seen limit 1) evaluated) as requests,
           (select count(*) from (select 1 as one from flag_environments configured
                                  join environments on environments.id = configured.environment_id
                                    and environments.status = 'active'
                                  join flags on flags.id = configured.flag_id and flags.archived_at is null
                                  where configured.is_enabled and not configured.is_hidden limit 1) switched) as enabled",
    ).fetch_one(conn).await)?;
    Ok(FirstSteps {
        environment: row.environment_id.map(EnvironmentId::new),
        started_at: row.started_at.map(Timestamp::from_millis),
        flag_key: row.flag_key,
        has_request: row.requests > 0,
        is_flag_on: row.enabled > 0,
    })
}
