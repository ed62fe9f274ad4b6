//! The audit log.

use pennon_model::audit::{AuditAction, AuditEntry};
use pennon_model::id::{AuditId, EnvironmentId, FlagId, RuleId, TokenId, UserId};
use pennon_model::page::{Page, PageRequest};
use pennon_model::time::Timestamp;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Tx, bad_row, bindable, on_conn};
use crate::error::Error;
use crate::service::news::News;

/// The ids of all that an entry speaks of, which stay true when names change.
#[derive(Clone, Copy, Default)]
pub(crate) struct Concerned {
    pub(crate) actor: Option<UserId>,
    /// The token by which the actor came.
    pub(crate) actor_token: Option<TokenId>,
    pub(crate) flag: Option<FlagId>,
    pub(crate) environment: Option<EnvironmentId>,
    pub(crate) rule: Option<RuleId>,
    pub(crate) user: Option<UserId>,
    pub(crate) token: Option<TokenId>,
}

/// Which entries to list; every filter compares exactly, and times count inclusively.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuditFilter {
    pub(crate) flag_key: Option<String>,
    pub(crate) environment: Option<String>,
    /// The product of the environment.
    pub(crate) product: Option<String>,
    pub(crate) from: Option<Timestamp>,
    pub(crate) to: Option<Timestamp>,
    /// Whether to list also what is about accounts.
    pub(crate) accounts: bool,
}

/// An entry with the ids of what it speaks of.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) entry: AuditEntry,
    pub(crate) flag: Option<FlagId>,
    pub(crate) environment: Option<EnvironmentId>,
    pub(crate) rule: Option<RuleId>,
}

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
    flag_id: Option<Uuid>,
    environment_id: Option<Uuid>,
    rule_id: Option<Uuid>,
}

/// Adds an entry.
pub(crate) async fn insert(
    tx: &mut Tx,
    entry: &AuditEntry,
    concerned: Concerned,
) -> Result<(), Error> {
    let group = tx.audit_group(entry.id);
    on_conn!(tx, conn => sqlx::query(
        "insert into audit_entries (id, action, actor_identity, occurred_at, flag_key, environment, product,
                                    old_value, new_value, actor_id, actor_token_id, flag_id, environment_id, rule_id,
                                    user_id, token_id, about_accounts, group_id)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
    )
    .bind(entry.id.uuid())
    .bind(entry.action.as_str())
    .bind(&entry.actor_identity)
    .bind(entry.occurred_at.millis())
    .bind(&entry.flag_key)
    .bind(&entry.environment)
    .bind(&entry.product)
    .bind(entry.old_value.as_ref().map(Json))
    .bind(entry.new_value.as_ref().map(Json))
    .bind(concerned.actor.map(UserId::uuid))
    .bind(concerned.actor_token.map(TokenId::uuid))
    .bind(concerned.flag.map(FlagId::uuid))
    .bind(concerned.environment.map(EnvironmentId::uuid))
    .bind(concerned.rule.map(RuleId::uuid))
    .bind(concerned.user.map(UserId::uuid))
    .bind(concerned.token.map(TokenId::uuid))
    .bind(entry.action.is_about_accounts())
    .bind(group.uuid())
    .execute(conn).await.map(drop))?;
    Ok(())
}

/// The two selects of a page. Conditions stand in their text only where they are asked for, because an index serves only
/// those queries that certainly are about it. A filter that is not set is null.
macro_rules! selects {
    ($accounts:literal, $flag:literal, $environment:literal) => {
        Selects {
            page: concat!(
                "select id, coalesce(group_id, id) as group_id, action, actor_identity, occurred_at, flag_key,
                        environment, product, old_value, new_value, flag_id, environment_id, rule_id
                 from audit_entries where ",
                selects!(@conditions $accounts, $flag, $environment),
                " order by occurred_at desc, id desc limit $6 offset $7"
            ),
            total: concat!(
                "select count(*) from audit_entries where ",
                selects!(@conditions $accounts, $flag, $environment),
            ),
        }
    };
    (@conditions $accounts:literal, $flag:literal, $environment:literal) => {
        concat!(
            $accounts, " and ", $flag, " and ", $environment,
            " and occurred_at >= $3 and occurred_at <= $4",
        )
    };
}

struct Selects {
    page: &'static str,
    total: &'static str,
}

