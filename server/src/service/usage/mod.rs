//! Usage: what was counted in memory, brought to the database once a minute, and read from there.

mod reading;

use std::collections::HashMap;
use std::hash::Hash;
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
use crate::store::usage::{Evaluations, Polls};

/// How often counts are brought to the database.
const INTERVAL: Duration = Duration::from_mins(1);

/// How long the last counts may take before the service stops.
const LAST_PATIENCE: Duration = Duration::from_secs(3);

/// How many counts are added in one transaction, so that writers of other things get their turn in between.
const BATCH: usize = 1000;

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
        let (evaluations, polls) = self.some();
        if evaluations.is_empty() && polls.is_empty() {
            return Ok(false);
        }
        let seen = |hour: Timestamp| {
            Timestamp::from_millis(now.millis().min(hour.millis() + HOUR_MILLIS - 1))
        };
        let (mut flags, mut environments) = (HashMap::new(), HashMap::new());
        for one in &evaluations {
            note(&mut flags, (one.lineage, one.flag), seen(one.hour));
        }
        for one in &polls {
            note(&mut environments, one.lineage, seen(one.hour));
        }
        let mut tx = service.db.write().await?;
        store::usage::add_evaluations(&mut tx, &evaluations).await?;
        store::usage::flags_seen(&mut tx, &flags).await?;
        store::usage::add_polls(&mut tx, &polls).await?;
        store::usage::environments_seen(&mut tx, &environments).await?;
        tx.commit().await?;
        for Evaluations {
            lineage,
            flag,
            hour,
            reason,
            ..
        } in evaluations
        {
            self.evaluations
                .remove(&(lineage, flag, hour.millis(), reason));
        }
        for one in polls {
            self.polls
                .remove(&(one.lineage, one.hour.millis(), one.kind));
        }
        Ok(true)
    }

    /// As many sums as one transaction is to have.
    fn some(&self) -> (Vec<Evaluations>, Vec<Polls>) {
        let evaluations = self.evaluations.iter().take(BATCH);
        let evaluations = evaluations.map(|((lineage, flag, hour, reason), count)| Evaluations {
            lineage: *lineage,
            flag: *flag,
            hour: Timestamp::from_millis(*hour),
            reason: *reason,
            count: *count,
        });
        let polls = self.polls.iter().take(BATCH);
        let polls = polls.map(|((lineage, hour, kind), count)| Polls {
            lineage: *lineage,
            hour: Timestamp::from_millis(*hour),
            kind: *kind,
            count: *count,
        });
        (evaluations.collect(), polls.collect())
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

/// Notes the latest of the times at which something was seen.
fn note<K: Eq + Hash>(seen: &mut HashMap<K, Timestamp>, key: K, at: Timestamp) {
    let latest = seen.entry(key).or_insert(at);
    if latest.millis() < at.millis() {
        *latest = at;
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
