//! Flag configurations in environments.

use std::collections::HashMap;

use pennon_core::ttl::Ttl;
use pennon_model::configuration::{Configuration, FlagEnvironment, FlagEnvironmentId};
use pennon_model::environment::{Environment, EnvironmentPath};
use pennon_model::flag::Flag;
use pennon_model::flag_table::FlagCell;
use pennon_model::id::{EnvironmentId, FlagId};
use sqlx::QueryBuilder;
use uuid::Uuid;

use super::environments::{EnvironmentRow, Raised, environment_columns};
use super::flags::{FlagRow, flag_columns};
use super::query::push_one_of;
use super::{Tx, bad_row, environments, on_conn};
use crate::error::Error;

#[derive(sqlx::FromRow)]
struct ConfigurationRow {
    flag_id: Uuid,
    environment_id: Uuid,
    is_enabled: bool,
    ttl_override_seconds: Option<i64>,
    revision: i64,
    config_revision: i64,
}

#[derive(sqlx::FromRow)]
struct FlagEnvironmentRow {
    #[sqlx(flatten)]
    flag: FlagRow,
    #[sqlx(flatten)]
    environment: EnvironmentRow,
    is_enabled: bool,
    ttl_override_seconds: Option<i64>,
    configuration_revision: i64,
    config_revision: i64,
    is_hidden: bool,
}

#[derive(sqlx::FromRow)]
struct CellRow {
    flag_id: Uuid,
    environment_id: Uuid,
    is_enabled: bool,
    revision: i64,
    rules: i64,
    percentage: Option<i64>,
    ttl_override_seconds: Option<i64>,
}

/// The beginning of a query for [`FlagEnvironmentRow`]s, up to the conditions.
macro_rules! select_flag_environments {
    () => {
        concat!(
            "select ",
            flag_columns!(),
            ", ",
            environment_columns!(),
            ", is_enabled, ttl_override_seconds,
             configured.revision as configuration_revision, configured.config_revision, configured.is_hidden
             from flag_environments configured
             join flags on flags.id = configured.flag_id
             join environments on environments.id = configured.environment_id ",
        )
    };
}

/// Reads a flag, an environment, and the flag's configuration there; none if one of the three is missing, or if the
/// configuration is hidden.
pub(crate) async fn find(
    tx: &mut Tx,
    id: FlagEnvironmentId,
) -> Result<Option<FlagEnvironment>, Error> {
    let found = find_even_hidden(tx, id).await?;
    Ok(found.and_then(|(target, is_hidden)| (!is_hidden).then_some(target)))
}

/// Reads a flag in an environment like [`find`], and whether its configuration there is hidden.
pub(crate) async fn find_even_hidden(
    tx: &mut Tx,
    id: FlagEnvironmentId,
) -> Result<Option<(FlagEnvironment, bool)>, Error> {
    let row: Option<FlagEnvironmentRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        select_flag_environments!(), "where configured.flag_id = $1 and configured.environment_id = $2",
    )).bind(id.flag.uuid()).bind(id.environment.uuid()).fetch_optional(conn).await)?;
    let found = |row: FlagEnvironmentRow| {
        let is_hidden = row.is_hidden;
        Ok((row.try_into()?, is_hidden))
    };
    row.map(found).transpose()
}

/// Returns those of the flags that are configured in an environment.
pub(crate) async fn of_flags(
    tx: &mut Tx,
    flags: &[FlagId],
    environment: EnvironmentId,
) -> Result<Vec<FlagEnvironment>, Error> {
    if flags.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<FlagEnvironmentRow> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new(concat!(
            select_flag_environments!(), "where not is_hidden and configured.environment_id = ",
        ));
        query.push_bind(environment.uuid()).push(" and configured.flag_id ");
        push_one_of(&mut query, flags.iter().copied().map(FlagId::uuid));
        query.build_query_as().persistent(false).fetch_all(conn).await
    })?;
    rows.into_iter().map(FlagEnvironment::try_from).collect()
}

