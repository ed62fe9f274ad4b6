//! An environment that is being served, from one snapshot to the next.

use std::sync::Arc;

use arc_swap::ArcSwap;
use pennon_model::id::EnvironmentId;
use tokio::sync::watch;

use super::announcer::{Announcer, FollowerCount};
use super::environment::EnvironmentSnapshot;
use super::faults::{Found, Unreadable};

/// An environment that is being served.
pub(super) struct Served {
    pub(super) id: EnvironmentId,
    current: ArcSwap<EnvironmentSnapshot>,
    announcer: Announcer,
}

/// Somebody who follows an environment from one snapshot to the next. Whoever is slow finds the newest one, and none of
/// those in between: that is all that is ever kept for a follower.
pub(crate) struct Follower {
    snapshots: watch::Receiver<Option<Arc<EnvironmentSnapshot>>>,
    followers: FollowerCount,
}

impl Served {
    pub(super) fn new(id: EnvironmentId, snapshot: EnvironmentSnapshot) -> Self {
        let snapshot = Arc::new(snapshot);
        Self {
            id,
            current: ArcSwap::new(Arc::clone(&snapshot)),
            announcer: Announcer::new(snapshot),
        }
    }

    /// What is served now.
    pub(super) fn current(&self) -> Arc<EnvironmentSnapshot> {
        self.current.load_full()
    }

    /// What of it cannot be read at the moment.
    pub(super) fn faults(&self) -> Found {
        let flag = |(key, error): (&Arc<str>, &Arc<str>)| {
            let flag = Unreadable::Flag(self.id, Arc::clone(key));
            (flag, Arc::clone(error))
        };
        self.current.load().faults().map(flag).collect()
    }

    /// Serves this from now on.
    pub(super) fn replace(&self, snapshot: EnvironmentSnapshot) {
        let snapshot = Arc::new(snapshot);
        self.current.store(Arc::clone(&snapshot));
        self.announcer.announce(snapshot);
    }

    /// Tells all followers that there is nothing more to come, for good.
    pub(super) fn end(&self) {
        self.announcer.end();
    }

    /// Follows the environment from now on.
    pub(super) fn follow(&self) -> Follower {
        Follower {
            snapshots: self.announcer.subscribe(),
            followers: self.announcer.followers(),
        }
    }
}

impl Follower {
    /// The last snapshot that was announced, whether or not it has been handed out; none once the key is refused.
    pub(crate) fn current(&self) -> Option<Arc<EnvironmentSnapshot>> {
        self.snapshots.borrow().clone()
    }

    /// The newest snapshot that has not been handed out, as soon as there is one, and the current one the first time;
    /// none once the environment is no longer served with the key by which it was found.
    pub(crate) async fn next(&mut self) -> Option<Arc<EnvironmentSnapshot>> {
        // An error means that it has been dropped from what is served.
        self.snapshots.changed().await.ok()?;
        self.snapshots.borrow_and_update().clone()
    }

    /// The number of streams of the same environment on this instance, including this one.
    pub(crate) fn followers(&self) -> usize {
        self.followers.get()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, timeout};
    use uuid::Uuid;

    use super::*;
    use crate::snapshot::usage::Usage;

    fn revision(number: i64) -> EnvironmentSnapshot {
        let usage = Usage::default().of_environment(EnvironmentId::new(Uuid::nil()));
        EnvironmentSnapshot::empty(usage).with(Vec::new(), number)
    }

    fn served() -> Served {
        Served::new(EnvironmentId::new(Uuid::nil()), revision(1))
    }

    async fn next(follower: &mut Follower) -> Option<i64> {
        let next = follower.next().await;
        next.map(|snapshot| snapshot.revision())
    }

    #[tokio::test]
    async fn a_follower_gets_the_current_snapshot_and_then_the_newest_one() {
        let served = served();
        let mut follower = served.follow();
        assert_eq!(next(&mut follower).await, Some(1));
        for number in 2..=1000 {
            served.replace(revision(number));
        }
        assert_eq!(next(&mut follower).await, Some(1000));
        let idle = timeout(Duration::ZERO, follower.next()).await;
        assert!(idle.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn many_followers_get_the_first_change_at_once_and_then_the_newest_after_a_pause() {
        let served = served();
        let mut followers: Vec<Follower> = (0..5000).map(|_| served.follow()).collect();
        let first = followers.first_mut().unwrap();
        assert_eq!(next(first).await, Some(1));
        let began = Instant::now();
        for number in 2..=1000 {
            served.replace(revision(number));
        }
        assert_eq!(served.current().revision(), 1000);
        assert_eq!(next(first).await, Some(2));
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(next(first).await, Some(1000));
        assert_eq!(began.elapsed(), Duration::from_millis(300));
    }

    #[tokio::test]
    async fn what_has_ended_does_not_come_back() {
        let served = served();
        let mut follower = served.follow();
        served.end();
        served.replace(revision(2));
        assert_eq!(next(&mut follower).await, None);
        assert_eq!(next(&mut served.follow()).await, None);
    }

    #[tokio::test]
    async fn what_is_served_no_more_has_ended() {
        let served = served();
        let mut follower = served.follow();
        assert_eq!(next(&mut follower).await, Some(1));
        drop(served);
        assert_eq!(next(&mut follower).await, None);
    }
}
