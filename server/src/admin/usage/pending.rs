//! Usage that waits to be written to the database, which may be unavailable.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::Hash;

use pennon_core::Reason;
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::time::Timestamp;
use pennon_model::usage::{Outcome, PollKind};
use uuid::Uuid;

use super::clients::{self, ClientSums};
use super::{HOUR_MILLIS, KEEP_DAYS, hour_of};
use crate::admin::{Admin, previous_keys};
use crate::error::Error;
use crate::snapshot::{ClientCounts, Counts, Origin, UsageReport};
use crate::store::usage::{Evaluations, FlagHour, Polls};
use crate::store::{self, Tx};

/// The number of counts to add in one transaction. Other writers can write between two transactions.
const BATCH: usize = 1000;

/// The maximum number of reports to add in one transaction.
const REPORTS: usize = 250;

/// The maximum number of counts of one kind to keep while the database is unavailable. Beyond it, the oldest hours are
/// merged into one.
const MOST: usize = 100_000;

/// The maximum number of evaluations of a flag in an environment that are counted from the reports of an hour, twice
/// the maximum of a single count. Anyone with an SDK key can forge reports.
const MAX_REPORTED: u64 = 2_000_000_000;

/// The evaluations that are counted together within an hour.
type EvaluationKey = (EnvironmentId, FlagId, Outcome, Origin);

/// Counts that were taken out of memory and may not be in the database yet.
#[derive(Default)]
pub(super) struct Sums {
    evaluations: Hourly<EvaluationKey>,
    polls: Hourly<(EnvironmentId, PollKind)>,
    clients: ClientSums,
    previous_keys: ClientSums,
    /// Reports with the hour in which they arrived. They are not summed until the database has recorded their IDs.
    reports: VecDeque<(i64, UsageReport)>,
    /// The batch that is being written. It stays unchanged until the commit is confirmed.
    batch: Option<UsageBatch>,
}

/// Counts that are written together, exactly once.
struct UsageBatch {
    id: Uuid,
    evaluations: Vec<(i64, EvaluationKey, u64)>,
    polls: Vec<Polls>,
    clients: Vec<(i64, EnvironmentId, ClientCounts)>,
    previous_keys: Vec<(i64, EnvironmentId, ClientCounts)>,
    reports: Vec<(i64, UsageReport)>,
}

impl Sums {
    pub(super) fn add(&mut self, counts: Counts, now: Timestamp) {
        let hour = hour_of(now).millis();
        for (key, count) in counts.evaluations {
            self.evaluations.add(hour, key, count);
        }
        for (environment, kind, count) in counts.polls {
            self.polls.add(hour, (environment, kind), count);
        }
        for (environment, clients) in counts.clients {
            self.clients.add(hour, environment, clients);
        }
        for (environment, clients) in counts.previous_keys {
            self.previous_keys.add(hour, environment, clients);
        }
        let reports = counts.reports.into_iter();
        self.reports.extend(reports.map(|report| (hour, report)));
        let oldest = oldest_hour(now).millis();
        self.evaluations.bound(oldest, MOST);
        self.polls.bound(oldest, MOST);
        self.clients.bound(oldest, MOST);
        self.previous_keys.bound(oldest, MOST);
    }

    /// Adds one batch of sums to those in the database, and returns true if more may remain.
    pub(super) async fn flush_some(
        &mut self,
        admin: &Admin,
        now: Timestamp,
    ) -> Result<bool, Error> {
        if self.batch.is_none() {
            self.batch = self.next_batch(admin, now);
        }
        let Some(batch) = &self.batch else {
            return Ok(false);
        };
        let mut tx = admin.db.write().await?;
        // If the batch exists, the response to its commit was lost.
        if store::usage::begin_batch(&mut tx, batch.id, now).await? {
            batch.add(&mut tx, now).await?;
            tx.commit().await?;
        }
        self.batch = None;
        Ok(true)
    }

