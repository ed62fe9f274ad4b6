//! Usage: hourly counts, and the times of last use.

use std::collections::{BTreeSet, HashMap, HashSet};

use pennon_core::Reason;
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::time::Timestamp;
use pennon_model::usage::PollKind;
use sqlx::QueryBuilder;
use uuid::Uuid;

use super::{Tx, insert_rows, on_conn};
use crate::error::Error;

#[derive(sqlx::FromRow)]
struct FlagHoursRow {
    lineage_id: Uuid,
    reason: String,
    #[sqlx(flatten)]
    hours: Hours,
    reported: String,
    enabled: String,
    disabled: String,
}

/// The evaluations of a flag in an environment for a reason.
pub(crate) struct FlagHours {
    pub(crate) lineage: EnvironmentId,
    pub(crate) reason: String,
    /// The counts of hours, in no order.
    pub(crate) hours: Vec<HourCounts>,
}

/// The evaluations of an hour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HourCounts {
    /// The start of the hour, in milliseconds.
    pub(crate) hour: i64,
    pub(crate) evaluations: i64,
    /// The part of them that clients reported.
    pub(crate) reported: i64,
    /// The part of them that returned true, and the part that returned false. Both may be 0 if the reason implies the
    /// result.
    pub(crate) enabled: i64,
    pub(crate) disabled: i64,
}

/// Hours and counts, as two parallel lists in text form, because a row for each hour would cost more than its content.
#[derive(sqlx::FromRow)]
pub(super) struct Hours {
    hours: String,
    counts: String,
}

/// Gathers [`Hours`] from the rows of a group.
macro_rules! hours {
    () => {
        "string_agg(cast(hour as text), ' ') as hours, string_agg(cast(evaluations as text), ' ') as counts"
    };
}
pub(super) use hours;

/// Adds a number to a column of an existing row. The sum stops at 9 × 10¹⁸.
macro_rules! add_to {
    ($table:literal, $column:literal) => {
        concat!(
            $column,
            " = case when ",
            $table,
            ".",
            $column,
            " > 9000000000000000000 - excluded.",
            $column,
            " then 9000000000000000000 else ",
            $table,
            ".",
            $column,
            " + excluded.",
            $column,
            " end"
        )
    };
}

impl Hours {
    /// Returns the hours in milliseconds, in no order and possibly repeated, with their counts.
    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, i64)> {
        let pairs = self.hours.split(' ').zip(self.counts.split(' '));
        pairs.filter_map(|(hour, count)| Some((hour.parse().ok()?, count.parse().ok()?)))
    }
}

impl From<FlagHoursRow> for FlagHours {
    fn from(row: FlagHoursRow) -> Self {
        let parts = row.reported.split(' ').zip(row.enabled.split(' '));
        let parts = parts.zip(row.disabled.split(' '));
        let count = |part: &str| part.parse().unwrap_or_default();
        let hours = row.hours.iter().zip(parts);
        let hours =
            hours.map(
                |((hour, evaluations), ((reported, enabled), disabled))| HourCounts {
                    hour,
                    evaluations,
                    reported: count(reported),
                    enabled: count(enabled),
                    disabled: count(disabled),
                },
            );
        Self {
            lineage: EnvironmentId::new(row.lineage_id),
            hours: hours.collect(),
            reason: row.reason,
        }
    }
}

/// The evaluations of a flag within an hour, to be added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evaluations {
    pub(crate) lineage: EnvironmentId,
    pub(crate) flag: FlagId,
    pub(crate) hour: Timestamp,
    pub(crate) reason: Reason,
    pub(crate) count: u64,
    /// The part of `count` that clients reported.
    pub(crate) reported: u64,
    /// The part of `count` that returned true, and the part that returned false.
    pub(crate) enabled: u64,
    pub(crate) disabled: u64,
}

/// A flag in an environment, and an hour in milliseconds.
pub(crate) type FlagHour = (EnvironmentId, FlagId, i64);

