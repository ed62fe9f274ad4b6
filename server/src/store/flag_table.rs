//! Queries for the flag list: by state, by last use, and for stale flags. The views `flag_table` and `flag_states`
//! define these terms.

use std::collections::HashMap;

use pennon_model::flag_table::{FlagState, StaleReason};
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::time::Timestamp;
use sqlx::QueryBuilder;
use uuid::Uuid;

use super::query::{QueryParts, push_one_of};
use super::usage::{Hours, hours};
use super::{Tx, bindable, on_conn};
use crate::error::Error;

/// The times that make a flag stale: it has expired `now`, or nobody has changed it since `unchanged`, and either no
/// application has requested it since `unused`, or it gives everyone the same result everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StaleSince {
    pub(crate) now: Timestamp,
    pub(crate) unchanged: Timestamp,
    pub(crate) unused: Timestamp,
}

/// The last use of a flag, and the reason that it is stale, if it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlagUse {
    /// The last evaluation, in the requested environment or in any.
    pub(crate) last_evaluated_at: Option<Timestamp>,
    pub(crate) stale: Option<StaleReason>,
}

#[derive(sqlx::FromRow)]
struct UseRow {
    id: Uuid,
    last_evaluated_at: Option<i64>,
    is_stale: bool,
    is_expired: bool,
    is_unused: bool,
}

#[derive(sqlx::FromRow)]
struct HoursRow {
    flag_id: Uuid,
    #[sqlx(flatten)]
    hours: Hours,
}

/// A condition on `flag_table` and `since`: applications have requested other flags, but not this one. If no
/// application has requested any flag, all of them may evaluate locally without reports, so the use of flags is
/// unknown.
macro_rules! unused {
    () => {
        "((evaluated_at is null or evaluated_at < since.unused) and since.are_used)"
    };
}

/// A condition on `flag_table` and `since`: the flag has expired.
macro_rules! expired {
    () => {
        "(expires_at is not null and expires_at <= since.present)"
    };
}

/// A condition on `flag_table`: the flag gives everyone the same result, and its kind is not one of those that do so
/// for years.
macro_rules! constant {
    () => {
        "(is_constant and (kind is null or kind not in ('kill_switch', 'operational', 'permission')))"
    };
}

/// A condition on `flag_table` and `since`: the flag is stale.
macro_rules! stale {
    () => {
        concat!(
            "(archived_at is null and (",
            expired!(),
            " or created_at < since.unchanged and (",
            constant!(),
            " or ",
            unused!(),
            ")
              and not exists (select 1 from audit_entries changes
                              where changes.flag_key = flags.key and changes.occurred_at >= since.unchanged)))"
        )
    };
}

/// The condition of [`stale!`].
pub(super) const STALE: &str = stale!();

/// Begins a query with `since`, a table of one row.
pub(super) fn push_since(query: &mut impl QueryParts, since: StaleSince) {
    query.push("with since (present, unchanged, unused, are_used) as (select ");
    query.push_bind(since.now.millis()).push(", ");
    query.push_bind(since.unchanged.millis()).push(", ");
    query.push_bind(since.unused.millis());
    query.push(", exists (select 1 from flags used where used.evaluated_at >= ");
    query.push_bind(since.unused.millis()).push(")) ");
}

/// Appends a condition on the state of flags in an environment or in any of a product's, if one is requested.
pub(super) fn push_state(
    query: &mut impl QueryParts,
    product: Option<&String>,
    environment: Option<EnvironmentId>,
    state: Option<FlagState>,
) {
    let product = bindable(product);
    match (environment, state) {
        (None, None) => {}
        (None, Some(state)) if product.is_none() => {
            query.push(match state {
                FlagState::On => " and on_count > 0",
                FlagState::Partly => " and partly_count > 0",
                FlagState::Off => " and off_count > 0",
            });
        }
        (environment, state) => {
            query.push(" and flags.id in (select flag_states.flag_id from flag_states where true");
            if let (Some(product), None) = (product, environment) {
                query
                    .push(" and flag_states.environment_id in (select id from environments where product = ")
                    .push_bind(product)
                    .push(")");
            }
            if let Some(environment) = environment {
                query
                    .push(" and flag_states.environment_id = ")
                    .push_bind(environment.uuid());
            }
            if let Some(state) = state {
                query
                    .push(" and flag_states.state = ")
                    .push_bind(state.as_str());
            }
            query.push(")");
        }
    }
}

/// Appends the last evaluation of a flag, in one environment or in all.
pub(super) fn push_last_evaluated(query: &mut impl QueryParts, environment: Option<EnvironmentId>) {
    let Some(environment) = environment else {
        query.push("evaluated_at");
        return;
    };
    query
        .push(
            "(select seen.evaluated_at from flags_last_seen seen where seen.flag_id = flags.id
                and seen.lineage_id = (select coalesce(lineage_id, id) from environments where id = ",
        )
        .push_bind(environment.uuid())
        .push("))");
}

/// Returns the use of each of these flags, in one environment or in any.
pub(crate) async fn uses(
    tx: &mut Tx,
    flags: &[FlagId],
    environment: Option<EnvironmentId>,
    since: StaleSince,
) -> Result<HashMap<FlagId, FlagUse>, Error> {
    if flags.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<UseRow> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new("");
        push_since(&mut query, since);
        query.push("select id, ");
        push_last_evaluated(&mut query, environment);
        query.push(concat!(
            " as last_evaluated_at, ", stale!(), " as is_stale, ", expired!(), " as is_expired, ", unused!(), " as is_unused
             from flag_table flags cross join since where id ",
        ));
        push_one_of(&mut query, flags.iter().copied().map(FlagId::uuid));
        query.build_query_as().fetch_all(conn).await
    })?;
    let used = |row: UseRow| {
        let reason = match (row.is_expired, row.is_unused) {
            (true, _) => StaleReason::Expired,
            (false, true) => StaleReason::Unused,
            (false, false) => StaleReason::Constant,
        };
        let used = FlagUse {
            last_evaluated_at: row.last_evaluated_at.map(Timestamp::from_millis),
            stale: row.is_stale.then_some(reason),
        };
        (FlagId::new(row.id), used)
    };
    Ok(rows.into_iter().map(used).collect())
}

/// Returns the evaluations of each of these flags since an hour, in one environment or in all together: hours in
/// milliseconds, in no order, with the number of evaluations in each.
pub(crate) async fn hours(
    tx: &mut Tx,
    flags: &[FlagId],
    environment: Option<EnvironmentId>,
    from: Timestamp,
) -> Result<HashMap<FlagId, Vec<(i64, i64)>>, Error> {
    if flags.is_empty() {
        return Ok(HashMap::new());
    }
    let table = match environment {
        Some(_) => "usage_hours where flag_id ",
        None => "flag_hours where flag_id ",
    };
    let rows: Vec<HoursRow> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new(concat!("select flag_id, ", hours!(), " from "));
        query.push(table);
        push_one_of(&mut query, flags.iter().copied().map(FlagId::uuid));
        if let Some(environment) = environment {
            query.push(" and lineage_id = (select coalesce(lineage_id, id) from environments where id = ");
            query.push_bind(environment.uuid()).push(")");
        }
        query.push(" and hour >= ").push_bind(from.millis());
        query.push(" group by flag_id");
        query.build_query_as().fetch_all(conn).await
    })?;
    let hours = |row: HoursRow| (FlagId::new(row.flag_id), row.hours.iter().collect());
    Ok(rows.into_iter().map(hours).collect())
}
