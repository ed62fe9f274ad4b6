//! Environments.

use std::collections::HashSet;

use pennon_model::environment::{
    ClientRules, Environment, EnvironmentFilter, EnvironmentPath, EnvironmentSort,
    EnvironmentStatus, ProductName, Visibility,
};
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::page::{Page, PageRequest};
use pennon_model::previous_key::PreviousKey;
use pennon_model::secret::SecretHash;
use pennon_model::time::Timestamp;
use sqlx::QueryBuilder;
use uuid::Uuid;

use super::query::push_one_of;
use super::{Tx, bad_row, bindable, on_conn, page_of, unless_taken};
use crate::error::{Conflict, Error};

/// The columns of an [`EnvironmentRow`], under names that do not conflict with those of a flag in the same row.
macro_rules! environment_columns {
    () => {
        "environments.id as environment_id, product, environments.name as environment_name, sdk_key_prefix, status,
         visibility, client_rules, is_protected, reason_required, position, previous_key_prefix, previous_key_ends_at,
         environments.created_at as environment_created_at, environments.revision as environment_revision"
    };
}
pub(super) use environment_columns;

/// The end of a query for the environments that match a filter.
macro_rules! filtered {
    () => {
        " from environments
         where ($1 is null or product = $1) and ($2 is null or status = $2) and ($3 is null or name = $3)
           and ($4 is null or visibility = $4)"
    };
}

#[derive(sqlx::FromRow)]
pub(super) struct EnvironmentRow {
    environment_id: Uuid,
    product: String,
    environment_name: String,
    sdk_key_prefix: String,
    status: String,
    visibility: String,
    client_rules: String,
    is_protected: bool,
    reason_required: bool,
    position: Option<i64>,
    previous_key_prefix: Option<String>,
    previous_key_ends_at: Option<i64>,
    environment_created_at: i64,
    environment_revision: i64,
}

/// An environment whose config revision was incremented, because its flags change.
#[derive(Clone, Debug)]
pub(crate) struct Raised {
    pub(crate) environment: EnvironmentId,
    /// The new config revision.
    pub(crate) revision: i64,
    pub(crate) safeguards: Safeguards,
}

/// The safeguards of an environment against unintended changes.
#[derive(Clone, Debug)]
pub(crate) struct Safeguards {
    pub(crate) path: EnvironmentPath,
    pub(crate) is_protected: bool,
    pub(crate) is_reason_required: bool,
}

impl Safeguards {
    /// Returns the safeguards of an environment.
    pub(crate) fn of(environment: &Environment) -> Self {
        Self {
            path: environment.path(),
            is_protected: environment.is_protected,
            is_reason_required: environment.is_reason_required,
        }
    }
}

/// The columns of a [`RaisedRow`], of the statement that increments the config revision.
macro_rules! raised_columns {
    () => {
        "id, config_revision, product, name, is_protected, reason_required"
    };
}
pub(super) use raised_columns;

#[derive(sqlx::FromRow)]
pub(super) struct RaisedRow {
    id: Uuid,
    config_revision: i64,
    product: String,
    name: String,
    is_protected: bool,
    reason_required: bool,
}

#[derive(sqlx::FromRow)]
struct LineageRow {
    lineage: Uuid,
    #[sqlx(flatten)]
    environment: EnvironmentRow,
}

/// Adds an environment. Without a position, it comes last in its product.
pub(crate) async fn insert(
    tx: &mut Tx,
    environment: &Environment,
    sdk_key: SecretHash,
) -> Result<(), Error> {
    let is_inserted = on_conn!(tx, conn => unless_taken(sqlx::query(
        "insert into environments (id, product, name, sdk_key_hash, sdk_key_prefix, status, created_at, revision, visibility,
                                   client_rules, lineage_id, position, is_protected, reason_required)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $1,
                 coalesce($11, (select coalesce(max(position), 0) + 1 from environments where product = $2)), $12, $13)",
    )
    .bind(environment.id.uuid())
    .bind(environment.product.as_str())
    .bind(environment.name.as_str())
    .bind(sdk_key.as_bytes())
    .bind(&environment.sdk_key_prefix)
    .bind(environment.status.as_str())
    .bind(environment.created_at.millis())
    .bind(environment.revision)
    .bind(environment.visibility.as_str())
    .bind(environment.client_rules.as_str())
    .bind(environment.position)
    .bind(environment.is_protected)
    .bind(environment.is_reason_required)
    .execute(conn).await))?;
    is_inserted
        .then_some(())
        .ok_or_else(|| Conflict::EnvironmentNameTaken.into())
}

