//! Targeting rules.

use pennon_core::rule::{Condition, Logic, Rule};
use pennon_model::id::{EnvironmentId, FlagId, RuleId};
use pennon_model::targeting::TargetingRule;
use pennon_model::time::Timestamp;
use sqlx::QueryBuilder;
use sqlx::types::Json;
use uuid::Uuid;

use super::batch::ROWS;
use super::query::push_one_of;
use super::{Tx, bad_row, insert_rows, on_conn, unless_taken};
use crate::error::{Conflict, Error};

#[derive(sqlx::FromRow)]
struct RuleRow {
    id: Uuid,
    flag_id: Uuid,
    environment_id: Uuid,
    priority: i64,
    logic: String,
    value: bool,
    conditions: String,
    created_at: i64,
    updated_at: i64,
    revision: i64,
}

/// The columns of a [`RuleRow`].
macro_rules! columns {
    () => {
        "id, flag_id, environment_id, priority, logic, value, cast(conditions as text) as conditions, created_at,
         updated_at, revision"
    };
}

/// Adds a rule.
pub(crate) async fn insert(tx: &mut Tx, rule: &TargetingRule) -> Result<(), Error> {
    let is_inserted = on_conn!(tx, conn => unless_taken(sqlx::query(
        "insert into rules (id, flag_id, environment_id, priority, logic, value, conditions, created_at, updated_at,
                            revision)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(rule.id.uuid())
    .bind(rule.flag_id.uuid())
    .bind(rule.environment_id.uuid())
    .bind(i64::from(rule.rule.priority.get()))
    .bind(rule.rule.logic.as_str())
    .bind(rule.rule.value)
    .bind(Json(&rule.rule.conditions))
    .bind(rule.created_at.millis())
    .bind(rule.updated_at.millis())
    .bind(rule.revision)
    .execute(conn).await))?;
    is_inserted
        .then_some(())
        .ok_or_else(|| Conflict::PriorityTaken.into())
}

/// Returns one rule, unless the configuration that it belongs to is hidden.
pub(crate) async fn find(tx: &mut Tx, id: RuleId) -> Result<Option<TargetingRule>, Error> {
    let row: Option<RuleRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", columns!(), " from rules where id = $1
           and exists (select 1 from flag_environments configured where configured.flag_id = rules.flag_id
                       and configured.environment_id = rules.environment_id and not configured.is_hidden)",
    )).bind(id.uuid()).fetch_optional(conn).await)?;
    row.map(TargetingRule::try_from).transpose()
}

/// Stores a replaced rule.
pub(crate) async fn update(tx: &mut Tx, rule: &TargetingRule) -> Result<(), Error> {
    let is_updated = on_conn!(tx, conn => unless_taken(sqlx::query(
        "update rules set priority = $2, logic = $3, value = $4, conditions = $5, updated_at = $6,
                          revision = revision + 1
         where id = $1",
    )
    .bind(rule.id.uuid())
    .bind(i64::from(rule.rule.priority.get()))
    .bind(rule.rule.logic.as_str())
    .bind(rule.rule.value)
    .bind(Json(&rule.rule.conditions))
    .bind(rule.updated_at.millis())
    .execute(conn).await))?;
    is_updated
        .then_some(())
        .ok_or_else(|| Conflict::PriorityTaken.into())
}

/// Frees a rule's priority for another rule, until [`update`] stores the rule with a new one.
pub(crate) async fn set_aside(tx: &mut Tx, id: RuleId) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("update rules set priority = -priority where id = $1")
        .bind(id.uuid()).execute(conn).await.map(drop))
}

/// Deletes a rule.
pub(crate) async fn delete(tx: &mut Tx, id: RuleId) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("delete from rules where id = $1")
        .bind(id.uuid()).execute(conn).await.map(drop))
}

/// Returns the rules of a flag in an environment, by ascending priority.
pub(crate) async fn list(
    tx: &mut Tx,
    flag: FlagId,
    environment: EnvironmentId,
) -> Result<Vec<TargetingRule>, Error> {
    let rows: Vec<RuleRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", columns!(), " from rules where flag_id = $1 and environment_id = $2 order by priority",
    )).bind(flag.uuid()).bind(environment.uuid()).fetch_all(conn).await)?;
    rows.into_iter().map(TargetingRule::try_from).collect()
}

