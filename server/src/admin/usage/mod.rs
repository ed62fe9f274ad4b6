//! Usage: counts in memory that are written to the database once a minute and read from it.

mod clients;
mod pending;
mod reading;

use std::pin::pin;
use std::time::Duration;

use pennon_model::time::Timestamp;
use pennon_model::usage::Outcome;
use tokio::sync::Mutex;
use tokio::time::{Instant, MissedTickBehavior};
use uuid::Uuid;

pub(crate) use self::clients::{EnvironmentClient, clients, outdated_clients};
use self::pending::{Sums, oldest_hour};
pub(crate) use self::reading::{
    EnvironmentUsage, FlagUsage, Period, key_last_used, of_environment, of_flag, polling,
};

use super::Admin;
use crate::error::Error;
use crate::evaluation::sdk_environment::{SdkEnvironment, SdkKey};
use crate::store;

/// The interval at which counts are written to the database.
const INTERVAL: Duration = Duration::from_mins(1);

/// The interval between deletions of old data.
const RETENTION_INTERVAL: Duration = Duration::from_hours(1);

/// The time limit for writing the last counts before the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

const MINUTE_MILLIS: i64 = 60 * 1000;
pub(super) const HOUR_MILLIS: i64 = 60 * MINUTE_MILLIS;

/// The number of days for which hourly counts are kept, which is also the longest period that a caller can request.
const KEEP_DAYS: i64 = 31;

/// The number of clients with the key of a public environment for each one that reports its usage.
const PUBLIC_CLIENTS_PER_REPORT: u64 = 10;

/// Counts that were taken out of memory and may not be in the database yet.
#[derive(Default)]
pub(crate) struct Pending(Mutex<Sums>);

/// The local evaluations of one flag that an application reports.
pub(crate) struct Report {
    pub(crate) flag_key: String,
    pub(crate) outcome: Outcome,
    pub(crate) count: u64,
}

/// The number of clients for which one reports its usage.
#[derive(Clone, Copy)]
pub(crate) struct Sampling(u64);

impl Sampling {
    /// Returns the sampling of the clients with this key.
    pub(crate) fn of(key: &SdkKey) -> Self {
        Self(if key.is_public() {
            PUBLIC_CLIENTS_PER_REPORT
        } else {
            1
        })
    }

    fn scale(self, count: u64) -> u64 {
        count.saturating_mul(self.0)
    }
}

impl Admin {
    /// Writes the counts to the database once a minute, and deletes old data once an hour, until the server stops. It
    /// must not be canceled: the counts being written might be stored or not.
    pub(crate) async fn run_usage_writer(&self, stopping: impl Future<Output = ()>) {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        let mut stopping = pin!(stopping);
        let mut is_kept = true;
        let mut retention = Retention::new(self.clock.now());
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                // Disabled while the database is unavailable, because an attempt after every report would fail.
                () = self.serving.snapshots.many_reports(), if is_kept => {}
                () = &mut stopping => return,
            }
            let kept = self.flush_usage().await;
            is_kept = kept.is_ok();
            if let Err(error) = kept {
                tracing::warn!(%error, "cannot write usage to the database; keeping it in memory");
            }
            retention.observe(self.clock.now());
            if is_kept && retention.is_due() {
                tokio::select! {
                    done = self.forget_old() => match done {
                        Ok(()) => retention.postpone(),
                        Err(error) => tracing::warn!(%error, "cannot delete old data from the database"),
                    },
                    () = &mut stopping => return,
                }
            }
        }
    }

    /// Writes the counts to the database now. Counts that cannot be written are kept for the next attempt.
    pub(crate) async fn flush_usage(&self) -> Result<(), Error> {
        let now = self.clock.now();
        let mut pending = self.pending_usage.0.lock().await;
        pending.add(self.serving.snapshots.take_usage(), now);
        while pending.flush_some(self, now).await? {}
        Ok(())
    }

    /// Deletes old counts and expired sessions from the database. Canceling it keeps the rest for the next call.
    /// Deletes nothing while this machine's clock is far from the database's: what is old by a wrong clock may be in
    /// use.
    pub(crate) async fn forget_old(&self) -> Result<(), Error> {
        if self.db.doubts_clock() {
            return Ok(());
        }
        let now = self.clock.now();
        let reports_before = now.plus_millis(-HOUR_MILLIS);
        store::retention::forget(&self.db, oldest_hour(now), reports_before).await?;
        self.forget_sessions().await
    }

    /// Writes the last counts within a time limit, if this process serves flags.
    pub(super) async fn flush_usage_at_shutdown(&self) {
        if !self.serving.snapshots.is_in_use() {
            return;
        }
        let flushed = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.flush_usage()).await;
        if !matches!(flushed, Ok(Ok(()))) {
            tracing::warn!("cannot write the last minute's usage to the database");
        }
    }
}

