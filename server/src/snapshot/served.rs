//! A served environment and its followers.
//!
//! Announcements of new snapshots are limited to the rate at which all followers can be reached, because each one wakes
//! every follower. Without a pause between announcements, thousands of streams would keep all cores busy while somebody
//! writes, and delay the writes themselves.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use pennon_model::client::Client;
use pennon_model::id::EnvironmentId;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::clients::OpenStream;
use super::environment::EnvironmentSnapshot;
use super::faults::{Found, Unreadable};
use super::keys::Overlap;

/// The pause after an announcement, per follower: several times as long as waking a follower and writing an event to
/// its connection, so that most of the time is left for other work.
const PAUSE_PER_FOLLOWER: Duration = Duration::from_micros(60);

/// The number of followers up to which no pause is needed.
const FEW_FOLLOWERS: usize = 50;

/// A served environment.
pub(super) struct Served {
    pub(super) id: EnvironmentId,
    current: ArcSwap<EnvironmentSnapshot>,
    /// The number of refills that had begun before the last change that was served right after its commit. The database
    /// as these refills see it may lack the change.
    refills_before_change: AtomicU64,
    /// The last announced snapshot; none once the environment is no longer served.
    announced: watch::Sender<Option<Arc<EnvironmentSnapshot>>>,
    schedule: Mutex<Schedule>,
}

/// The schedule of announcements. The first change is announced at once. Of the changes during the pause after it, only
/// the newest is announced, at the end of the pause.
struct Schedule {
    pause_ends: Instant,
    /// The snapshot to announce at the end of the pause.
    waiting: Option<Arc<EnvironmentSnapshot>>,
}

/// A follower of an environment. A slow follower skips snapshots: it gets only the newest one.
pub(crate) struct Follower {
    snapshots: watch::Receiver<Option<Arc<EnvironmentSnapshot>>>,
    /// The environment. The reference is weak, so that it does not keep the environment alive.
    served: Weak<Served>,
    /// The overlap, if the environment is followed by its previous key.
    overlap: Option<Arc<Overlap>>,
    /// The snapshot that it has returned last. The reference is weak, because a slow follower would keep it alive.
    last: Weak<EnvironmentSnapshot>,
}

/// An open stream, as it counts for the environment and for its previous key.
pub(crate) struct OpenStreams {
    _of_environment: OpenStream,
    _by_previous_key: Option<OpenStream>,
}

impl Served {
    pub(super) fn new(id: EnvironmentId, snapshot: EnvironmentSnapshot) -> Self {
        let snapshot = Arc::new(snapshot);
        Self {
            id,
            current: ArcSwap::new(Arc::clone(&snapshot)),
            refills_before_change: AtomicU64::default(),
            announced: watch::Sender::new(Some(snapshot)),
            schedule: Mutex::new(Schedule {
                pause_ends: Instant::now(),
                waiting: None,
            }),
        }
    }

    /// Returns the current snapshot.
    pub(super) fn current(&self) -> Arc<EnvironmentSnapshot> {
        self.current.load_full()
    }

    /// Returns the data of the environment that is currently unreadable.
    pub(super) fn faults(&self) -> Found {
        let flag = |(key, error): (&Arc<str>, &Arc<str>)| {
            let flag = Unreadable::Flag(self.id, Arc::clone(key));
            (flag, Arc::clone(error))
        };
        self.current.load().faults().map(flag).collect()
    }

    /// Returns true if the current snapshot may contain a change that this refill did not find in the database.
    pub(super) fn is_ahead_of(&self, refill: u64) -> bool {
        self.refills_before_change.load(Ordering::SeqCst) >= refill
    }

    /// Serves a change right after its commit. `refills` is the number of refills that had begun after the commit.
    /// Returns false if another snapshot than `previous` is served.
    pub(super) fn advance(
        self: &Arc<Self>,
        previous: &Arc<EnvironmentSnapshot>,
        next: EnvironmentSnapshot,
        refills: u64,
    ) -> bool {
        // A refill that gets the snapshot must also get the number.
        self.refills_before_change
            .fetch_max(refills, Ordering::SeqCst);
        self.replace(previous, next)
    }

