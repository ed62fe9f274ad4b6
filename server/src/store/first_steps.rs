//! The first steps of an installation.

use uuid::Uuid;

use super::{Tx, on_conn};
use crate::error::Error;

/// The objects that prove the first steps. A count is 0 or 1.
#[derive(sqlx::FromRow)]
pub(crate) struct FirstObjects {
    /// The oldest active environment.
    pub(crate) environment_id: Option<Uuid>,
    /// The time at which the first environment was created, in milliseconds.
    pub(crate) started_at: Option<i64>,
    /// The newest active flag.
    pub(crate) flag_key: Option<String>,
    /// The polls and evaluations of any environment.
    pub(crate) requests: i64,
    /// The active flags that are on anywhere.
    pub(crate) enabled: i64,
}

/// Returns the first objects.
pub(crate) async fn find(tx: &mut Tx) -> Result<FirstObjects, Error> {
    on_conn!(tx, conn => sqlx::query_as(
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
    ).fetch_one(conn).await)
}