/// Returns a flag in all active environments in which it is configured, by product and name.
pub(crate) async fn of_flag(tx: &mut Tx, flag: FlagId) -> Result<Vec<FlagEnvironment>, Error> {
    let rows: Vec<FlagEnvironmentRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        select_flag_environments!(), "where configured.flag_id = $1 and not is_hidden and status = 'active'
         order by product, environments.name",
    )).bind(flag.uuid()).fetch_all(conn).await)?;
    rows.into_iter().map(FlagEnvironment::try_from).collect()
}

/// Returns the configurations of all flags in all active environments, either the hidden ones or all others.
pub(crate) async fn all(tx: &mut Tx, hidden: bool) -> Result<Vec<Configuration>, Error> {
    let rows: Vec<ConfigurationRow> = on_conn!(tx, conn => sqlx::query_as(
        "select flag_id, environment_id, is_enabled, ttl_override_seconds, revision, config_revision
         from flag_environments
         where is_hidden = $1 and environment_id in (select id from environments where status = 'active')",
    ).bind(hidden).fetch_all(conn).await)?;
    rows.into_iter().map(Configuration::try_from).collect()
}

/// Stores a configuration, changed or not, with the environment's config revision.
pub(crate) async fn update(tx: &mut Tx, configuration: &Configuration) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "update flag_environments
         set is_enabled = $3, ttl_override_seconds = $4, revision = $5,
             config_revision = (select config_revision from environments where id = $2)
         where flag_id = $1 and environment_id = $2",
    )
    .bind(configuration.flag_id.uuid())
    .bind(configuration.environment_id.uuid())
    .bind(configuration.is_enabled)
    .bind(configuration.ttl.map(|ttl| i64::from(ttl.seconds())))
    .bind(configuration.revision)
    .execute(conn).await.map(drop))
}

/// Records that a flag has changed in all active environments in which it is configured.
pub(crate) async fn touch_everywhere(tx: &mut Tx, flag: FlagId) -> Result<Vec<Raised>, Error> {
    let raised = environments::raise_config_revisions_where_configured(tx, flag).await?;
    stamp(tx, flag, &raised).await?;
    Ok(raised)
}

/// Sets the config revision of a flag in these environments to that of the environment.
async fn stamp(tx: &mut Tx, flag: FlagId, raised: &[Raised]) -> Result<(), Error> {
    if raised.is_empty() {
        return Ok(());
    }
    on_conn!(tx, conn => {
        let mut query = QueryBuilder::new(
            "update flag_environments set config_revision =
                (select config_revision from environments where environments.id = flag_environments.environment_id)
             where flag_id = ",
        );
        query.push_bind(flag.uuid()).push(" and environment_id ");
        push_one_of(&mut query, raised.iter().map(|raised| raised.environment.uuid()));
        query.build().execute(conn).await.map(drop)
    })
}

/// Adds a disabled configuration of a flag to the active environments of its products in which it has none, even a
/// hidden one, and returns these environments.
async fn insert_missing(tx: &mut Tx, flag: FlagId) -> Result<Vec<EnvironmentId>, Error> {
    let added: Vec<Uuid> = on_conn!(tx, conn => sqlx::query_scalar(
        "insert into flag_environments (flag_id, environment_id, config_revision)
         select $1, id, config_revision from environments
         where status = 'active' and id in (select environment_id from flag_scope where flag_id = $1)
         on conflict (flag_id, environment_id) do nothing
         returning environment_id",
    ).bind(flag.uuid()).fetch_all(conn).await)?;
    Ok(added.into_iter().map(EnvironmentId::new).collect())
}

/// Adds a disabled configuration of a new flag to the active environments of its products.
pub(crate) async fn insert_for_flag(tx: &mut Tx, flag: FlagId) -> Result<Vec<Raised>, Error> {
    let raised = environments::raise_config_revisions_in_scope(tx, flag).await?;
    insert_missing(tx, flag).await?;
    Ok(raised)
}