/// The fetches of an environment's configuration within an hour, to be added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polls {
    pub(crate) lineage: EnvironmentId,
    pub(crate) hour: Timestamp,
    pub(crate) kind: PollKind,
    pub(crate) count: u64,
}

/// Records the batch with this ID; false if it was added before.
pub(crate) async fn begin_batch(tx: &mut Tx, id: Uuid, now: Timestamp) -> Result<bool, Error> {
    let rows = on_conn!(tx, conn => sqlx::query(
        "insert into usage_batches (id, brought_at) values ($1, $2) on conflict (id) do nothing",
    ).bind(id).bind(now.millis()).execute(conn).await.map(|done| done.rows_affected()))?;
    Ok(rows > 0)
}

/// Records that these reports are counted, and returns those that were not counted before.
///
/// The IDs are inserted in ascending order, so that two instances that insert the same ones wait for each other instead
/// of deadlocking.
pub(crate) async fn begin_reports(
    tx: &mut Tx,
    reports: &BTreeSet<(EnvironmentId, Uuid)>,
    now: Timestamp,
) -> Result<HashSet<(EnvironmentId, Uuid)>, Error> {
    if reports.is_empty() {
        return Ok(HashSet::new());
    }
    let rows: Vec<(Uuid, Uuid)> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new("insert into usage_reports (lineage_id, id, counted_at) ");
        query.push_values(reports, |mut row, (lineage, id)| {
            row.push_bind(lineage.uuid()).push_bind(*id).push_bind(now.millis());
        });
        query.push(" on conflict (lineage_id, id) do nothing returning lineage_id, id");
        query.build_query_as().persistent(false).fetch_all(conn).await
    })?;
    let new = rows.into_iter();
    Ok(new
        .map(|(lineage, id)| (EnvironmentId::new(lineage), id))
        .collect())
}

/// Returns the evaluations that clients have reported, where there are any. The caller must have the write lock for the
/// result to stay true.
pub(crate) async fn reported_evaluations(
    tx: &mut Tx,
    asked: &BTreeSet<FlagHour>,
) -> Result<HashMap<FlagHour, u64>, Error> {
    if asked.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<(Uuid, Uuid, i64, i64)> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new("with asked (lineage_id, flag_id, hour) as (");
        query.push_values(asked, |mut row, (lineage, flag, hour)| {
            row.push_bind(lineage.uuid()).push_bind(flag.uuid()).push_bind(*hour);
        });
        query.push(
            ") select lineage_id, flag_id, hour, cast(sum(counted.reported) as bigint)
             from asked join usage_hours counted using (lineage_id, flag_id, hour)
             group by lineage_id, flag_id, hour",
        );
        query.build_query_as().persistent(false).fetch_all(conn).await
    })?;
    let reported = |(lineage, flag, hour, count)| {
        let flag_hour = (EnvironmentId::new(lineage), FlagId::new(flag), hour);
        (flag_hour, u64::try_from(count).unwrap_or_default())
    };
    Ok(rows.into_iter().map(reported).collect())
}

