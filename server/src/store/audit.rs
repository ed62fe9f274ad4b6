//! The audit log.

use std::ops::Range;

use pennon_model::audit::{
    AuditAction, AuditEntry, AuditFilter, AuditRecord, AuditSubjects, ChangeEvent, ChangeReason,
    RequestId,
};
use pennon_model::id::{AuditId, EnvironmentId, FlagId, RuleId, TokenId, UserId};
use pennon_model::page::PageRequest;
use pennon_model::time::{DAY_MILLIS, Timestamp};
use serde_json::Value;
use sqlx::QueryBuilder;
use sqlx::types::Json;
use uuid::Uuid;

use super::flags::push_product;
use super::query::QueryParts;
use super::{Tx, bad_row, bindable, on_conn};
use crate::error::Error;

/// The date of a new entry, from a parameter with the current time. It follows the date of the newest entry, so that
/// entries are in the order of their transactions, even if a clock was set back or those of other instances are ahead.
/// An entry that is over 5 minutes (300,000 ms) ahead was dated by a wrong clock, and is ignored. It is part of the
/// statement that writes, because on SQLite, a transaction that reads first may have to wait for others in vain.
macro_rules! date {
    ($now:literal) => {
        concat!(
            "(select case when max(occurred_at) between 1 + ",
            $now,
            " and ",
            $now,
            " + 300000 then max(occurred_at) + 1 else ",
            $now,
            " end from audit_entries)"
        )
    };
}

pub(super) use date;

#[derive(sqlx::FromRow)]
struct AuditRow {
    id: Uuid,
    group_id: Uuid,
    action: String,
    actor_identity: String,
    occurred_at: i64,
    flag_key: Option<String>,
    environment: Option<String>,
    product: Option<String>,
    old_value: Option<Json<Value>>,
    new_value: Option<Json<Value>>,
    reason: Option<String>,
    flag_id: Option<Uuid>,
    environment_id: Option<Uuid>,
    rule_id: Option<Uuid>,
}

/// Adds an entry.
pub(crate) async fn insert(
    tx: &mut Tx,
    entry: &AuditEntry,
    subjects: &AuditSubjects,
) -> Result<(), Error> {
    let group = tx.audit_group(entry.id);
    on_conn!(tx, conn => sqlx::query(concat!(
        "insert into audit_entries (id, action, actor_identity, occurred_at, flag_key, environment, product,
                                    old_value, new_value, actor_id, actor_token_id, flag_id, environment_id, rule_id,
                                    user_id, token_id, about_accounts, group_id, request_id, reason)
         values ($1, $2, $3, ", date!("$4"), ", $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)",
    ))
    .bind(entry.id.uuid())
    .bind(entry.action.as_str())
    .bind(&entry.actor_identity)
    .bind(entry.occurred_at.millis())
    .bind(&entry.flag_key)
    .bind(&entry.environment)
    .bind(&entry.product)
    .bind(entry.old_value.as_ref().map(Json))
    .bind(entry.new_value.as_ref().map(Json))
    .bind(subjects.actor.map(UserId::uuid))
    .bind(subjects.actor_token.map(TokenId::uuid))
    .bind(subjects.flag.map(FlagId::uuid))
    .bind(subjects.environment.map(EnvironmentId::uuid))
    .bind(subjects.rule.map(RuleId::uuid))
    .bind(subjects.user.map(UserId::uuid))
    .bind(subjects.token.map(TokenId::uuid))
    .bind(entry.action.is_about_accounts())
    .bind(group.uuid())
    .bind(subjects.request.as_ref().map(RequestId::as_str))
    .bind(entry.reason.as_ref().map(ChangeReason::as_str))
    .execute(conn).await.map(drop))
}

/// The columns of an [`AuditRow`].
macro_rules! columns {
    () => {
        "id, coalesce(group_id, id) as group_id, action, actor_identity, occurred_at, flag_key, environment, product,
         old_value, new_value, reason, flag_id, environment_id, rule_id"
    };
}

