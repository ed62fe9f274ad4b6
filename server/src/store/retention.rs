//! The deletion of old usage data and expired sessions.

use pennon_model::time::Timestamp;

use super::{Db, on_conn};
use crate::error::Error;

/// The maximum number of rows to delete in one transaction. Other writers can write between two transactions.
const PORTION: i64 = 5_000;

/// Returns the statement that deletes a portion of the rows from before a time. The columns of `$key` are the primary
/// key. It is one text for both databases, neither of which limits a deletion itself.
macro_rules! delete_some {
    ($table:literal, $key:literal, $time:literal) => {
        concat!(
            "delete from ",
            $table,
            " where (",
            $key,
            ") in (select ",
            $key,
            " from ",
            $table,
            " where ",
            $time,
            " < $1 limit $2)"
        )
    };
}

/// The statements for what is kept as long as the counts of an hour.
const HOURLY: [&str; 7] = [
    delete_some!("usage_hours", "flag_id, lineage_id, hour, reason", "hour"),
    delete_some!("flag_hours", "flag_id, hour", "hour"),
    delete_some!("environment_hours", "lineage_id, hour", "hour"),
    delete_some!("poll_hours", "lineage_id, hour, kind", "hour"),
    delete_some!("client_hours", "lineage_id, hour, client", "hour"),
    delete_some!(
        "previous_key_clients",
        "environment_id, client",
        "last_seen_at"
    ),
    delete_some!("usage_batches", "id", "brought_at"),
];

const REPORTS: &str = delete_some!("usage_reports", "lineage_id, id", "counted_at");
const REFRESH_TOKENS: &str = delete_some!("refresh_tokens", "hash", "created_at");
const SESSIONS: &str = delete_some!("sessions", "id", "expires_at");

/// Deletes the counts of the hours before `hour` and the IDs of older batches, and the IDs of reports that were counted
/// before `reports_before`. The rows of a day can take many seconds, so this uses many short transactions.
pub(crate) async fn forget(
    db: &Db,
    hour: Timestamp,
    reports_before: Timestamp,
) -> Result<(), Error> {
    for statement in HOURLY {
        delete_all(db, statement, hour).await?;
    }
    delete_all(db, REPORTS, reports_before).await
}

/// Deletes the refresh tokens that were created before `tokens_before`, and the sessions that expired before
/// `expired_before`. Deleting a session deletes its tokens, which can be thousands. `tokens_before` must be late enough
/// that they are deleted before.
pub(crate) async fn forget_sessions(
    db: &Db,
    expired_before: Timestamp,
    tokens_before: Timestamp,
) -> Result<(), Error> {
    delete_all(db, REFRESH_TOKENS, tokens_before).await?;
    delete_all(db, SESSIONS, expired_before).await
}

/// Executes a statement until no row is left for it.
async fn delete_all(db: &Db, statement: &'static str, before: Timestamp) -> Result<(), Error> {
    loop {
        let mut tx = db.write().await?;
        let deleted = on_conn!(&mut tx, conn => sqlx::query(statement)
            .bind(before.millis()).bind(PORTION)
            .execute(conn).await.map(|done| done.rows_affected()))?;
        tx.commit().await?;
        if deleted < PORTION.unsigned_abs() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::store::OpenMode;

    #[tokio::test]
    async fn others_can_write_while_old_counts_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pennon.db");
        let url = format!("sqlite://{}", file.display());
        let db = Db::open(&url, OpenMode::Serve(Uuid::nil())).await.unwrap();
        let mut tx = db.write().await.unwrap();
        on_conn!(&mut tx, conn => sqlx::query(
            "with recursive series (i) as (select 1 union all select i + 1 from series where i < 12000)
             insert into flag_hours (flag_id, hour, evaluations) select randomblob(16), i, 1 from series",
        ).execute(conn).await.map(drop)).unwrap();
        tx.commit().await.unwrap();
        let (old, cleaned) = (Timestamp::from_millis(11_000), db.clone());
        let deleting = tokio::spawn(async move { forget(&cleaned, old, old).await });
        let mut counts = Vec::new();
        while !deleting.is_finished() {
            let mut tx = db.write().await.unwrap();
            let count: i64 =
                on_conn!(&mut tx, conn => sqlx::query_scalar("select count(*) from flag_hours")
                .fetch_one(conn).await)
                .unwrap();
            counts.push(count);
        }
        deleting.await.unwrap().unwrap();
        for between in [7_000, 2_000, 1_001] {
            assert!(counts.contains(&between), "{counts:?}");
        }
    }
}
