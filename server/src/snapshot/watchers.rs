//! The watchers of the evaluations that the server makes for applications.
//!
//! A watcher gets the names of built-in attributes, but never a value. Nothing is stored. Without watchers, an
//! evaluation reads one atomic number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use pennon_core::context::Subject as _;
use pennon_core::rule::Attribute;
use pennon_core::{Context, Evaluation};
use pennon_model::time::Timestamp;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::served::Follower;
use crate::clock::Clock;

/// The number of evaluations that a watcher gets at once. Further ones are skipped until it has received these.
const AT_ONCE: usize = 20;

/// The pause of a watcher after each evaluation, so that it gets at most 20 per second.
const PAUSE: Duration = Duration::from_millis(50);

/// The watchers of an environment.
#[derive(Default)]
pub(crate) struct Watchers {
    count: AtomicUsize,
    watchers: ArcSwap<Vec<Arc<Watcher>>>,
}

/// The sending half of a watch.
struct Watcher {
    /// The key of the watched flag; none for all flags.
    flag: Option<String>,
    clock: Arc<dyn Clock>,
    evaluations: mpsc::Sender<WatchedEvaluation>,
    /// The number of evaluations that were skipped since the watcher last received any.
    skipped: AtomicU64,
}

/// A watch of the evaluations of an environment. Dropping it ends the watch.
pub(crate) struct Watch {
    watchers: Arc<Watchers>,
    watcher: Arc<Watcher>,
    evaluations: mpsc::Receiver<WatchedEvaluation>,
    /// The end of the pause after the last evaluations.
    resumes_at: Instant,
    /// Follows the environment until it is revoked.
    environment: Follower,
}

/// Evaluations that a watcher receives together.
#[derive(Debug, Serialize)]
pub(crate) struct Watched {
    /// In the order in which they were made.
    evaluations: Vec<WatchedEvaluation>,
    /// The number of evaluations since the last ones that are not among them.
    skipped: u64,
}

/// An evaluation without the values of its context.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct WatchedEvaluation {
    at: Timestamp,
    /// The key of the flag.
    flag: String,
    #[serde(flatten)]
    evaluation: Evaluation,
    /// The built-in attributes of the context.
    attributes: Vec<Attribute>,
    /// The number of custom attributes of the context.
    custom_attributes: usize,
}

impl Watchers {
    /// Watches the evaluations of one flag, or of all, until the watch is dropped or the environment is revoked.
    pub(super) fn watch(
        self: &Arc<Self>,
        flag: Option<String>,
        clock: Arc<dyn Clock>,
        environment: Follower,
    ) -> Watch {
        let (sender, receiver) = mpsc::channel(AT_ONCE);
        let watcher = Arc::new(Watcher {
            flag,
            clock,
            evaluations: sender,
            skipped: AtomicU64::new(0),
        });
        self.watchers.rcu(|watchers| {
            let mut watchers = Vec::clone(watchers);
            watchers.push(Arc::clone(&watcher));
            watchers
        });
        self.count.fetch_add(1, Ordering::Relaxed);
        Watch {
            watchers: Arc::clone(self),
            watcher,
            evaluations: receiver,
            resumes_at: Instant::now(),
            environment,
        }
    }

    /// Passes an evaluation to the watchers, without waiting for any of them.
    pub(crate) fn notify(&self, flag: &str, evaluation: Evaluation, context: &Context<'_>) {
        if self.count.load(Ordering::Relaxed) > 0 {
            self.notify_each(flag, evaluation, context);
        }
    }

    #[cold]
    fn notify_each(&self, flag: &str, evaluation: Evaluation, context: &Context<'_>) {
        for watcher in self.watchers.load().iter() {
            watcher.notify(flag, evaluation, context);
        }
    }

    fn remove(&self, watcher: &Arc<Watcher>) {
        self.watchers.rcu(|watchers| {
            let mut watchers = Vec::clone(watchers);
            watchers.retain(|each| !Arc::ptr_eq(each, watcher));
            watchers
        });
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Watcher {
    fn notify(&self, flag: &str, evaluation: Evaluation, context: &Context<'_>) {
        if self.flag.as_deref().is_some_and(|watched| watched != flag) {
            return;
        }
        let Ok(place) = self.evaluations.try_reserve() else {
            self.skipped.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let given = |attribute: &Attribute| context.value(attribute, 0).is_some();
        place.send(WatchedEvaluation {
            at: self.clock.now(),
            flag: flag.to_owned(),
            evaluation,
            attributes: Attribute::BUILT_IN.into_iter().filter(given).collect(),
            custom_attributes: context.custom.len(),
        });
    }
}

impl Watch {
    /// Waits for evaluations. Returns none once the environment is revoked.
    pub(crate) async fn next(&mut self) -> Option<Watched> {
        let mut evaluations = Vec::new();
        let (channel, environment) = (&mut self.evaluations, &mut self.environment);
        let received = async {
            sleep_until(self.resumes_at).await;
            channel.recv_many(&mut evaluations, AT_ONCE).await
        };
        let revoked = async { while environment.next().await.is_some() {} };
        let count = tokio::select! {
            count = received => count,
            () = revoked => return None,
        };
        let pause = PAUSE.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        self.resumes_at = Instant::now() + pause;
        Some(Watched {
            evaluations,
            skipped: self.watcher.skipped.swap(0, Ordering::Relaxed),
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watchers.remove(&self.watcher);
    }
}