/// The times at which old data is deleted.
struct Retention {
    due_at: Instant,
    /// The last known time, by both clocks.
    last: (Instant, Timestamp),
}

impl Retention {
    fn new(now: Timestamp) -> Self {
        let instant = Instant::now();
        Self {
            due_at: instant,
            last: (instant, now),
        }
    }

    /// Records the current time. If the clock has jumped forward by over an hour since the last one, the next deletion is
    /// postponed, because the new time may be wrong.
    fn observe(&mut self, now: Timestamp) {
        let (instant, last) = self.last;
        let passed = i64::try_from(instant.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.last = (Instant::now(), now);
        let by_clock = now.millis().saturating_sub(last.millis());
        if by_clock.saturating_sub(passed) > HOUR_MILLIS {
            tracing::warn!("the clock has jumped forward; deleting no old data for an hour");
            self.postpone();
        }
    }

    /// Returns true if old data may be deleted now.
    fn is_due(&self) -> bool {
        self.due_at <= Instant::now()
    }

    /// Waits an hour until the next deletion.
    fn postpone(&mut self) {
        self.due_at = Instant::now() + RETENTION_INTERVAL;
    }
}

/// Counts the local evaluations of an application, once for each ID. Ignores flags that the environment does not have.
pub(crate) fn report(
    environment: &SdkEnvironment,
    sampling: Sampling,
    id: Option<Uuid>,
    reports: &[Report],
) -> Result<(), Error> {
    let snapshot = environment.snapshot();
    let Some(id) = id else {
        for report in reports {
            if let Some(flag) = snapshot.flag(&report.flag_key) {
                flag.count_reported(report.outcome, sampling.scale(report.count));
            }
        }
        return Ok(());
    };
    let counts = reports.iter().map(|report| {
        let count = sampling.scale(report.count);
        (report.flag_key.as_str(), report.outcome, count)
    });
    let is_kept = snapshot.record_report(id, counts);
    is_kept.then_some(()).ok_or(Error::Overloaded)
}

/// Returns the beginning of the hour.
pub(super) fn hour_of(now: Timestamp) -> Timestamp {
    now.plus_millis(-now.millis().rem_euclid(HOUR_MILLIS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_jumps_forward_postpones_the_deletion_of_old_data() {
        let mut now = Timestamp::from_millis(0);
        let mut retention = Retention::new(now);
        assert!(retention.is_due());
        retention.postpone();
        assert!(!retention.is_due());
        tokio::time::advance(RETENTION_INTERVAL).await;
        now = now.plus_millis(HOUR_MILLIS);
        retention.observe(now);
        assert!(retention.is_due(), "the clock and the time agree");
        now = now.plus_days(40);
        retention.observe(now);
        assert!(!retention.is_due());
        now = now.plus_days(-40);
        retention.observe(now);
        assert!(!retention.is_due(), "it was set back");
        tokio::time::advance(RETENTION_INTERVAL).await;
        assert!(retention.is_due());
    }
}
