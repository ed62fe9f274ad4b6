//! Usage: what was counted in memory, brought to the database once a minute, and read from there.

mod reading;

use std::collections::HashMap;
use std::pin::pin;
use std::time::Duration;

use pennon_core::Reason;
use pennon_core::model::id::{EnvironmentId, FlagId};
use pennon_core::model::time::Timestamp;
use tokio::sync::Mutex;
use tokio::time::MissedTickBehavior;

pub(crate) use self::reading::{EnvironmentUsage, FlagUsage, Period, of_environment, of_flag};

use super::Service;
use crate::auth::sdk_environment::SdkEnvironment;
use crate::error::Error;
use crate::snapshot::{Counts, PollKind};
use crate::store;

/// How often counts are brought to the database.
const INTERVAL: Duration = Duration::from_mins(1);

/// How long the last counts may take before the service stops.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

/// How many counts are added in one transaction, so that writers of other things get their turn in between.
const BATCH: usize = 500;

const HOUR_MILLIS: i64 = 60 * 60 * 1000;
const DAY_MILLIS: i64 = 24 * HOUR_MILLIS;

/// How long hourly counts are kept, in days; also the longest period that can be asked for.
const KEEP_DAYS: i64 = 31;

/// What has been taken out of memory and is not in the database yet, because that was away.
#[derive(Default)]
pub(crate) struct Pending(Mutex<Sums>);

#[derive(Default)]
struct Sums {
    evaluations: HashMap<(EnvironmentId, FlagId, i64, Reason), u64>,
    polls: HashMap<(EnvironmentId, i64, PollKind), u64>,
    /// The hour in which old rows were last deleted.
    cleaned: Option<i64>,
}

/// What an application has counted by itself, evaluating without a request.
pub(crate) struct Report {
    pub(crate) flag_key: String,
    pub(crate) reason: Reason,
    pub(crate) count: u64,
}

impl Service {
    /// Brings what is counted to the database once a minute, until the service is about to stop. It is not to be cut off:
    /// counts of which nobody knows whether they arrived would be brought twice.
    pub async fn count(self) {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        let mut stopping = pin!(self.stopping());
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = &mut stopping => return,
            }
            if let Err(error) = self.bring_counts().await {
                tracing::warn!(%error, "usage is kept in memory for now");
            }
        }
    }

    /// Brings what is counted to the database now. What does not arrive there is kept for the next time.
    pub async fn bring_counts(&self) -> Result<(), Error> {
        let now = self.clock.now();
        let mut pending = self.pending_usage.0.lock().await;
        pending.add(self.snapshots.take_usage(), hour_of(now));
        while pending.bring_some(self, now).await? {}
        pending.clean(self, now).await
    }

    /// Brings the last counts, if that does not take long.
    pub(super) async fn bring_last_counts(&self) {
        let brought = tokio::time::timeout(LAST_PATIENCE, self.bring_counts()).await;
        if !matches!(brought, Ok(Ok(()))) {
            tracing::warn!("the last minute's usage could not be kept");
        }
    }
}

impl Sums {
    fn add(&mut self, counts: Counts, hour: i64) {
        for (environment, flag, reason, count) in counts.evaluations {
            let sum = self.evaluations.entry((environment, flag, hour, reason));
            add(sum.or_default(), count);
        }
        for (environment, kind, count) in counts.polls {
            add(
                self.polls.entry((environment, hour, kind)).or_default(),
                count,
            );
        }
    }

    /// Adds some of the sums to the database's, and tells whether there may be more.
    async fn bring_some(&mut self, service: &Service, now: Timestamp) -> Result<bool, Error> {
        let evaluations: Vec<_> = self.evaluations.keys().take(BATCH).copied().collect();
        let polls: Vec<_> = self.polls.keys().take(BATCH).copied().collect();
        if evaluations.is_empty() && polls.is_empty() {
            return Ok(false);
        }
        let mut tx = service.db.write().await?;
        for key in &evaluations {
            let count = self.evaluations.get(key).copied().unwrap_or_default();
            let (environment, flag, hour, reason) = *key;
            let seen = Timestamp::from_millis(now.millis().min(hour + HOUR_MILLIS - 1));
            let hour = Timestamp::from_millis(hour);
            store::usage::add_evaluations(&mut tx, environment, flag, hour, reason, count).await?;
            store::usage::flag_seen(&mut tx, environment, flag, seen).await?;
        }
        for key in &polls {
            let count = self.polls.get(key).copied().unwrap_or_default();
            let (environment, hour, kind) = *key;
            let seen = Timestamp::from_millis(now.millis().min(hour + HOUR_MILLIS - 1));
            let hour = Timestamp::from_millis(hour);
            store::usage::add_polls(&mut tx, environment, hour, kind, count).await?;
            store::usage::environment_seen(&mut tx, environment, seen).await?;
        }
        tx.commit().await?;
        for key in &evaluations {
            self.evaluations.remove(key);
        }
        for key in &polls {
            self.polls.remove(key);
        }
        Ok(true)
    }

    /// Deletes what is too old, once an hour.
    async fn clean(&mut self, service: &Service, now: Timestamp) -> Result<(), Error> {
        let hour = hour_of(now);
        if self.cleaned == Some(hour) {
            return Ok(());
        }
        let mut tx = service.db.write().await?;
        let oldest = Timestamp::from_millis(hour.saturating_sub(KEEP_DAYS * DAY_MILLIS));
        store::usage::forget_before(&mut tx, oldest).await?;
        tx.commit().await?;
        self.cleaned = Some(hour);
        Ok(())
    }
}

fn add(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}

/// Counts what an application has evaluated by itself. Flags that the environment does not have are passed over.
pub(crate) fn report(environment: &SdkEnvironment, reports: &[Report]) {
    for report in reports {
        environment
            .snapshot()
            .evaluated(&report.flag_key, report.reason, report.count);
    }
}

fn hour_of(now: Timestamp) -> i64 {
    now.millis() - now.millis().rem_euclid(HOUR_MILLIS)
}
