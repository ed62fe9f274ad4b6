//! The stream of committed changes, for open dashboard pages.
//!
//! The audit log contains every change, whichever process made it. While it has subscribers, new entries are read: at
//! once after a change of this process, and at intervals for those of others.

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

/// The interval at which the log is read when nothing indicates a change.
const INTERVAL: Duration = Duration::from_millis(500);

/// The time for which an entry may turn up after later ones, because the clocks of instances differ, in milliseconds.
const DISORDER_MILLIS: i64 = 5_000;

/// The number of notifications that a subscriber may fall behind before it has to start over.
const BACKLOG: usize = 256;

/// A notification of subscribers.
#[derive(Clone, Debug)]
pub(crate) enum Notification {
    /// Something changed.
    Changed(Arc<ChangeEvent>),
    /// A session has ended.
    SignedOut,
}

/// The way of changes from the log to subscribers. It is cheap to clone.
#[derive(Clone)]
pub(crate) struct ChangeFeed(Arc<Parts>);

struct Parts {
    db: Db,
    clock: Arc<dyn Clock>,
    notifications: broadcast::Sender<Notification>,
    /// Wakes the reader of the log: there may be changes, or a first subscriber.
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

    /// Subscribes to all changes from now on.
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

    /// Reads the log while it has subscribers; runs for as long as it is polled.
    pub(crate) async fn run(&self) {
        loop {
            self.0.wake.notified().await;
            let mut reader = Reader::new(self.0.clock.now());
            while self.0.notifications.receiver_count() > 0 {
                if let Err(error) = reader.read(self).await {
                    // Subscribers learn of an outage elsewhere, and of all changes once it is over.
                    tracing::debug!(%error, "the audit log cannot be read for changes");
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

/// The place up to which the log is read.
struct Reader {
    /// The newest entry's time.
    newest: Timestamp,
    /// The entries that were sent, among those that are read again because others may still come before them.
    sent: HashSet<AuditId>,
}

impl Reader {
    fn new(now: Timestamp) -> Self {
        Self {
            newest: now,
            sent: HashSet::new(),
        }
    }

    /// Sends new entries. A change just before the first subscription is sent, too: receiving it twice does no harm.
    async fn read(&mut self, feed: &ChangeFeed) -> Result<(), Error> {
        let since = self.newest.plus_millis(-DISORDER_MILLIS);
        let events = store::audit::since(&mut feed.0.db.read().await?, since).await?;
        let before = std::mem::take(&mut self.sent);
        for event in events {
            self.newest = self.newest.max(event.occurred_at);
            self.sent.insert(event.id);
            if !before.contains(&event.id) {
                feed.send(Notification::Changed(Arc::new(event)));
            }
        }
        Ok(())
    }
}