/// Adds evaluations, also to the sums of each flag and of each environment. No two may have the same flag, environment,
/// hour and reason. Sums stop at a maximum instead of overflowing.
pub(crate) async fn add_evaluations(tx: &mut Tx, added: &[Evaluations]) -> Result<(), Error> {
    let mut of_flags: HashMap<(FlagId, i64), u64> = HashMap::new();
    let mut of_environments: HashMap<(EnvironmentId, i64), (u64, u64)> = HashMap::new();
    for one in added {
        let hour = one.hour.millis();
        let sum = of_flags.entry((one.flag, hour)).or_default();
        *sum = sum.saturating_add(one.count);
        let (count, reported) = of_environments.entry((one.lineage, hour)).or_default();
        *count = count.saturating_add(one.count);
        *reported = reported.saturating_add(one.reported);
    }
    insert_rows!(
        tx,
        "insert into usage_hours (lineage_id, flag_id, hour, reason, evaluations, reported, enabled, disabled) ",
        added,
        |row, one| row
            .push_bind(one.lineage.uuid())
            .push_bind(one.flag.uuid())
            .push_bind(one.hour.millis())
            .push_bind(one.reason.as_str())
            .push_bind(number(one.count))
            .push_bind(number(one.reported))
            .push_bind(number(one.enabled))
            .push_bind(number(one.disabled)),
        concat!(
            " on conflict (flag_id, lineage_id, hour, reason) do update set
             ",
            add_to!("usage_hours", "evaluations"),
            ", ",
            add_to!("usage_hours", "reported"),
            ", ",
            add_to!("usage_hours", "enabled"),
            ", ",
            add_to!("usage_hours", "disabled"),
        )
    )?;
    insert_rows!(
        tx,
        "insert into flag_hours (flag_id, hour, evaluations) ",
        &of_flags,
        |row, ((flag, hour), count)| row
            .push_bind(flag.uuid())
            .push_bind(*hour)
            .push_bind(number(*count)),
        concat!(
            " on conflict (flag_id, hour) do update set ",
            add_to!("flag_hours", "evaluations"),
        )
    )?;
    insert_rows!(
        tx,
        "insert into environment_hours (lineage_id, hour, evaluations, reported) ",
        &of_environments,
        |row, ((lineage, hour), (count, reported))| row
            .push_bind(lineage.uuid())
            .push_bind(*hour)
            .push_bind(number(*count))
            .push_bind(number(*reported)),
        concat!(
            " on conflict (lineage_id, hour) do update set ",
            add_to!("environment_hours", "evaluations"),
            ", ",
            add_to!("environment_hours", "reported"),
        )
    )
}

/// Records the last evaluation of flags in environments.
pub(crate) async fn record_last_evaluations(
    tx: &mut Tx,
    seen: &HashMap<(EnvironmentId, FlagId), Timestamp>,
) -> Result<(), Error> {
    insert_rows!(
        tx,
        "insert into flags_last_seen (flag_id, lineage_id, evaluated_at) ",
        seen,
        |row, ((lineage, flag), at)| row
            .push_bind(flag.uuid())
            .push_bind(lineage.uuid())
            .push_bind(at.millis()),
        " on conflict (flag_id, lineage_id) do update set evaluated_at = excluded.evaluated_at
         where flags_last_seen.evaluated_at < excluded.evaluated_at"
    )
}

/// Adds fetches of configurations. No two may have the same environment, hour and kind.
pub(crate) async fn add_polls(tx: &mut Tx, added: &[Polls]) -> Result<(), Error> {
    insert_rows!(
        tx,
        "insert into poll_hours (lineage_id, hour, kind, polls) ",
        added,
        |row, one| row
            .push_bind(one.lineage.uuid())
            .push_bind(one.hour.millis())
            .push_bind(one.kind.as_str())
            .push_bind(number(one.count)),
        " on conflict (lineage_id, hour, kind) do update set polls = poll_hours.polls + excluded.polls"
    )
}

/// Records the last poll of environments.
pub(crate) async fn record_last_polls(
    tx: &mut Tx,
    seen: &HashMap<EnvironmentId, Timestamp>,
) -> Result<(), Error> {
    insert_rows!(
        tx,
        "insert into environments_last_seen (lineage_id, polled_at) ",
        seen,
        |row, (lineage, at)| row.push_bind(lineage.uuid()).push_bind(at.millis()),
        " on conflict (lineage_id) do update set polled_at = excluded.polled_at
         where environments_last_seen.polled_at < excluded.polled_at"
    )
}

