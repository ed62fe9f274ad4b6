//! Announces the snapshots of an environment to its followers, no faster than all of them can be reached.
//!
//! Each announcement wakes every follower. Without a pause between announcements, thousands of streams would keep all cores
//! busy for as long as somebody writes, and hold up the writes themselves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::environment::EnvironmentSnapshot;

/// The pause after an announcement, for each follower: several times what it takes to wake a follower and to write an event
/// to its connection, so that most of the time is left for others.
const PAUSE_PER_FOLLOWER: Duration = Duration::from_micros(60);

/// The followers up to which no pause is needed.
const FEW_FOLLOWERS: usize = 50;

/// Announces snapshots to followers. The first change is announced at once; of those that come during the pause after it,
/// only the newest, when the pause is over.
pub(super) struct Announcer(Arc<Parts>);

struct Parts {
    /// The last snapshot that was announced; none once there are no more to come.
    announced: watch::Sender<Option<Arc<EnvironmentSnapshot>>>,
    schedule: Mutex<Schedule>,
}

struct Schedule {
    pause_ends: Instant,
    /// The snapshot to announce at the end of the pause.
    waiting: Option<Arc<EnvironmentSnapshot>>,
}

impl Announcer {
    pub(super) fn new(first: Arc<EnvironmentSnapshot>) -> Self {
        Self(Arc::new(Parts {
            announced: watch::Sender::new(Some(first)),
            schedule: Mutex::new(Schedule {
                pause_ends: Instant::now(),
                waiting: None,
            }),
        }))
    }

    /// Announces a snapshot, now or at the end of the pause.
    pub(super) fn announce(&self, snapshot: Arc<EnvironmentSnapshot>) {
        let parts = &self.0;
        let mut schedule = parts.schedule();
        if schedule.pause_ends <= Instant::now() && schedule.waiting.is_none() {
            parts.send(&mut schedule, snapshot);
        } else if schedule.waiting.replace(snapshot).is_none() {
            tokio::spawn(announce_waiting(Arc::downgrade(parts), schedule.pause_ends));
        }
    }

    /// Tells all followers that nothing more will come.
    pub(super) fn end(&self) {
        self.0.announced.send_replace(None);
    }

    /// Follows the announcements from now on, beginning with the last one.
    pub(super) fn subscribe(&self) -> watch::Receiver<Option<Arc<EnvironmentSnapshot>>> {
        let mut receiver = self.0.announced.subscribe();
        receiver.mark_changed();
        receiver
    }

    /// Counts the followers, now and later.
    pub(super) fn followers(&self) -> FollowerCount {
        FollowerCount(Arc::downgrade(&self.0))
    }
}

/// The number of followers of an environment. It does not keep an environment alive that is no longer served.
pub(super) struct FollowerCount(Weak<Parts>);

impl FollowerCount {
    pub(super) fn get(&self) -> usize {
        let parts = self.0.upgrade();
        parts.map_or(0, |parts| parts.announced.receiver_count())
    }
}

impl Parts {
    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, schedule: &mut Schedule, snapshot: Arc<EnvironmentSnapshot>) {
        self.announced.send_if_modified(|announced| {
            let goes_on = announced.is_some();
            if goes_on {
                *announced = Some(snapshot);
            }
            goes_on
        });
        schedule.pause_ends = Instant::now() + pause(self.announced.receiver_count());
    }
}

fn pause(followers: usize) -> Duration {
    if followers <= FEW_FOLLOWERS {
        return Duration::ZERO;
    }
    PAUSE_PER_FOLLOWER.saturating_mul(u32::try_from(followers).unwrap_or(u32::MAX))
}

/// Announces what has come during a pause. It does not keep an environment alive that is no longer served.
async fn announce_waiting(parts: Weak<Parts>, pause_ends: Instant) {
    sleep_until(pause_ends).await;
    if let Some(parts) = parts.upgrade() {
        let mut schedule = parts.schedule();
        if let Some(snapshot) = schedule.waiting.take() {
            parts.send(&mut schedule, snapshot);
        }
    }
}
