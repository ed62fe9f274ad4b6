//! Percentage rollouts.

use pennon_core::rollout::{Rollout, Strategy};
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::targeting::FlagRollout;
use pennon_model::time::Timestamp;
use sqlx::QueryBuilder;
use uuid::Uuid;

use super::query::push_one_of;
use super::{Tx, bad_row, on_conn};
use crate::error::Error;

#[derive(sqlx::FromRow)]
struct RolloutRow {
    flag_id: Uuid,
    environment_id: Uuid,
    percentage: i64,
    strategy: String,
    created_at: i64,
    updated_at: i64,
    revision: i64,
}

/// The columns of a [`RolloutRow`].
macro_rules! columns {
    () => {
        "flag_id, environment_id, percentage, strategy, created_at, updated_at, revision"
    };
}

/// Returns the rollout of a flag in an environment.
pub(crate) async fn find(
    tx: &mut Tx,
    flag: FlagId,
    environment: EnvironmentId,
) -> Result<Option<FlagRollout>, Error> {
    let row: Option<RolloutRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", columns!(), "
         from rollouts where flag_id = $1 and environment_id = $2",
    )).bind(flag.uuid()).bind(environment.uuid()).fetch_optional(conn).await)?;
    row.map(FlagRollout::try_from).transpose()
}

/// Returns the rollouts of these flags in an environment.
pub(crate) async fn of_flags(
    tx: &mut Tx,
    flags: &[FlagId],
    environment: EnvironmentId,
) -> Result<Vec<FlagRollout>, Error> {
    if flags.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<RolloutRow> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new(concat!("select ", columns!(), " from rollouts where environment_id = "));
        query.push_bind(environment.uuid()).push(" and flag_id ");
        push_one_of(&mut query, flags.iter().copied().map(FlagId::uuid));
        query.build_query_as().persistent(false).fetch_all(conn).await
    })?;
    rows.into_iter().map(FlagRollout::try_from).collect()
}

/// Returns the rollouts of all flags in all active environments.
pub(crate) async fn all(tx: &mut Tx) -> Result<Vec<FlagRollout>, Error> {
    let rows: Vec<RolloutRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", columns!(), "
         from rollouts where environment_id in (select id from environments where status = 'active')",
    )).fetch_all(conn).await)?;
    rows.into_iter().map(FlagRollout::try_from).collect()
}

/// Stores a new or changed rollout, with the environment's config revision.
///
/// A new rollout starts at a revision that no rollout of the same flag and environment has ever had, so that the entity
/// tag of a deleted rollout does not match its successor.
pub(crate) async fn upsert(tx: &mut Tx, rollout: &FlagRollout) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "insert into rollouts (flag_id, environment_id, percentage, strategy, created_at, updated_at, revision)
         values ($1, $2, $3, $4, $5, $5, (select config_revision from environments where id = $2))
         on conflict (flag_id, environment_id) do update
         set percentage = $3, strategy = $4, updated_at = $5, revision = rollouts.revision + 1",
    )
    .bind(rollout.flag_id.uuid())
    .bind(rollout.environment_id.uuid())
    .bind(i64::from(rollout.rollout.percentage.get()))
    .bind(rollout.rollout.strategy.as_str())
    .bind(rollout.updated_at.millis())
    .execute(conn).await.map(drop))?;
    Ok(())
}

/// Copies the rollouts of all flags in an environment to a new one.
pub(crate) async fn copy_all(
    tx: &mut Tx,
    from: EnvironmentId,
    to: EnvironmentId,
    now: Timestamp,
) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "insert into rollouts (flag_id, environment_id, percentage, strategy, created_at, updated_at, revision)
         select flag_id, $2, percentage, strategy, $3, $3, (select config_revision from environments where id = $2)
         from rollouts where environment_id = $1",
    ).bind(from.uuid()).bind(to.uuid()).bind(now.millis()).execute(conn).await.map(drop))
}

/// Deletes a rollout.
pub(crate) async fn delete(
    tx: &mut Tx,
    flag: FlagId,
    environment: EnvironmentId,
) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("delete from rollouts where flag_id = $1 and environment_id = $2")
        .bind(flag.uuid()).bind(environment.uuid()).execute(conn).await.map(drop))
}

/// Reads a rollout from its columns.
pub(super) fn rollout(percentage: i64, strategy: &str, flag: Uuid) -> Result<Rollout, Error> {
    let bad = |problem| bad_row("rollouts", flag, problem);
    Ok(Rollout {
        percentage: percentage.try_into().map_err(bad)?,
        strategy: Strategy::parse(strategy).map_err(bad)?,
    })
}

impl TryFrom<RolloutRow> for FlagRollout {
    type Error = Error;

    fn try_from(row: RolloutRow) -> Result<Self, Error> {
        Ok(Self {
            flag_id: FlagId::new(row.flag_id),
            environment_id: EnvironmentId::new(row.environment_id),
            rollout: rollout(row.percentage, &row.strategy, row.flag_id)?,
            created_at: Timestamp::from_millis(row.created_at),
            updated_at: Timestamp::from_millis(row.updated_at),
            revision: row.revision,
        })
    }
}
