//! How often flags are evaluated and environments polled: counted in memory, beside the snapshots, which come and go.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pennon_core::Reason;
use pennon_core::model::id::{EnvironmentId, FlagId};

use super::pace::Paces;

/// What is counted of all environments that are served, and of those that no longer are until that has been taken.
#[derive(Default)]
pub(crate) struct Usage(Mutex<Vec<Arc<EnvironmentUsage>>>);

/// What is counted of an environment, whichever snapshot it serves.
pub(crate) struct EnvironmentUsage {
    /// The first of the environments that replaced each other by key rotations: they share their usage.
    lineage: EnvironmentId,
    flags: Mutex<HashMap<FlagId, Arc<FlagUsage>>>,
    polls: [AtomicU64; PollKind::ALL.len()],
    pub(super) paces: Paces,
}

/// How often a flag was evaluated, by reason.
#[derive(Default)]
pub(crate) struct FlagUsage([AtomicU64; Reason::ALL.len()]);

/// What a client that fetches the configuration has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PollKind {
    /// Nothing.
    First,
    /// What there is.
    Current,
    /// Something else.
    Outdated,
}

impl PollKind {
    pub(crate) const ALL: [Self; 3] = [Self::First, Self::Current, Self::Outdated];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Current => "current",
            Self::Outdated => "outdated",
        }
    }
}

/// Counts that were taken out of memory, none of them 0.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) evaluations: Vec<(EnvironmentId, FlagId, Reason, u64)>,
    pub(crate) polls: Vec<(EnvironmentId, PollKind, u64)>,
}

impl Usage {
    /// Begins to count an environment.
    pub(super) fn of_environment(&self, lineage: EnvironmentId) -> Arc<EnvironmentUsage> {
        let usage = Arc::new(EnvironmentUsage {
            lineage,
            flags: Mutex::default(),
            polls: Default::default(),
            paces: Paces::default(),
        });
        lock(&self.0).push(Arc::clone(&usage));
        usage
    }

    /// Takes what has been counted since the last time, and lets go of environments that are no longer served.
    pub(crate) fn take(&self) -> Counts {
        let mut counts = Counts::default();
        lock(&self.0).retain(|environment| {
            // Looked at first: who counts after that is taken the next time.
            let is_served = Arc::strong_count(environment) > 1;
            environment.take(&mut counts);
            is_served
        });
        counts
    }
}

impl EnvironmentUsage {
    /// The counts of a flag.
    pub(super) fn flag(&self, flag: FlagId) -> Arc<FlagUsage> {
        Arc::clone(lock(&self.flags).entry(flag).or_default())
    }

    /// Counts a fetch of the configuration.
    pub(crate) fn polled(&self, kind: PollKind) {
        if let Some(count) = self.polls.get(kind as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn take(&self, counts: &mut Counts) {
        for (id, flag) in lock(&self.flags).iter() {
            for (reason, count) in Reason::ALL.iter().zip(&flag.0) {
                if let Some(count) = taken(count) {
                    let evaluations = &mut counts.evaluations;
                    evaluations.push((self.lineage, *id, *reason, count));
                }
            }
        }
        for (kind, count) in PollKind::ALL.into_iter().zip(&self.polls) {
            if let Some(count) = taken(count) {
                counts.polls.push((self.lineage, kind, count));
            }
        }
    }
}

impl FlagUsage {
    /// Counts evaluations that ended for this reason.
    pub(crate) fn evaluated(&self, reason: Reason, count: u64) {
        if let Some(counted) = self.0.get(reason as usize) {
            counted.fetch_add(count, Ordering::Relaxed);
        }
    }
}

/// What a counter has, which it then has no more; none if that is nothing.
fn taken(count: &AtomicU64) -> Option<u64> {
    // Most flags are idle for most of the time, and reading disturbs nobody.
    if count.load(Ordering::Relaxed) == 0 {
        return None;
    }
    Some(count.swap(0, Ordering::Relaxed)).filter(|count| *count > 0)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