/// Adds a configuration of a flag to the active environments that were created while it was archived, and disables it
/// in all active environments.
pub(crate) async fn reset_for_flag(tx: &mut Tx, flag: FlagId) -> Result<Vec<Raised>, Error> {
    insert_missing(tx, flag).await?;
    on_conn!(tx, conn => sqlx::query(
        "update flag_environments set is_enabled = false, revision = revision + 1
         where flag_id = $1 and is_enabled
           and environment_id in (select id from environments where status = 'active')",
    ).bind(flag.uuid()).execute(conn).await.map(drop))?;
    touch_everywhere(tx, flag).await
}

/// Configures a flag in the active environments of its current products, and hides its configuration in all others. A
/// configuration that is added, hidden or shown again is disabled. Returns the environments that change.
pub(crate) async fn rescope(tx: &mut Tx, flag: FlagId) -> Result<Vec<Raised>, Error> {
    let mut changed = insert_missing(tx, flag).await?;
    let switched: Vec<Uuid> = on_conn!(&mut *tx, conn => sqlx::query_scalar(
        "update flag_environments set is_hidden = not is_hidden, is_enabled = false, revision = revision + 1
         where flag_id = $1
           and environment_id in (select id from environments where status = 'active')
           and is_hidden = (environment_id in (select environment_id from flag_scope where flag_id = $1))
         returning environment_id",
    ).bind(flag.uuid()).fetch_all(conn).await)?;
    changed.extend(switched.into_iter().map(EnvironmentId::new));
    let raised = environments::raise_config_revisions_of(tx, &changed).await?;
    stamp(tx, flag, &raised).await?;
    Ok(raised)
}

/// Moves all configurations of an environment, with their rules and rollouts, to the environment that replaces it.
pub(crate) async fn move_all(
    tx: &mut Tx,
    from: EnvironmentId,
    to: EnvironmentId,
) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("update flag_environments set environment_id = $2 where environment_id = $1")
        .bind(from.uuid()).bind(to.uuid()).execute(conn).await.map(drop))?;
    // A rule contains the ID of its environment, so each rule has changed.
    on_conn!(tx, conn => sqlx::query("update rules set revision = revision + 1 where environment_id = $1")
        .bind(to.uuid()).execute(conn).await.map(drop))
}

/// Copies the configurations of all flags in an environment to a new one, without their rules and rollouts, which the
/// caller must copy too. The configuration of a flag that does not exist in the new environment is hidden there and
/// disabled, so that it appears when the flag joins the environment.
pub(crate) async fn copy_all(
    tx: &mut Tx,
    from: EnvironmentId,
    to: EnvironmentId,
) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "insert into flag_environments
             (flag_id, environment_id, is_enabled, ttl_override_seconds, is_hidden, is_targeted, config_revision)
         select configured.flag_id, $2,
                configured.is_enabled and configured.flag_id in (select flag_id from flag_scope where environment_id = $2),
                configured.ttl_override_seconds,
                configured.flag_id not in (select flag_id from flag_scope where environment_id = $2),
                configured.is_targeted,
                (select config_revision from environments where id = $2)
         from flag_environments configured where configured.environment_id = $1
         on conflict (flag_id, environment_id) do update
         set is_enabled = excluded.is_enabled, ttl_override_seconds = excluded.ttl_override_seconds",
    ).bind(from.uuid()).bind(to.uuid()).execute(conn).await.map(drop))
}

/// Adds disabled configurations of all active flags of its scope to a new environment.
pub(crate) async fn insert_for_environment(
    tx: &mut Tx,
    environment: EnvironmentId,
) -> Result<Raised, Error> {
    let raised = environments::raise_config_revision(tx, environment).await?;
    on_conn!(tx, conn => sqlx::query(
        "insert into flag_environments (flag_id, environment_id, config_revision)
         select id, $1, $2 from flags
         where archived_at is null and id in (select flag_id from flag_scope where environment_id = $1)",
    ).bind(environment.uuid()).bind(raised.revision).execute(conn).await.map(drop))?;
    Ok(raised)
}