    /// Serves the snapshot that follows `previous`, and announces it now or at the end of the pause. Returns false if
    /// another snapshot than `previous` is served.
    pub(super) fn replace(
        self: &Arc<Self>,
        previous: &Arc<EnvironmentSnapshot>,
        next: EnvironmentSnapshot,
    ) -> bool {
        let next = Arc::new(next);
        let mut schedule = self.schedule.lock();
        if !Arc::ptr_eq(&self.current.load(), previous) {
            return false;
        }
        self.current.store(Arc::clone(&next));
        if schedule.pause_ends <= Instant::now() && schedule.waiting.is_none() {
            self.announce(&mut schedule, next);
        } else if schedule.waiting.replace(next).is_none() {
            tokio::spawn(announce_waiting(Arc::downgrade(self), schedule.pause_ends));
        }
        true
    }

    /// Notifies all followers that no snapshot will follow.
    pub(super) fn end(&self) {
        self.announced.send_replace(None);
    }

    /// Follows the environment, beginning with its current snapshot, until the end of the overlap if there is one.
    pub(super) fn follow(self: &Arc<Self>, overlap: Option<Arc<Overlap>>) -> Follower {
        let mut snapshots = self.announced.subscribe();
        snapshots.mark_changed();
        Follower {
            snapshots,
            served: Arc::downgrade(self),
            overlap,
            last: Weak::new(),
        }
    }

    fn announce(&self, schedule: &mut Schedule, snapshot: Arc<EnvironmentSnapshot>) {
        self.announced.send_if_modified(|announced| {
            let is_followed = announced.is_some();
            if is_followed {
                *announced = Some(snapshot);
            }
            is_followed
        });
        schedule.pause_ends = Instant::now() + pause(self.announced.receiver_count());
    }
}

impl Follower {
    /// Returns the last announced snapshot, whether or not `next` has returned it; none once the key is refused.
    pub(crate) fn current(&self) -> Option<Arc<EnvironmentSnapshot>> {
        let snapshot = self.snapshots.borrow().clone();
        snapshot.filter(|_| !self.is_over())
    }

    /// Waits for a snapshot that it has not returned yet, and returns the newest. The first call returns the current
    /// snapshot at once. Returns none once the environment is no longer served with the key by which it was found.
    pub(crate) async fn next(&mut self) -> Option<Arc<EnvironmentSnapshot>> {
        loop {
            let announced = self.announced().await.filter(|_| !self.is_over())?;
            // The next one may already be served, and clients may have it. Its announcement brings nothing new then.
            let served = self.served.upgrade();
            let newest = served.map_or(announced, |served| served.current());
            let last = std::mem::replace(&mut self.last, Arc::downgrade(&newest));
            if !last.ptr_eq(&self.last) {
                return Some(newest);
            }
        }
    }

    /// Waits for an announcement, and returns its snapshot.
    async fn announced(&mut self) -> Option<Arc<EnvironmentSnapshot>> {
        let changed = self.snapshots.changed();
        let changed = match &self.overlap {
            None => changed.await,
            Some(overlap) => tokio::select! {
                () = overlap.over() => return None,
                changed = changed => changed,
            },
        };
        // An error means that the environment is no longer served.
        changed.ok()?;
        self.snapshots.borrow_and_update().clone()
    }

    /// Counts the stream of a client until the result is dropped. Returns none once the key is refused.
    pub(crate) fn count_stream(&self, client: Client) -> Option<OpenStreams> {
        let environment = self.current()?;
        let overlap = self.overlap.as_ref();
        Some(OpenStreams {
            _by_previous_key: overlap.map(|overlap| overlap.count_stream(client.clone())),
            _of_environment: environment.usage().count_stream(client),
        })
    }

    fn is_over(&self) -> bool {
        self.overlap
            .as_ref()
            .is_some_and(|overlap| overlap.is_over())
    }

    /// Returns the number of streams of the same environment on this instance, including this one.
    pub(crate) fn followers(&self) -> usize {
        let served = self.served.upgrade();
        served.map_or(0, |served| served.announced.receiver_count())
    }
}

