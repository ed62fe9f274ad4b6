//! The stream of committed changes, for open dashboard pages.
//!
//! The audit log contains every change by every process. While the feed has subscribers, it reads new entries
//! immediately after each change by this process, and at intervals for changes by other processes.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use pennon_model::audit::ChangeEvent;
use pennon_model::id::AuditId;
use pennon_model::time::Timestamp;
use tokio::sync::{Notify, broadcast};
use tokio::time::sleep;

use crate::clock::Clock;
use crate::error::Error;
use crate::store::{self, Db};

/// The interval between reads of the log without a notification.
const INTERVAL: Duration = Duration::from_millis(500);

/// The maximum delay with which an entry can appear after later entries, because the clocks of instances differ, in
/// milliseconds.
const DISORDER_MILLIS: i64 = 5_000;

/// The maximum number of pending notifications of a subscriber. A subscriber that falls further behind starts over.
const BACKLOG: usize = 256;

/// A notification to subscribers.
#[derive(Clone, Debug)]
pub(crate) enum Notification {
    /// A change was committed.
    Changed(Arc<ChangeEvent>),
    /// A session has ended.
    SignedOut,
}

/// The change feed, which passes changes from the log to subscribers. It is cheap to clone.
#[derive(Clone)]
pub(crate) struct ChangeFeed(Arc<Parts>);

struct Parts {
    db: Db,
    clock: Arc<dyn Clock>,
    notifications: broadcast::Sender<Notification>,
    /// Wakes the reader of the log after a commit or a subscription.
    wake: Notify,
}

impl ChangeFeed {
    pub(crate) fn new(db: Db, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Parts {
            db,
            clock,
            notifications: broadcast::Sender::new(BACKLOG),
            wake: Notify::new(),
        }))
    }

    /// Subscribes to all future changes.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Notification> {
        let subscriber = self.0.notifications.subscribe();
        self.0.wake.notify_one();
        subscriber
    }

    /// Notifies the feed of a commit.
    pub(crate) fn committed(&self) {
        self.0.wake.notify_one();
    }

    /// Notifies subscribers that a session has ended.
    pub(crate) fn signed_out(&self) {
        self.send(Notification::SignedOut);
    }

    /// Reads the log while the feed has subscribers. Never returns.
    pub(crate) async fn run(&self) {
        loop {
            self.0.wake.notified().await;
            let mut reader = Reader::new(self.0.clock.now());
            while self.0.notifications.receiver_count() > 0 {
                if let Err(error) = reader.read(self).await {
                    // The rest of the dashboard reports the outage. Subscribers receive all changes after it ends.
                    tracing::debug!(%error, "cannot read changes from the audit log");
                }
                tokio::select! {
                    () = self.0.wake.notified() => {}
                    () = sleep(INTERVAL) => {}
                }
            }
        }
    }

    fn send(&self, notification: Notification) {
        // An error means that the feed has no subscribers.
        _ = self.0.notifications.send(notification);
    }
}

/// The position in the log.
struct Reader {
    /// The time of the newest entry that was read, at most the current time.
    newest: Timestamp,
    /// The entries that were already sent, within the period that is read again for late entries.
    sent: HashSet<AuditId>,
}

impl Reader {
    fn new(now: Timestamp) -> Self {
        Self {
            newest: now,
            sent: HashSet::new(),
        }
    }

    /// Sends new entries. It also sends a change made just before the first subscription: receiving it twice is
    /// harmless.
    async fn read(&mut self, feed: &ChangeFeed) -> Result<(), Error> {
        let since = self.newest.plus_millis(-DISORDER_MILLIS);
        let events = store::audit::since(&mut feed.0.db.read().await?, since).await?;
        let before = std::mem::take(&mut self.sent);
        for event in events {
            // An instance whose clock is ahead must not hide later changes by others.
            self.newest = self.newest.max(event.occurred_at.min(feed.0.clock.now()));
            self.sent.insert(event.id);
            if !before.contains(&event.id) {
                feed.send(Notification::Changed(Arc::new(event)));
            }
        }
        Ok(())
    }
}