/// Returns the evaluations of a flag, by environment and reason, from one hour to another, inclusive.
pub(crate) async fn of_flag(
    tx: &mut Tx,
    flag: FlagId,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<FlagHours>, Error> {
    let rows: Vec<FlagHoursRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select lineage_id, reason, ", hours!(), ", string_agg(cast(reported as text), ' ') as reported,
                string_agg(cast(enabled as text), ' ') as enabled,
                string_agg(cast(disabled as text), ' ') as disabled
         from usage_hours
         where flag_id = $1 and hour >= $2 and hour <= $3 group by lineage_id, reason",
    )).bind(flag.uuid()).bind(from.millis()).bind(to.millis()).fetch_all(conn).await)?;
    Ok(rows.into_iter().map(FlagHours::from).collect())
}

/// Returns the time of the last evaluation of a flag in each environment.
pub(crate) async fn last_evaluations(
    tx: &mut Tx,
    flag: FlagId,
) -> Result<Vec<(EnvironmentId, Timestamp)>, Error> {
    let rows: Vec<(Uuid, i64)> = on_conn!(tx, conn => sqlx::query_as(
        "select lineage_id, evaluated_at from flags_last_seen where flag_id = $1",
    ).bind(flag.uuid()).fetch_all(conn).await)?;
    let seen = |(lineage, at)| (EnvironmentId::new(lineage), Timestamp::from_millis(at));
    Ok(rows.into_iter().map(seen).collect())
}

/// The evaluations of all flags in an environment within an hour: all, and those that clients reported.
#[derive(sqlx::FromRow)]
pub(crate) struct EnvironmentHour {
    pub(crate) hour: i64,
    pub(crate) evaluations: i64,
    pub(crate) reported: i64,
}