fn pause(followers: usize) -> Duration {
    if followers <= FEW_FOLLOWERS {
        return Duration::ZERO;
    }
    PAUSE_PER_FOLLOWER.saturating_mul(u32::try_from(followers).unwrap_or(u32::MAX))
}

/// Announces the newest snapshot at the end of a pause. The reference is weak, so that it does not keep the environment
/// alive.
async fn announce_waiting(served: Weak<Served>, pause_ends: Instant) {
    sleep_until(pause_ends).await;
    if let Some(served) = served.upgrade() {
        let mut schedule = served.schedule.lock();
        if let Some(snapshot) = schedule.waiting.take() {
            served.announce(&mut schedule, snapshot);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, timeout};
    use uuid::Uuid;

    use super::*;
    use crate::snapshot::document::TagSecret;
    use crate::snapshot::usage::Usage;

    fn revision(number: i64) -> EnvironmentSnapshot {
        let usage = Usage::default().of_environment(EnvironmentId::new(Uuid::nil()));
        EnvironmentSnapshot::empty(usage, TagSecret::default()).with(Vec::new(), number)
    }

    fn served() -> Arc<Served> {
        Arc::new(Served::new(EnvironmentId::new(Uuid::nil()), revision(1)))
    }

    fn replace(served: &Arc<Served>, number: i64) {
        assert!(served.replace(&served.current(), revision(number)));
    }

    async fn next(follower: &mut Follower) -> Option<i64> {
        let next = follower.next().await;
        next.map(|snapshot| snapshot.revision())
    }

    #[tokio::test]
    async fn a_follower_gets_the_current_snapshot_and_then_the_newest_one() {
        let served = served();
        let mut follower = served.follow(None);
        assert_eq!(next(&mut follower).await, Some(1));
        for number in 2..=1000 {
            replace(&served, number);
        }
        assert_eq!(next(&mut follower).await, Some(1000));
        let idle = timeout(Duration::ZERO, follower.next()).await;
        assert!(idle.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn many_followers_get_the_first_change_at_once_and_then_the_newest_after_a_pause() {
        let served = served();
        let mut followers: Vec<Follower> = (0..5000).map(|_| served.follow(None)).collect();
        let first = followers.first_mut().unwrap();
        assert_eq!(next(first).await, Some(1));
        let began = Instant::now();
        replace(&served, 2);
        assert_eq!(next(first).await, Some(2));
        assert_eq!(began.elapsed(), Duration::ZERO);
        for number in 3..=1000 {
            replace(&served, number);
        }
        assert_eq!(served.current().revision(), 1000);
        assert_eq!(next(first).await, Some(1000));
        assert_eq!(began.elapsed(), Duration::from_millis(300));
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_follower_gets_the_current_snapshot_once_even_if_it_is_not_announced_yet() {
        let served = served();
        let _others: Vec<Follower> = (0..5000).map(|_| served.follow(None)).collect();
        replace(&served, 2);
        replace(&served, 3);
        let mut follower = served.follow(None);
        assert_eq!(next(&mut follower).await, Some(3));
        let again = timeout(Duration::from_secs(1), follower.next()).await;
        assert!(again.is_err());
        replace(&served, 4);
        assert_eq!(next(&mut follower).await, Some(4));
    }

    #[tokio::test]
    async fn a_snapshot_that_follows_another_one_than_the_served_one_is_refused() {
        let served = served();
        let first = served.current();
        assert!(served.advance(&first, revision(2), 3));
        assert!(!served.replace(&first, revision(1)));
        assert_eq!(served.current().revision(), 2);
        assert!(served.is_ahead_of(3) && !served.is_ahead_of(4));
    }

    #[tokio::test]
    async fn an_environment_that_has_ended_does_not_come_back() {
        let served = served();
        let mut follower = served.follow(None);
        served.end();
        replace(&served, 2);
        assert_eq!(next(&mut follower).await, None);
        assert_eq!(next(&mut served.follow(None)).await, None);
    }

    #[tokio::test]
    async fn a_follower_ends_when_its_environment_is_dropped() {
        let served = served();
        let mut follower = served.follow(None);
        assert_eq!(next(&mut follower).await, Some(1));
        drop(served);
        assert_eq!(next(&mut follower).await, None);
    }
}