/// Returns true if any environment exists, active or revoked. Environments are never deleted, so false means that none
/// has ever existed.
pub(crate) async fn any(tx: &mut Tx) -> Result<bool, Error> {
    let first: Option<Uuid> = on_conn!(tx, conn => sqlx::query_scalar("select id from environments limit 1")
        .fetch_optional(conn).await)?;
    Ok(first.is_some())
}

/// Returns true if the environment exists, active or not.
pub(crate) async fn exists(tx: &mut Tx, id: EnvironmentId) -> Result<bool, Error> {
    on_conn!(tx, conn => sqlx::query_scalar("select exists (select 1 from environments where id = $1)")
        .bind(id.uuid()).fetch_one(conn).await)
}

/// Returns one environment.
pub(crate) async fn find(tx: &mut Tx, id: EnvironmentId) -> Result<Option<Environment>, Error> {
    let row: Option<EnvironmentRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", environment_columns!(), " from environments where id = $1",
    )).bind(id.uuid()).fetch_optional(conn).await)?;
    row.map(Environment::try_from).transpose()
}

/// Returns one page of environments, in the order of the filter.
pub(crate) async fn list(
    tx: &mut Tx,
    filter: &EnvironmentFilter,
    page: PageRequest,
) -> Result<Page<Environment>, Error> {
    let status = filter.status.map(EnvironmentStatus::as_str);
    let visibility = filter.visibility.map(Visibility::as_str);
    let sql = match filter.order {
        EnvironmentSort::Newest => concat!(
            "select ",
            environment_columns!(),
            filtered!(),
            " order by created_at desc, id desc limit $5 offset $6"
        ),
        EnvironmentSort::Order => concat!(
            "select ",
            environment_columns!(),
            filtered!(),
            " order by product, position is null, position, name, created_at desc, id desc limit $5 offset $6"
        ),
    };
    let product = bindable(filter.product.as_ref());
    let name = bindable(filter.name.as_ref());
    let rows: Vec<EnvironmentRow> = on_conn!(tx, conn => sqlx::query_as(sql)
        .bind(&product).bind(status).bind(&name).bind(visibility)
        .bind(page.limit.get()).bind(page.offset()).fetch_all(conn).await)?;
    let total = on_conn!(tx, conn => sqlx::query_scalar(concat!("select count(*)", filtered!()))
        .bind(&product).bind(status).bind(&name).bind(visibility).fetch_one(conn).await)?;
    page_of(page, rows, total)
}

/// Returns all active environments, by product and name.
pub(crate) async fn active(tx: &mut Tx) -> Result<Vec<Environment>, Error> {
    let rows: Vec<EnvironmentRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", environment_columns!(), " from environments
         where status = 'active' order by product, name",
    )).fetch_all(conn).await)?;
    rows.into_iter().map(Environment::try_from).collect()
}

/// Returns the config revision of each active environment.
pub(crate) async fn config_revisions(tx: &mut Tx) -> Result<Vec<(EnvironmentId, i64)>, Error> {
    let rows: Vec<(Uuid, i64)> = on_conn!(tx, conn => sqlx::query_as(
        "select id, config_revision from environments where status = 'active'",
    ).fetch_all(conn).await)?;
    let revision = |(id, revision)| (EnvironmentId::new(id), revision);
    Ok(rows.into_iter().map(revision).collect())
}

/// Returns the environment under which the usage of this one is stored: the first of those that replaced each other by
/// key rotations.
pub(crate) async fn lineage(tx: &mut Tx, id: EnvironmentId) -> Result<EnvironmentId, Error> {
    let lineage: Option<Uuid> = on_conn!(tx, conn => sqlx::query_scalar(
        "select coalesce(lineage_id, id) from environments where id = $1",
    ).bind(id.uuid()).fetch_optional(conn).await)?;
    Ok(lineage.map_or(id, EnvironmentId::new))
}