impl AuditFilter {
    fn selects(&self) -> Selects {
        macro_rules! of_place {
            ($accounts:literal, $flag:literal) => {
                match (self.environment.is_some(), self.product.is_some()) {
                    (false, false) => selects!($accounts, $flag, "$2 is null and $5 is null"),
                    (true, false) => selects!($accounts, $flag, "environment = $2 and $5 is null"),
                    (false, true) => selects!($accounts, $flag, "$2 is null and product = $5"),
                    (true, true) => selects!($accounts, $flag, "environment = $2 and product = $5"),
                }
            };
        }
        match (self.accounts, self.flag_key.is_some()) {
            (false, false) => of_place!("not about_accounts", "$1 is null"),
            (false, true) => of_place!("not about_accounts", "flag_key = $1"),
            (true, false) => of_place!("true", "$1 is null"),
            (true, true) => of_place!("true", "flag_key = $1"),
        }
    }
}

/// One entry.
pub(crate) async fn find(tx: &mut Tx, id: AuditId) -> Result<Option<Recorded>, Error> {
    let row: Option<AuditRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, coalesce(group_id, id) as group_id, action, actor_identity, occurred_at, flag_key, environment,
                product, old_value, new_value, flag_id, environment_id, rule_id
         from audit_entries where id = $1",
    ).bind(id.uuid()).fetch_optional(conn).await)?;
    row.map(Recorded::try_from).transpose()
}

/// The entries that one action wrote, newest first; the newest `most` of them.
pub(crate) async fn group(tx: &mut Tx, id: AuditId, most: i64) -> Result<Vec<Recorded>, Error> {
    let rows: Vec<AuditRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, coalesce(group_id, id) as group_id, action, actor_identity, occurred_at, flag_key, environment,
                product, old_value, new_value, flag_id, environment_id, rule_id
         from audit_entries where group_id = $1 or id = $1 order by occurred_at desc, id desc limit $2",
    ).bind(id.uuid()).bind(most).fetch_all(conn).await)?;
    rows.into_iter().map(Recorded::try_from).collect()
}

/// One page of entries, newest first.
pub(crate) async fn list(
    tx: &mut Tx,
    filter: &AuditFilter,
    page: PageRequest,
) -> Result<Page<Recorded>, Error> {
    let selects = filter.selects();
    let from = filter.from.map_or(i64::MIN, Timestamp::millis);
    let to = filter.to.map_or(i64::MAX, Timestamp::millis);
    let rows: Vec<AuditRow> = on_conn!(tx, conn => sqlx::query_as(selects.page)
        .bind(bindable(filter.flag_key.as_ref()))
        .bind(bindable(filter.environment.as_ref()))
        .bind(from)
        .bind(to)
        .bind(bindable(filter.product.as_ref()))
        .bind(page.limit.get())
        .bind(page.offset())
        .fetch_all(conn).await)?;
    let total: i64 = on_conn!(tx, conn => sqlx::query_scalar(selects.total)
        .bind(bindable(filter.flag_key.as_ref()))
        .bind(bindable(filter.environment.as_ref()))
        .bind(from)
        .bind(to)
        .bind(bindable(filter.product.as_ref()))
        .fetch_one(conn).await)?;
    let items = rows
        .into_iter()
        .map(Recorded::try_from)
        .collect::<Result<_, _>>()?;
    Ok(page.page_of(items, total))
}

#[derive(sqlx::FromRow)]
struct NewsRow {
    id: Uuid,
    action: String,
    actor_identity: String,
    occurred_at: i64,
    flag_key: Option<String>,
    environment_id: Option<Uuid>,
    environment: Option<String>,
    user_id: Option<Uuid>,
}

/// The entries since then, oldest first, without the objects themselves.
pub(crate) async fn since(tx: &mut Tx, then: Timestamp) -> Result<Vec<News>, Error> {
    let rows: Vec<NewsRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, action, actor_identity, occurred_at, flag_key, environment_id, environment, user_id
         from audit_entries where occurred_at >= $1 order by occurred_at, id",
    ).bind(then.millis()).fetch_all(conn).await)?;
    rows.into_iter().map(News::try_from).collect()
}

/// When the newest entry was written, be it about accounts or not.
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

impl TryFrom<NewsRow> for News {
    type Error = Error;

    fn try_from(row: NewsRow) -> Result<Self, Error> {
        let action = AuditAction::parse(&row.action)
            .map_err(|problem| bad_row("audit_entries", row.id, problem))?;
        Ok(Self {
            id: AuditId::new(row.id),
            action,
            by: row.actor_identity,
            at: Timestamp::from_millis(row.occurred_at),
            flag: row.flag_key,
            environment: row.environment_id.map(EnvironmentId::new),
            environment_name: row.environment,
            user: row.user_id.map(UserId::new),
        })
    }
}

impl TryFrom<AuditRow> for Recorded {
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