/// Appends a query for columns of the entries that a filter selects. The text contains only the requested conditions,
/// because a database uses an index only for queries that certainly have its condition. If the query has two halves,
/// each ends with the `limit` newest entries, if given.
fn push_selection(
    query: &mut impl QueryParts,
    columns: &str,
    filter: &AuditFilter,
    last: Option<&AuditEntry>,
    limit: Option<i64>,
) {
    let product = bindable(filter.product.as_ref());
    // Entries about flags name no product, and no environment. Each half reads an index, which a disjunction would not.
    let has_halves = filter.flags_of_product && product.is_some() && filter.environment.is_none();
    let limit = limit.filter(|_| has_halves);
    if limit.is_some() {
        query.push("select * from (");
    }
    push_conditions(query, columns, filter, last);
    if let Some(product) = product {
        query.push(" and product = ").push_bind(product);
    }
    if let Some(limit) = limit {
        query.push(NEWEST_FIRST).push(" limit ").push_bind(limit);
        query.push(") of_product");
    }
    if has_halves {
        query.push(" union all ");
        if limit.is_some() {
            query.push("select * from (");
        }
        push_conditions(query, columns, filter, last);
        query.push(" and product is null and flag_id is not null");
        push_product(query, "audit_entries.flag_id", filter.product.as_ref());
        if let Some(limit) = limit {
            query.push(NEWEST_FIRST).push(" limit ").push_bind(limit);
            query.push(") of_flags");
        }
    }
}

const NEWEST_FIRST: &str = " order by occurred_at desc, id desc";

/// Appends a query with all conditions of a filter but that on the product, for the entries that precede `last`.
fn push_conditions(
    query: &mut impl QueryParts,
    columns: &str,
    filter: &AuditFilter,
    last: Option<&AuditEntry>,
) {
    query
        .push("select ")
        .push(columns)
        .push(" from audit_entries where true");
    if let Some(from) = filter.from {
        query.push(" and occurred_at >= ").push_bind(from.millis());
    }
    // SQLite uses an index for one upper bound only, and an import has many entries of one time.
    match (last, filter.to) {
        (Some(last), _) => {
            query
                .push(" and (occurred_at, id) < (")
                .push_bind(last.occurred_at.millis());
            query.push(", ").push_bind(last.id.uuid()).push(")");
        }
        (None, Some(to)) => {
            query.push(" and occurred_at <= ").push_bind(to.millis());
        }
        (None, None) => {}
    }
    if !filter.accounts {
        query.push(" and not about_accounts");
    }
    for (column, text) in [
        (" and flag_key = ", &filter.flag_key),
        (" and environment = ", &filter.environment),
        (" and actor_identity = ", &filter.actor),
    ] {
        if let Some(text) = bindable(text.as_ref()) {
            query.push(column).push_bind(text);
        }
    }
    if let Some(action) = filter.action {
        query.push(" and action = ").push_bind(action.as_str());
    }
}

/// Returns one entry.
pub(crate) async fn find(tx: &mut Tx, id: AuditId) -> Result<Option<AuditRecord>, Error> {
    let row: Option<AuditRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", columns!(), "
         from audit_entries where id = $1",
    )).bind(id.uuid()).fetch_optional(conn).await)?;
    row.map(AuditRecord::try_from).transpose()
}

/// Returns the newest `limit` entries of one action, newest first.
pub(crate) async fn group(tx: &mut Tx, id: AuditId, limit: i64) -> Result<Vec<AuditRecord>, Error> {
    let rows: Vec<AuditRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", columns!(), "
         from audit_entries where group_id = $1
         union all
         select ", columns!(), "
         from audit_entries where id = $1 and group_id is null
         order by occurred_at desc, id desc limit $2",
    )).bind(id.uuid()).bind(limit).fetch_all(conn).await)?;
    rows.into_iter().map(AuditRecord::try_from).collect()
}