/// Returns the active environments in which a flag is enabled.
pub(crate) async fn enabled_in(tx: &mut Tx, flag: FlagId) -> Result<Vec<EnvironmentPath>, Error> {
    let rows: Vec<(String, String)> = on_conn!(tx, conn => sqlx::query_as(
        "select environments.product, environments.name
         from flag_environments join environments on environments.id = flag_environments.environment_id
         where flag_environments.flag_id = $1 and flag_environments.is_enabled and environments.status = 'active'
         order by environments.product, environments.name",
    ).bind(flag.uuid()).fetch_all(conn).await)?;
    let path = |(product, name)| EnvironmentPath { product, name };
    Ok(rows.into_iter().map(path).collect())
}

/// Returns the cells of these flags in the active environments in which they are configured.
pub(crate) async fn cells(
    tx: &mut Tx,
    flags: &[FlagId],
) -> Result<HashMap<(FlagId, EnvironmentId), FlagCell>, Error> {
    if flags.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<CellRow> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new(
            "select configured.flag_id, configured.environment_id, configured.is_enabled, configured.revision, configured.ttl_override_seconds,
               rollouts.percentage,
               (select count(*) from rules
                where rules.flag_id = configured.flag_id and rules.environment_id = configured.environment_id) as rules
             from flag_environments configured
             join environments on environments.id = configured.environment_id and environments.status = 'active'
             left join rollouts
               on rollouts.flag_id = configured.flag_id and rollouts.environment_id = configured.environment_id
             where not configured.is_hidden and configured.flag_id ",
        );
        push_one_of(&mut query, flags.iter().copied().map(FlagId::uuid));
        query.build_query_as().fetch_all(conn).await
    })?;
    let cell = |row: CellRow| {
        let cell = FlagCell {
            enabled: row.is_enabled,
            revision: row.revision,
            rules: u32::try_from(row.rules).unwrap_or(u32::MAX),
            rollout: row
                .percentage
                .and_then(|percentage| u8::try_from(percentage).ok()),
            ttl: readable_ttl(row.ttl_override_seconds),
        };
        let (flag, environment) = (row.flag_id, row.environment_id);
        ((FlagId::new(flag), EnvironmentId::new(environment)), cell)
    };
    Ok(rows.into_iter().map(cell).collect())
}

/// Reads a TTL override that may be damaged: then there is none, so that the flag can still be disabled. The next change
/// of the configuration removes the damaged value.
fn readable_ttl(seconds: Option<i64>) -> Option<Ttl> {
    seconds.and_then(|seconds| Ttl::try_from(seconds).ok())
}

/// Reads a TTL override from its column.
pub(super) fn ttl(seconds: Option<i64>, id: Uuid) -> Result<Option<Ttl>, Error> {
    let ttl = seconds.map(Ttl::try_from).transpose();
    ttl.map_err(|problem| bad_row("flag_environments", id, problem))
}

impl TryFrom<FlagEnvironmentRow> for FlagEnvironment {
    type Error = Error;

    fn try_from(row: FlagEnvironmentRow) -> Result<Self, Error> {
        let flag = Flag::try_from(row.flag)?;
        let environment = Environment::try_from(row.environment)?;
        let configuration = Configuration {
            flag_id: flag.id,
            environment_id: environment.id,
            is_enabled: row.is_enabled,
            ttl: readable_ttl(row.ttl_override_seconds),
            revision: row.configuration_revision,
            config_revision: row.config_revision,
        };
        Ok(Self {
            flag,
            environment,
            configuration,
        })
    }
}

impl TryFrom<ConfigurationRow> for Configuration {
    type Error = Error;

    fn try_from(row: ConfigurationRow) -> Result<Self, Error> {
        Ok(Self {
            flag_id: FlagId::new(row.flag_id),
            environment_id: EnvironmentId::new(row.environment_id),
            is_enabled: row.is_enabled,
            ttl: ttl(row.ttl_override_seconds, row.flag_id)?,
            revision: row.revision,
            config_revision: row.config_revision,
        })
    }
}