    /// Takes the sums for the next transaction; none if none remain.
    fn next_batch(&mut self, admin: &Admin, now: Timestamp) -> Option<UsageBatch> {
        let evaluations = self.evaluations.take(BATCH);
        let polls = self.polls.take(BATCH).into_iter();
        let polls = polls.map(|(hour, (lineage, kind), count)| Polls {
            lineage,
            hour: Timestamp::from_millis(hour),
            kind,
            count,
        });
        let polls: Vec<_> = polls.collect();
        let clients = self.clients.take(BATCH);
        let previous_keys = self.previous_keys.take(BATCH);
        let reports = self.next_reports();
        let is_empty = evaluations.is_empty()
            && polls.is_empty()
            && clients.is_empty()
            && previous_keys.is_empty()
            && reports.is_empty();
        (!is_empty).then(|| UsageBatch {
            id: admin.entropy.id(now),
            evaluations,
            polls,
            clients,
            previous_keys,
            reports,
        })
    }

    /// Takes the next report, and up to [`REPORTS`] together as long as they have at most [`BATCH`] counts. The counts
    /// of several reports for the same flag and outcome are one, because they are added together.
    fn next_reports(&mut self) -> Vec<(i64, UsageReport)> {
        let mut counts = HashSet::new();
        let mut reports = Vec::new();
        while reports.len() < REPORTS
            && let Some((hour, report)) = self.reports.front()
        {
            let of_report = report.counts.iter();
            let keys = of_report.map(|(flag, outcome, _)| (*hour, report.lineage, *flag, *outcome));
            let added: HashSet<_> = keys.filter(|key| !counts.contains(key)).collect();
            if !reports.is_empty() && counts.len() + added.len() > BATCH {
                break;
            }
            counts.extend(added);
            reports.extend(self.reports.pop_front());
        }
        reports
    }
}

impl UsageBatch {
    async fn add(&self, tx: &mut Tx, now: Timestamp) -> Result<(), Error> {
        let seen = |hour: Timestamp| {
            Timestamp::from_millis(now.millis().min(hour.millis() + HOUR_MILLIS - 1))
        };
        let (mut flags, mut environments) = (HashMap::new(), HashMap::new());
        let evaluations = self.evaluations(tx, now).await?;
        for one in &evaluations {
            note(&mut flags, (one.lineage, one.flag), seen(one.hour));
        }
        for one in &self.polls {
            note(&mut environments, one.lineage, seen(one.hour));
        }
        store::usage::add_evaluations(tx, &evaluations).await?;
        store::usage::record_last_evaluations(tx, &flags).await?;
        store::usage::add_polls(tx, &self.polls).await?;
        clients::add(tx, &self.clients, seen).await?;
        previous_keys::add(tx, &self.previous_keys, seen).await?;
        store::usage::record_last_polls(tx, &environments).await
    }

    /// Returns the evaluations to add: those counted here, and those in reports that no instance has counted yet, as
    /// far as they are within the limit for reports.
    async fn evaluations(&self, tx: &mut Tx, now: Timestamp) -> Result<Vec<Evaluations>, Error> {
        let reports = self.reports.iter();
        let ids: BTreeSet<_> = reports
            .map(|(_, report)| (report.lineage, report.id))
            .collect();
        let mut new = store::usage::begin_reports(tx, &ids, now).await?;
        let mut sums = Hourly::default();
        for (hour, what, count) in &self.evaluations {
            sums.add(*hour, *what, *count);
        }
        for (hour, report) in &self.reports {
            // A second report with the same ID is not counted.
            if new.remove(&(report.lineage, report.id)) {
                for (flag, outcome, count) in &report.counts {
                    let key = (report.lineage, *flag, *outcome, Origin::Client);
                    sums.add(*hour, key, *count);
                }
            }
        }
        limited(tx, sums).await
    }
}