/// Returns the environment that replaced this one after key rotations, or this one if none has: the newest of its
/// lineage.
pub(crate) async fn find_current(
    tx: &mut Tx,
    id: EnvironmentId,
) -> Result<Option<Environment>, Error> {
    let lineage = lineage(tx, id).await?;
    let row: Option<EnvironmentRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", environment_columns!(), " from environments
         where coalesce(lineage_id, id) = $1 order by created_at desc, id desc limit 1",
    )).bind(lineage.uuid()).fetch_optional(conn).await)?;
    row.map(Environment::try_from).transpose()
}

/// Returns the newest environment of each lineage, by product and name.
pub(crate) async fn lineages(tx: &mut Tx) -> Result<Vec<(EnvironmentId, Environment)>, Error> {
    let rows: Vec<LineageRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select coalesce(lineage_id, id) as lineage, ", environment_columns!(), "
         from environments order by created_at desc, id desc",
    )).fetch_all(conn).await)?;
    let mut seen = HashSet::new();
    let newest = rows.into_iter().filter(|row| seen.insert(row.lineage));
    let mut lineages: Vec<(EnvironmentId, Environment)> = newest
        .map(|row| Ok((EnvironmentId::new(row.lineage), row.environment.try_into()?)))
        .collect::<Result<_, Error>>()?;
    lineages.sort_by(|(_, one), (_, other)| {
        (&one.product, &one.name).cmp(&(&other.product, &other.name))
    });
    Ok(lineages)
}

/// Stores an environment's changed name, client rules and safeguards.
pub(crate) async fn update(tx: &mut Tx, environment: &Environment) -> Result<(), Error> {
    let is_updated = on_conn!(tx, conn => unless_taken(sqlx::query(
        "update environments set name = $2, client_rules = $3, is_protected = $4, reason_required = $5,
            revision = revision + 1
         where id = $1",
    )
    .bind(environment.id.uuid())
    .bind(environment.name.as_str())
    .bind(environment.client_rules.as_str())
    .bind(environment.is_protected)
    .bind(environment.is_reason_required)
    .execute(conn).await))?;
    is_updated
        .then_some(())
        .ok_or_else(|| Conflict::EnvironmentNameTaken.into())
}

/// Moves an environment to a position in its product; none is after all others.
pub(crate) async fn set_position(
    tx: &mut Tx,
    id: EnvironmentId,
    position: Option<i64>,
) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("update environments set position = $2 where id = $1")
        .bind(id.uuid()).bind(position).execute(conn).await.map(drop))
}

/// Revokes an environment permanently, and forgets its previous key.
pub(crate) async fn revoke(tx: &mut Tx, id: EnvironmentId) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "update environments set status = 'revoked', revision = revision + 1,
            previous_key_hash = null, previous_key_prefix = null, previous_key_ends_at = null
         where id = $1",
    ).bind(id.uuid()).execute(conn).await.map(drop))
}

/// Gives `successor` a higher config revision than `predecessor` ever had, and makes it share the predecessor's usage.
pub(crate) async fn inherit_config_revision(
    tx: &mut Tx,
    successor: EnvironmentId,
    predecessor: EnvironmentId,
) -> Result<Raised, Error> {
    let row: RaisedRow = on_conn!(tx, conn => sqlx::query_as(concat!(
        "update environments set config_revision =
            (select before.config_revision + 1 from environments before where before.id = $2),
            lineage_id = (select before.lineage_id from environments before where before.id = $2)
         where id = $1 returning ", raised_columns!(),
    )).bind(successor.uuid()).bind(predecessor.uuid()).fetch_one(conn).await)?;
    Ok(row.into())
}

/// Records that the flags of an environment have changed.
pub(crate) async fn raise_config_revision(tx: &mut Tx, id: EnvironmentId) -> Result<Raised, Error> {
    let row: RaisedRow = on_conn!(tx, conn => sqlx::query_as(concat!(
        "update environments set config_revision = config_revision + 1 where id = $1 returning ", raised_columns!(),
    )).bind(id.uuid()).fetch_one(conn).await)?;
    Ok(row.into())
}