/// Returns the newest `limit` entries that precede an entry, or the newest of all, newest first. The entry must satisfy
/// the filter. Unlike a page, this takes the same time in every part of the log.
pub(crate) async fn before(
    tx: &mut Tx,
    filter: &AuditFilter,
    entry: Option<&AuditEntry>,
    limit: i64,
) -> Result<Vec<AuditRecord>, Error> {
    let rows: Vec<AuditRow> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new("");
        push_selection(&mut query, columns!(), filter, entry, Some(limit));
        query.push(NEWEST_FIRST).push(" limit ").push_bind(limit);
        query.build_query_as().fetch_all(conn).await
    })?;
    rows.into_iter().map(AuditRecord::try_from).collect()
}

/// Returns the entries of one page, newest first.
pub(crate) async fn page(
    tx: &mut Tx,
    filter: &AuditFilter,
    page: PageRequest,
) -> Result<Vec<AuditRecord>, Error> {
    // SQLite merges the halves, even if a late page skips many entries. PostgreSQL would sort all of them.
    let limit = tx
        .is_on_postgres()
        .then(|| page.offset().saturating_add(page.limit.get()));
    let rows: Vec<AuditRow> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new("");
        push_selection(&mut query, columns!(), filter, None, limit);
        query.push(NEWEST_FIRST).push(" limit ").push_bind(page.limit.get());
        query.push(" offset ").push_bind(page.offset());
        query.build_query_as().fetch_all(conn).await
    })?;
    rows.into_iter().map(AuditRecord::try_from).collect()
}

/// Counts the entries that a filter selects.
pub(crate) async fn count(tx: &mut Tx, filter: &AuditFilter) -> Result<i64, Error> {
    on_conn!(tx, conn => {
        let mut query = QueryBuilder::new("select count(*) from (");
        push_selection(&mut query, "1 as one", filter, None, None);
        query.push(") selected");
        query.build_query_scalar().fetch_one(conn).await
    })
}

/// Returns the days since 1970, in UTC, and the number of entries of each. Days without entries are missing.
pub(crate) async fn count_by_day(
    tx: &mut Tx,
    days: Range<i64>,
    accounts: bool,
) -> Result<Vec<(i64, i64)>, Error> {
    on_conn!(tx, conn => {
        let mut query = QueryBuilder::new("select occurred_at / ");
        query.push(DAY_MILLIS).push(" as day, count(*) from audit_entries where occurred_at >= ");
        query.push_bind(Timestamp::of_day(days.start).millis());
        query.push(" and occurred_at < ").push_bind(Timestamp::of_day(days.end).millis());
        if !accounts {
            query.push(" and not about_accounts");
        }
        query.push(" group by day");
        query.build_query_as().fetch_all(conn).await
    })
}

/// Returns the first and the last entry before a day; none if there is no entry.
pub(crate) async fn bounds(
    tx: &mut Tx,
    day: i64,
    accounts: bool,
) -> Result<Option<[AuditId; 2]>, Error> {
    let mut bounds = Vec::new();
    for order in [
        " order by occurred_at, id",
        " order by occurred_at desc, id desc",
    ] {
        let found: Option<Uuid> = on_conn!(&mut *tx, conn => {
            let mut query = QueryBuilder::new("select id from audit_entries where occurred_at < ");
            query.push_bind(Timestamp::of_day(day).millis());
            if !accounts {
                query.push(" and not about_accounts");
            }
            query.push(order).push(" limit 1");
            query.build_query_scalar().fetch_optional(conn).await
        })?;
        bounds.extend(found.map(AuditId::new));
    }
    Ok(<[AuditId; 2]>::try_from(bounds).ok())
}

#[derive(sqlx::FromRow)]
struct ChangeRow {
    id: Uuid,
    action: String,
    actor_identity: String,
    occurred_at: i64,
    flag_key: Option<String>,
    environment_id: Option<Uuid>,
    product: Option<String>,
    environment: Option<String>,
    user_id: Option<Uuid>,
    request_id: Option<String>,
}

