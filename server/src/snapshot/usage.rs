//! Counts of evaluations and polls, in memory. They outlive the snapshots.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use pennon_model::client::Client;
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::usage::{Outcome, PollKind};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use super::clients::{ClientCounts, ClientUsage, OpenStream};
use super::rate_limiter::RateLimiters;
use super::watchers::Watchers;

/// The maximum number of counts to keep in memory from reports with an ID, about 40 bytes each. Counts without an ID
/// are summed, and are not limited.
const MAX_REPORTED: usize = 500_000;

/// The number of free permits below which reports are written to the database at once.
const LOW_CAPACITY: usize = MAX_REPORTED / 2;

/// The counts of all served environments, and of those that are no longer served until their counts are taken.
pub(crate) struct Usage {
    environments: Mutex<Vec<Arc<EnvironmentCounters>>>,
    capacity: Arc<ReportCapacity>,
}

/// The permits for counts of reports that wait for the database.
struct ReportCapacity {
    free: Arc<Semaphore>,
    /// Notified when few permits are free.
    few: Notify,
}

/// The counts of an environment, shared by all its snapshots.
pub(crate) struct EnvironmentCounters {
    /// The first of the environments that replaced each other by key rotations. They share their usage.
    lineage: EnvironmentId,
    flags: Mutex<HashMap<FlagId, Arc<FlagCounters>>>,
    /// Reports with an ID. Only the write to the database shows whether another instance has counted a report.
    reports: Mutex<Vec<UsageReport>>,
    capacity: Arc<ReportCapacity>,
    polls: [AtomicU64; PollKind::ALL.len()],
    clients: Arc<ClientUsage>,
    /// The clients that use a previous key, by the environment to which it gives access.
    previous_keys: Mutex<HashMap<EnvironmentId, Arc<ClientUsage>>>,
    pub(crate) rate_limiters: RateLimiters,
    watchers: Arc<Watchers>,
    /// True once a web page has used the environment's key.
    is_in_page: AtomicBool,
}

/// The number of evaluations of a flag, by origin and outcome.
pub(crate) struct FlagCounters {
    flag: FlagId,
    /// Allocated by the first evaluation of an origin: most flags are never evaluated in most environments.
    counts: [OnceLock<Box<OutcomeCounts>>; Origin::ALL.len()],
}

/// The number of evaluations by outcome.
type OutcomeCounts = [AtomicU64; Outcome::ALL.len()];

/// The side that made the evaluations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// This server.
    Server,
    /// A client, which reported them.
    Client,
}

impl Origin {
    const ALL: [Self; 2] = [Self::Server, Self::Client];
}

/// Evaluations that a client made locally, under the ID that it assigned.
#[derive(Debug)]
pub(crate) struct UsageReport {
    pub(crate) lineage: EnvironmentId,
    pub(crate) id: Uuid,
    pub(crate) counts: Vec<(FlagId, Outcome, u64)>,
    /// One permit for each count.
    _capacity: OwnedSemaphorePermit,
}

/// Counts that were taken out of memory. None is 0.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) evaluations: Vec<((EnvironmentId, FlagId, Outcome, Origin), u64)>,
    pub(crate) polls: Vec<(EnvironmentId, PollKind, u64)>,
    pub(crate) clients: Vec<(EnvironmentId, ClientCounts)>,
    /// The clients that used a previous key, by the environment to which it gives access.
    pub(crate) previous_keys: Vec<(EnvironmentId, ClientCounts)>,
    pub(crate) reports: Vec<UsageReport>,
}

impl Default for Usage {
    fn default() -> Self {
        let capacity = ReportCapacity {
            free: Arc::new(Semaphore::new(MAX_REPORTED)),
            few: Notify::new(),
        };
        Self {
            environments: Mutex::default(),
            capacity: Arc::new(capacity),
        }
    }
}

impl Usage {
    /// Starts counting an environment.
    pub(super) fn of_environment(&self, lineage: EnvironmentId) -> Arc<EnvironmentCounters> {
        let usage = Arc::new(EnvironmentCounters {
            lineage,
            flags: Mutex::default(),
            reports: Mutex::default(),
            capacity: Arc::clone(&self.capacity),
            polls: Default::default(),
            clients: Arc::default(),
            previous_keys: Mutex::default(),
            rate_limiters: RateLimiters::default(),
            watchers: Arc::default(),
            is_in_page: AtomicBool::default(),
        });
        self.environments.lock().push(Arc::clone(&usage));
        usage
    }

    /// Takes the counts since the last call, and drops environments that are no longer served.
    pub(crate) fn take(&self) -> Counts {
        let mut counts = Counts::default();
        self.environments.lock().retain(|environment| {
            // Checked first, because an evaluation that is counted later is taken by the next call.
            let is_served = Arc::strong_count(environment) > 1;
            environment.take(&mut counts);
            is_served
        });
        counts
    }

    /// Waits until there are so many reports that they should be written to the database now.
    pub(super) async fn many_reports(&self) {
        self.capacity.few.notified().await;
    }
}

impl EnvironmentCounters {
    /// Returns the counts of a flag.
    pub(super) fn flag(&self, flag: FlagId) -> Arc<FlagCounters> {
        let mut flags = self.flags.lock();
        let usage = flags
            .entry(flag)
            .or_insert_with(|| Arc::new(FlagCounters::new(flag)));
        Arc::clone(usage)
    }