/// Returns the sums as rows to add. Of the evaluations that clients reported, those beyond the limit for a flag, an
/// environment and an hour are left out. Only this transaction writes to the database, so the limit holds for all
/// instances together.
async fn limited(tx: &mut Tx, sums: Hourly<EvaluationKey>) -> Result<Vec<Evaluations>, Error> {
    let keys = sums.0.keys();
    let reported: BTreeSet<FlagHour> = keys
        .filter(|(_, (.., origin))| *origin == Origin::Client)
        .map(|(hour, (lineage, flag, ..))| (*lineage, *flag, *hour))
        .collect();
    let mut reported = store::usage::reported_evaluations(tx, &reported).await?;
    let mut rows: HashMap<(FlagHour, Reason), Evaluations> = HashMap::new();
    for ((hour, (lineage, flag, outcome, origin)), count) in sums.0 {
        let flag_hour = (lineage, flag, hour);
        let added = match origin {
            Origin::Server => count,
            Origin::Client => {
                let before = reported.entry(flag_hour).or_default();
                let added = count.min(MAX_REPORTED.saturating_sub(*before));
                *before = before.saturating_add(added);
                added
            }
        };
        if added == 0 {
            continue;
        }
        let reason = outcome.reason();
        let row = rows.entry((flag_hour, reason)).or_insert(Evaluations {
            lineage,
            flag,
            hour: Timestamp::from_millis(hour),
            reason,
            count: 0,
            reported: 0,
            enabled: 0,
            disabled: 0,
        });
        row.count = row.count.saturating_add(added);
        match outcome.enabled() {
            Some(true) => row.enabled = row.enabled.saturating_add(added),
            Some(false) => row.disabled = row.disabled.saturating_add(added),
            None => {}
        }
        if origin == Origin::Client {
            row.reported = row.reported.saturating_add(added);
        }
    }
    Ok(rows.into_values().collect())
}

/// Sums by hour and key.
struct Hourly<K>(HashMap<(i64, K), u64>);

impl<K> Default for Hourly<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Copy + Eq + Hash> Hourly<K> {
    fn add(&mut self, hour: i64, what: K, count: u64) {
        let sum = self.0.entry((hour, what)).or_default();
        *sum = sum.saturating_add(count);
    }

    /// Drops counts before the hour `oldest`. While there are more than `limit`, adds the counts of the oldest hour to
    /// those of the next.
    fn bound(&mut self, oldest: i64, limit: usize) {
        self.0.retain(|(hour, _), _| *hour >= oldest);
        while self.0.len() > limit {
            let mut hours: BTreeSet<i64> = self.0.keys().map(|(hour, _)| *hour).collect();
            let (Some(first), Some(second)) = (hours.pop_first(), hours.pop_first()) else {
                return;
            };
            let moved = self.0.extract_if(|(hour, _), _| *hour == first);
            for ((_, what), count) in moved.collect::<Vec<_>>() {
                self.add(second, what, count);
            }
        }
    }

    /// Takes at most `limit` sums.
    fn take(&mut self, limit: usize) -> Vec<(i64, K, u64)> {
        let taken = self.0.extract_if(|_, _| true).take(limit);
        taken
            .map(|((hour, what), count)| (hour, what, count))
            .collect()
    }
}

/// Records the latest time at which a key was seen.
fn note<K: Eq + Hash>(seen: &mut HashMap<K, Timestamp>, key: K, at: Timestamp) {
    let latest = seen.entry(key).or_insert(at);
    *latest = at.max(*latest);
}

/// Returns the first hour whose counts are kept.
pub(super) fn oldest_hour(now: Timestamp) -> Timestamp {
    hour_of(now).plus_days(-KEEP_DAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(sums: &Hourly<char>) -> Vec<(i64, char, u64)> {
        let sums = sums.0.iter();
        let mut sums: Vec<_> = sums
            .map(|((hour, what), sum)| (*hour, *what, *sum))
            .collect();
        sums.sort_unstable();
        sums
    }

    #[test]
    fn of_too_many_sums_the_oldest_hours_become_one_and_nothing_is_lost() {
        let mut sums = Hourly::default();
        for (hour, what) in [(1, 'a'), (2, 'a'), (2, 'b'), (3, 'a'), (4, 'c')] {
            sums.add(hour, what, 10);
        }
        sums.bound(0, 5);
        assert_eq!(sums.0.len(), 5);
        sums.bound(0, 3);
        assert_eq!(sorted(&sums), [(3, 'a', 30), (3, 'b', 10), (4, 'c', 10)]);
        // The counts of a single hour are not limited.
        sums.bound(0, 1);
        assert_eq!(sorted(&sums), [(4, 'a', 30), (4, 'b', 10), (4, 'c', 10)]);
        sums.bound(5, 1);
        assert_eq!(sorted(&sums), []);
    }

    #[test]
    fn counts_are_taken_once() {
        let mut sums = Hourly::default();
        for what in ['a', 'b', 'c'] {
            sums.add(1, what, 1);
        }
        assert_eq!((sums.take(2).len(), sums.take(2).len()), (2, 1));
        assert!(sums.take(2).is_empty());
    }
}