/// Records that a flag has changed in all active environments in which it is configured, and returns the environments
/// with their new config revisions.
pub(crate) async fn raise_config_revisions_where_configured(
    tx: &mut Tx,
    flag: FlagId,
) -> Result<Vec<Raised>, Error> {
    let rows: Vec<RaisedRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "update environments set config_revision = config_revision + 1
         where status = 'active'
           and id in (select environment_id from flag_environments where flag_id = $1 and not is_hidden)
         returning ", raised_columns!(),
    )).bind(flag.uuid()).fetch_all(conn).await)?;
    Ok(rows.into_iter().map(Raised::from).collect())
}

/// Records that a flag is new in all active environments of its products, and returns the environments with their new
/// config revisions.
pub(crate) async fn raise_config_revisions_in_scope(
    tx: &mut Tx,
    flag: FlagId,
) -> Result<Vec<Raised>, Error> {
    let rows: Vec<RaisedRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "update environments set config_revision = config_revision + 1
         where status = 'active' and id in (select environment_id from flag_scope where flag_id = $1)
         returning ", raised_columns!(),
    )).bind(flag.uuid()).fetch_all(conn).await)?;
    Ok(rows.into_iter().map(Raised::from).collect())
}

/// Records that the flags of these environments have changed, and returns the environments with their new config
/// revisions.
pub(crate) async fn raise_config_revisions_of(
    tx: &mut Tx,
    ids: &[EnvironmentId],
) -> Result<Vec<Raised>, Error> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<RaisedRow> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new(
            "update environments set config_revision = config_revision + 1 where id ",
        );
        push_one_of(&mut query, ids.iter().copied().map(EnvironmentId::uuid));
        query.push(concat!(" returning ", raised_columns!()));
        query.build_query_as().fetch_all(conn).await
    })?;
    Ok(rows.into_iter().map(Raised::from).collect())
}

/// Returns the products of all active environments, by name.
pub(crate) async fn products(tx: &mut Tx) -> Result<Vec<ProductName>, Error> {
    let names: Vec<String> = on_conn!(tx, conn => sqlx::query_scalar(
        "select distinct product from environments where status = 'active'",
    ).fetch_all(conn).await)?;
    let name = |name: String| {
        ProductName::try_from(name.clone())
            .map_err(|problem| bad_row("environments", name, problem))
    };
    let mut names: Vec<ProductName> = names.into_iter().map(name).collect::<Result<_, _>>()?;
    names.sort_unstable();
    Ok(names)
}

fn previous_key(prefix: Option<String>, ends_at: Option<i64>) -> Option<PreviousKey> {
    Some(PreviousKey {
        prefix: prefix?,
        ends_at: Timestamp::from_millis(ends_at?),
    })
}

impl From<RaisedRow> for Raised {
    fn from(row: RaisedRow) -> Self {
        Self {
            environment: EnvironmentId::new(row.id),
            revision: row.config_revision,
            safeguards: Safeguards {
                path: EnvironmentPath {
                    product: row.product,
                    name: row.name,
                },
                is_protected: row.is_protected,
                is_reason_required: row.reason_required,
            },
        }
    }
}

impl TryFrom<EnvironmentRow> for Environment {
    type Error = Error;

    fn try_from(row: EnvironmentRow) -> Result<Self, Error> {
        let bad = |problem| bad_row("environments", row.environment_id, problem);
        Ok(Self {
            id: EnvironmentId::new(row.environment_id),
            product: row.product.try_into().map_err(bad)?,
            name: row.environment_name.try_into().map_err(bad)?,
            sdk_key_prefix: row.sdk_key_prefix,
            status: EnvironmentStatus::parse(&row.status).map_err(bad)?,
            visibility: Visibility::parse(&row.visibility).map_err(bad)?,
            client_rules: ClientRules::parse(&row.client_rules).map_err(bad)?,
            is_protected: row.is_protected,
            is_reason_required: row.reason_required,
            created_at: Timestamp::from_millis(row.environment_created_at),
            position: row.position,
            previous_key: previous_key(row.previous_key_prefix, row.previous_key_ends_at),
            revision: row.environment_revision,
        })
    }
}