    /// Keeps a report until it is written to the database. Returns false if too many reports wait.
    pub(super) fn record_report(&self, id: Uuid, counts: Vec<(FlagId, Outcome, u64)>) -> bool {
        let size = u32::try_from(counts.len()).unwrap_or(u32::MAX);
        let free = &self.capacity.free;
        if free.available_permits() < LOW_CAPACITY {
            self.capacity.few.notify_one();
        }
        let Ok(acquired) = Arc::clone(free).try_acquire_many_owned(size) else {
            return false;
        };
        self.reports.lock().push(UsageReport {
            lineage: self.lineage,
            id,
            counts,
            _capacity: acquired,
        });
        true
    }

    /// Counts a fetch of the configuration.
    pub(crate) fn count_poll(&self, kind: PollKind, client: Client) {
        self.clients.count_request(client);
        if let Some(count) = self.polls.get(kind as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the counts of the clients that use the previous key of this environment.
    pub(super) fn of_previous_key(&self, environment: EnvironmentId) -> Arc<ClientUsage> {
        let mut previous_keys = self.previous_keys.lock();
        Arc::clone(previous_keys.entry(environment).or_default())
    }

    /// Counts a stream of changes, which is open until the result is dropped.
    pub(crate) fn count_stream(&self, client: Client) -> OpenStream {
        self.clients.count_stream(client)
    }

    /// Logs once that a web page uses the key of an environment that is not public.
    pub(crate) fn warn_of_use_in_page(&self) {
        if !self.is_in_page.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                environment = %self.lineage,
                "a web page uses the SDK key of an environment that is not public, so its visitors can read all flags; \
                 use a public environment in the page, and rotate this key"
            );
        }
    }

    /// Returns the watchers of evaluations.
    pub(crate) fn watchers(&self) -> &Arc<Watchers> {
        &self.watchers
    }

    fn take(&self, counts: &mut Counts) {
        for (id, flag) in self.flags.lock().iter() {
            for (origin, of_origin) in Origin::ALL.into_iter().zip(&flag.counts) {
                let of_origin = of_origin.get().into_iter().flat_map(|counts| &**counts);
                for (outcome, count) in Outcome::ALL.into_iter().zip(of_origin) {
                    if let Some(count) = taken(count) {
                        let key = (self.lineage, *id, outcome, origin);
                        counts.evaluations.push((key, count));
                    }
                }
            }
        }
        counts.reports.append(&mut self.reports.lock());
        for (kind, count) in PollKind::ALL.iter().copied().zip(&self.polls) {
            if let Some(count) = taken(count) {
                counts.polls.push((self.lineage, kind, count));
            }
        }
        let clients = self.clients.take();
        if clients.len() > 0 {
            counts.clients.push((self.lineage, clients));
        }
        self.previous_keys.lock().retain(|environment, clients| {
            // Checked first, because a request that is counted later is taken by the next call.
            let is_in_use = Arc::strong_count(clients) > 1;
            let clients = clients.take();
            if clients.len() > 0 {
                counts.previous_keys.push((*environment, clients));
            }
            is_in_use
        });
    }
}

impl FlagCounters {
    fn new(flag: FlagId) -> Self {
        Self {
            flag,
            counts: Default::default(),
        }
    }

    pub(super) fn flag(&self) -> FlagId {
        self.flag
    }

    /// Counts evaluations with this outcome.
    pub(crate) fn count(&self, outcome: Outcome, origin: Origin, count: u64) {
        let counts = self.counts.get(origin as usize);
        let counts = counts.map(|counts| counts.get_or_init(Box::default));
        if let Some(counted) = counts.and_then(|counts| counts.get(outcome.index())) {
            counted.fetch_add(count, Ordering::Relaxed);
        }
    }
}

/// Takes the value of a counter, and resets it; none if it is zero.
fn taken(count: &AtomicU64) -> Option<u64> {
    // Most flags are idle most of the time, and a read is cheaper for other threads than a swap.
    if count.load(Ordering::Relaxed) == 0 {
        return None;
    }
    Some(count.swap(0, Ordering::Relaxed)).filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pennon_core::Reason;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn reports_that_wait_are_bounded_and_brought_to_the_database_in_time() {
        let usage = Usage::default();
        let environment = usage.of_environment(EnvironmentId::new(Uuid::nil()));
        let flag = FlagId::new(Uuid::nil());
        let outcome = Outcome::new(Reason::Rollout, None);
        let report = |size| environment.record_report(Uuid::nil(), vec![(flag, outcome, 1); size]);
        let is_time = async || timeout(Duration::ZERO, usage.many_reports()).await.is_ok();
        assert!(report(MAX_REPORTED / 2));
        assert!(report(1));
        assert!(!is_time().await);
        assert!(report(MAX_REPORTED / 2 - 1));
        assert!(is_time().await);
        assert!(!report(1));
        let taken = usage.take().reports;
        assert_eq!(taken.len(), 3);
        assert!(!report(1), "they wait until they are known to have arrived");
        drop(taken);
        assert!(report(1));
    }
}