/// Returns the rules of these flags in an environment, by flag and ascending priority.
pub(crate) async fn of_flags(
    tx: &mut Tx,
    flags: &[FlagId],
    environment: EnvironmentId,
) -> Result<Vec<TargetingRule>, Error> {
    if flags.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<RuleRow> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new(concat!("select ", columns!(), " from rules where environment_id = "));
        query.push_bind(environment.uuid()).push(" and flag_id ");
        push_one_of(&mut query, flags.iter().copied().map(FlagId::uuid));
        query.push(" order by flag_id, priority");
        query.build_query_as().persistent(false).fetch_all(conn).await
    })?;
    rows.into_iter().map(TargetingRule::try_from).collect()
}

/// Returns the rules of all flags in an environment, also those of hidden configurations.
pub(crate) async fn of_environment(
    tx: &mut Tx,
    environment: EnvironmentId,
) -> Result<Vec<TargetingRule>, Error> {
    let rows: Vec<RuleRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", columns!(), " from rules where environment_id = $1 order by flag_id, priority",
    )).bind(environment.uuid()).fetch_all(conn).await)?;
    rows.into_iter().map(TargetingRule::try_from).collect()
}

/// Adds rules, many per statement.
pub(crate) async fn insert_all(tx: &mut Tx, rules: &[TargetingRule]) -> Result<(), Error> {
    for rules in rules.chunks(ROWS) {
        insert_rows!(
            tx,
            "insert into rules (id, flag_id, environment_id, priority, logic, value, conditions, created_at,
                                updated_at, revision) ",
            rules,
            |list, rule| {
                list.push_bind(rule.id.uuid())
                    .push_bind(rule.flag_id.uuid())
                    .push_bind(rule.environment_id.uuid())
                    .push_bind(i64::from(rule.rule.priority.get()))
                    .push_bind(rule.rule.logic.as_str())
                    .push_bind(rule.rule.value)
                    .push_bind(Json(&rule.rule.conditions))
                    .push_bind(rule.created_at.millis())
                    .push_bind(rule.updated_at.millis())
                    .push_bind(rule.revision)
            },
            ""
        )?;
    }
    Ok(())
}

/// Returns the rules of an environment that were changed last, of all flags.
pub(crate) async fn newest(
    tx: &mut Tx,
    environment: EnvironmentId,
) -> Result<Vec<TargetingRule>, Error> {
    let rows: Vec<RuleRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", columns!(), " from rules where environment_id = $1
           and not exists (select 1 from flag_environments configured where configured.flag_id = rules.flag_id
                           and configured.environment_id = rules.environment_id and configured.is_hidden)
         order by updated_at desc limit 100",
    )).bind(environment.uuid()).fetch_all(conn).await)?;
    rows.into_iter().map(TargetingRule::try_from).collect()
}

/// Returns the rules of all flags in all active environments, by ascending priority.
pub(crate) async fn all(tx: &mut Tx) -> Result<Vec<TargetingRule>, Error> {
    let rows: Vec<RuleRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", columns!(), " from rules
         where environment_id in (select id from environments where status = 'active') order by priority",
    )).fetch_all(conn).await)?;
    rows.into_iter().map(TargetingRule::try_from).collect()
}

/// Returns the number of rules of a flag in an environment.
pub(crate) async fn count(
    tx: &mut Tx,
    flag: FlagId,
    environment: EnvironmentId,
) -> Result<i64, Error> {
    on_conn!(tx, conn => sqlx::query_scalar(
        "select count(*) from rules where flag_id = $1 and environment_id = $2",
    ).bind(flag.uuid()).bind(environment.uuid()).fetch_one(conn).await)
}

/// Reads a rule from its columns.
pub(super) fn rule(
    id: Uuid,
    priority: i64,
    logic: &str,
    value: bool,
    conditions: &str,
) -> Result<Rule, Error> {
    let bad = |problem| bad_row("rules", id, problem);
    let conditions: Vec<Condition> =
        serde_json::from_str(conditions).map_err(|problem| bad_row("rules", id, problem))?;
    Ok(Rule {
        priority: priority.try_into().map_err(bad)?,
        logic: Logic::parse(logic).map_err(bad)?,
        value,
        conditions,
    })
}

impl TryFrom<RuleRow> for TargetingRule {
    type Error = Error;

    fn try_from(row: RuleRow) -> Result<Self, Error> {
        Ok(Self {
            id: RuleId::new(row.id),
            flag_id: FlagId::new(row.flag_id),
            environment_id: EnvironmentId::new(row.environment_id),
            rule: rule(row.id, row.priority, &row.logic, row.value, &row.conditions)?,
            created_at: Timestamp::from_millis(row.created_at),
            updated_at: Timestamp::from_millis(row.updated_at),
            revision: row.revision,
        })
    }
}