/// Returns the first `limit` entries that follow a time and an ID, oldest first, without the values before and after.
pub(crate) async fn after(
    tx: &mut Tx,
    (time, id): (Timestamp, AuditId),
    limit: usize,
) -> Result<Vec<ChangeEvent>, Error> {
    let rows: Vec<ChangeRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, action, actor_identity, occurred_at, flag_key, environment_id, environment, user_id, request_id,
                case when (select count(distinct product) from environments where status = 'active') > 1
                     then product end as product
         from audit_entries where (occurred_at, id) > ($1, $2) order by occurred_at, id limit $3",
    ).bind(time.millis()).bind(id.uuid()).bind(i64::try_from(limit).unwrap_or(i64::MAX)).fetch_all(conn).await)?;
    rows.into_iter().map(ChangeEvent::try_from).collect()
}

/// Returns the last entry of a time.
pub(crate) async fn last_at(tx: &mut Tx, time: Timestamp) -> Result<Option<AuditId>, Error> {
    let id: Option<Uuid> = on_conn!(tx, conn => sqlx::query_scalar(
        "select id from audit_entries where occurred_at = $1 order by id desc limit 1",
    ).bind(time.millis()).fetch_optional(conn).await)?;
    Ok(id.map(AuditId::new))
}

/// Returns the newest entry that a user caused since a time, without those of the user's tokens. Of entries about
/// accounts, only those about changes of roles count.
pub(crate) async fn newest_by(
    tx: &mut Tx,
    actor: UserId,
    since: Timestamp,
) -> Result<Option<AuditRecord>, Error> {
    let row: Option<AuditRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", columns!(), "
         from audit_entries
         where occurred_at >= $1 and (not about_accounts or action = 'USER_UPDATED') and actor_id = $2
           and actor_token_id is null
         order by occurred_at desc, id desc limit 1",
    )).bind(since.millis()).bind(actor.uuid()).fetch_optional(conn).await)?;
    row.map(AuditRecord::try_from).transpose()
}

/// Returns the time of the newest entry. Entries about accounts count only if `accounts` is true.
pub(crate) async fn newest(tx: &mut Tx, accounts: bool) -> Result<Option<Timestamp>, Error> {
    let query = if accounts {
        "select max(occurred_at) from audit_entries"
    } else {
        "select max(occurred_at) from audit_entries where not about_accounts"
    };
    let newest: Option<i64> =
        on_conn!(tx, conn => sqlx::query_scalar(query).fetch_one(conn).await)?;
    Ok(newest.map(Timestamp::from_millis))
}

impl TryFrom<ChangeRow> for ChangeEvent {
    type Error = Error;

    fn try_from(row: ChangeRow) -> Result<Self, Error> {
        let action = AuditAction::parse(&row.action)
            .map_err(|problem| bad_row("audit_entries", row.id, problem))?;
        Ok(Self {
            id: AuditId::new(row.id),
            action,
            actor: row.actor_identity,
            occurred_at: Timestamp::from_millis(row.occurred_at),
            flag: row.flag_key,
            environment: row.environment_id.map(EnvironmentId::new),
            product: row.product,
            environment_name: row.environment,
            user: row.user_id.map(UserId::new),
            request: row.request_id.as_deref().map(RequestId::new),
        })
    }
}

impl TryFrom<AuditRow> for AuditRecord {
    type Error = Error;

    fn try_from(row: AuditRow) -> Result<Self, Error> {
        let action = AuditAction::parse(&row.action)
            .map_err(|problem| bad_row("audit_entries", row.id, problem))?;
        let entry = AuditEntry {
            id: AuditId::new(row.id),
            group_id: AuditId::new(row.group_id),
            action,
            actor_identity: row.actor_identity,
            occurred_at: Timestamp::from_millis(row.occurred_at),
            reason: row.reason.map(ChangeReason::stored),
            flag_key: row.flag_key,
            environment: row.environment,
            product: row.product,
            old_value: row.old_value.map(|Json(value)| value),
            new_value: row.new_value.map(|Json(value)| value),
        };
        Ok(Self {
            entry,
            flag: row.flag_id.map(FlagId::new),
            environment: row.environment_id.map(EnvironmentId::new),
            rule: row.rule_id.map(RuleId::new),
        })
    }
}