/// Returns the evaluations of all flags in an environment, by hour, from one hour to another, inclusive.
pub(crate) async fn of_environment(
    tx: &mut Tx,
    lineage: EnvironmentId,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<EnvironmentHour>, Error> {
    on_conn!(tx, conn => sqlx::query_as(
        "select hour, evaluations, reported from environment_hours
         where lineage_id = $1 and hour >= $2 and hour <= $3 order by hour",
    ).bind(lineage.uuid()).bind(from.millis()).bind(to.millis()).fetch_all(conn).await)
}

/// Returns the polls of an environment, by hour and kind, from one hour to another, inclusive.
pub(crate) async fn polls(
    tx: &mut Tx,
    lineage: EnvironmentId,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<(i64, PollKind, i64)>, Error> {
    let rows: Vec<(i64, String, i64)> = on_conn!(tx, conn => sqlx::query_as(
        "select hour, kind, polls from poll_hours
         where lineage_id = $1 and hour >= $2 and hour <= $3 order by hour, kind",
    ).bind(lineage.uuid()).bind(from.millis()).bind(to.millis()).fetch_all(conn).await)?;
    Ok(of_known_kind(rows))
}

/// Parses the kinds of polls. Leaves out those that only a newer release knows.
fn of_known_kind<T>(rows: Vec<(T, String, i64)>) -> Vec<(T, PollKind, i64)> {
    let known =
        |(of, kind, count): (T, String, i64)| Some((of, PollKind::parse(&kind).ok()?, count));
    rows.into_iter().filter_map(known).collect()
}

/// Returns the time of the last poll of an environment.
pub(crate) async fn last_poll(
    tx: &mut Tx,
    lineage: EnvironmentId,
) -> Result<Option<Timestamp>, Error> {
    let at: Option<i64> = on_conn!(tx, conn => sqlx::query_scalar(
        "select polled_at from environments_last_seen where lineage_id = $1",
    ).bind(lineage.uuid()).fetch_optional(conn).await)?;
    Ok(at.map(Timestamp::from_millis))
}

/// Returns the polls of each active environment, by kind, from one hour to another, inclusive.
pub(crate) async fn polls_of_active(
    tx: &mut Tx,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<(EnvironmentId, PollKind, i64)>, Error> {
    let rows: Vec<(Uuid, String, i64)> = on_conn!(tx, conn => sqlx::query_as(
        "select environment.id, hour.kind, cast(sum(hour.polls) as bigint)
         from environments environment
         join poll_hours hour on hour.lineage_id = coalesce(environment.lineage_id, environment.id)
         where environment.status = 'active' and hour.hour >= $1 and hour.hour <= $2
         group by environment.id, hour.kind",
    ).bind(from.millis()).bind(to.millis()).fetch_all(conn).await)?;
    let polls = of_known_kind(rows).into_iter();
    Ok(polls
        .map(|(id, kind, count)| (EnvironmentId::new(id), kind, count))
        .collect())
}

/// Returns the time of the last poll of each active environment.
pub(crate) async fn last_polls_of_active(
    tx: &mut Tx,
) -> Result<Vec<(EnvironmentId, Timestamp)>, Error> {
    let rows: Vec<(Uuid, i64)> = on_conn!(tx, conn => sqlx::query_as(
        "select environment.id, seen.polled_at from environments environment
         join environments_last_seen seen on seen.lineage_id = coalesce(environment.lineage_id, environment.id)
         where environment.status = 'active'",
    ).fetch_all(conn).await)?;
    let seen = |(id, at)| (EnvironmentId::new(id), Timestamp::from_millis(at));
    Ok(rows.into_iter().map(seen).collect())
}

/// Returns the time of the last evaluation of any flag in each active environment.
pub(crate) async fn active_last_evaluated(
    tx: &mut Tx,
) -> Result<Vec<(EnvironmentId, Timestamp)>, Error> {
    let rows: Vec<(Uuid, Option<i64>)> = on_conn!(tx, conn => sqlx::query_as(
        "select environment.id,
                (select max(seen.evaluated_at) from flags_last_seen seen
                 where seen.lineage_id = coalesce(environment.lineage_id, environment.id))
         from environments environment where environment.status = 'active'",
    ).fetch_all(conn).await)?;
    let rows = rows.into_iter();
    Ok(rows
        .filter_map(|(id, at)| Some((EnvironmentId::new(id), Timestamp::from_millis(at?))))
        .collect())
}

/// Returns the time of the last evaluation of any flag in an environment.
pub(crate) async fn last_evaluated_in(
    tx: &mut Tx,
    lineage: EnvironmentId,
) -> Result<Option<Timestamp>, Error> {
    let at: Option<i64> = on_conn!(tx, conn => sqlx::query_scalar(
        "select max(evaluated_at) from flags_last_seen where lineage_id = $1",
    ).bind(lineage.uuid()).fetch_one(conn).await)?;
    Ok(at.map(Timestamp::from_millis))
}

/// Converts a count to the type of its column.
pub(super) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use sqlx::Connection as _;

    use super::super::{Db, Open, OpenMode};
    use super::*;

    fn kept_statements(tx: &Tx) -> usize {
        match &tx.open {
            Open::Sqlite(tx) => tx.cached_statements_size(),
            Open::Postgres(_) => unreachable!("the database is a file"),
        }
    }

    #[tokio::test]
    async fn statements_of_any_length_are_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pennon.db");
        let url = format!("sqlite://{}", file.display());
        let db = Db::open(&url, OpenMode::Serve(Uuid::nil())).await.unwrap();
        let mut tx = db.write().await.unwrap();
        let before = kept_statements(&tx);
        let hour = Timestamp::from_millis(0);
        let one = |number| Evaluations {
            lineage: EnvironmentId::new(Uuid::nil()),
            flag: FlagId::new(Uuid::from_u128(number)),
            hour,
            reason: Reason::FlagEnabled,
            count: 1,
            reported: 0,
            enabled: 1,
            disabled: 0,
        };
        for length in 1..=20 {
            let added: Vec<Evaluations> = (0..length).map(one).collect();
            let seen = added.iter().map(|one| ((one.lineage, one.flag), hour));
            record_last_evaluations(&mut tx, &seen.collect())
                .await
                .unwrap();
            add_evaluations(&mut tx, &added).await.unwrap();
        }
        assert_eq!(kept_statements(&tx), before);
    }
}
