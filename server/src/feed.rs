//! The stream of committed changes, for open dashboard pages.
//!
//! The audit log contains every change by every process. While the feed has subscribers, it reads new entries
//! immediately after each change by this process, and at intervals for changes by other processes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use pennon_model::audit::ChangeEvent;
use pennon_model::id::AuditId;
use pennon_model::time::Timestamp;
use tokio::sync::{Notify, broadcast};
use tokio::time::sleep;
use uuid::Uuid;

use crate::clock::Clock;
use crate::error::Error;
use crate::store::{self, Db, Tx};

/// The interval between reads of the log without a notification.
const INTERVAL: Duration = Duration::from_millis(500);

/// The usual maximum delay with which an entry can appear after later entries, because the clocks of instances differ,
/// in milliseconds. Each read covers this period again.
const DISORDER_MILLIS: i64 = 5_000;

/// The maximum delay with which an entry can appear, because its transaction takes long after dating it: that of a
/// large import, which also waits for its turn to write. In milliseconds.
const LATE_MILLIS: i64 = 60_000;

/// The interval between reads that cover the whole period in which entries can appear late, in milliseconds.
const LATE_INTERVAL_MILLIS: i64 = 5_000;

/// The maximum number of pending notifications of a subscriber. A subscriber that falls further behind starts over.
const BACKLOG: usize = 256;

/// The maximum number of entries to read at once. If a page has only entries of one time, they belong to a bulk change:
/// one event stands for the rest of them. So at most two pages of them are sent one by one, which leaves room in the
/// backlog.
const PAGE: usize = BACKLOG / 4;

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
pub(crate) struct ChangeFeed(Arc<ChangeFeedParts>);

struct ChangeFeedParts {
    db: Db,
    clock: Arc<dyn Clock>,
    notifications: broadcast::Sender<Notification>,
    /// Wakes the reader of the log after a commit or a subscription.
    wake: Notify,
}

impl ChangeFeed {
    pub(crate) fn new(db: Db, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(ChangeFeedParts {
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
    /// The time of the newest entry that was read, at most the current time. If nothing changes, it follows the current
    /// time from afar, so that reads become empty.
    newest: Timestamp,
    /// The entries that were already sent, within the period that is read again for late entries, and their times.
    sent: HashMap<AuditId, Timestamp>,
    /// The last entries of bulk changes in this period, by time. All entries before them are skipped.
    bulk_ends: BTreeMap<Timestamp, AuditId>,
    /// The time of the next read that covers this whole period; none before the first read.
    late_at: Option<Timestamp>,
}

impl Reader {
    fn new(now: Timestamp) -> Self {
        Self {
            newest: now,
            sent: HashMap::new(),
            bulk_ends: BTreeMap::new(),
            late_at: None,
        }
    }

    /// Sends new entries. The first read also sends changes made just before the first subscription, because receiving
    /// them twice is harmless, but no older ones.
    async fn read(&mut self, feed: &ChangeFeed) -> Result<(), Error> {
        let now = feed.0.clock.now();
        let is_late = self.late_at.is_none_or(|at| at <= now);
        let recent = self.newest.plus_millis(-DISORDER_MILLIS);
        let since = if is_late {
            self.newest.plus_millis(-LATE_MILLIS)
        } else {
            recent
        };
        let is_first = self.late_at.is_none();
        let send_new = |event: ChangeEvent, is_known: bool| {
            if !is_known && (!is_first || event.occurred_at >= recent) {
                feed.send(Notification::Changed(Arc::new(event)));
            }
        };
        let mut tx = feed.0.db.read().await?;
        let mut position = (since, AuditId::new(Uuid::nil()));
        loop {
            let page = store::audit::after(&mut tx, position, PAGE).await?;
            let is_last = page.len() < PAGE;
            let bulk = bulk_event(&page).filter(|_| !is_last);
            for event in page {
                position = (event.occurred_at, event.id);
                // An instance whose clock is ahead must not hide later changes by others.
                self.newest = self.newest.max(event.occurred_at.min(now));
                let is_known = self.sent.insert(event.id, event.occurred_at).is_some();
                send_new(event, is_known);
            }
            if let Some(event) = bulk {
                let end = self.bulk_end(&mut tx, &event).await?;
                position.1 = end;
                let is_known = self.bulk_ends.insert(event.occurred_at, end) == Some(end);
                send_new(event, is_known);
            }
            if is_last {
                break;
            }
        }
        // An entry can be late, and the clock of its instance can lag behind.
        self.newest = self.newest.max(now.plus_millis(-LATE_MILLIS));
        if is_late {
            self.late_at = Some(now.plus_millis(LATE_INTERVAL_MILLIS));
            self.forget_before(self.newest.plus_millis(-LATE_MILLIS));
        }
        Ok(())
    }

    /// Forgets the entries before the period that the next reads cover.
    fn forget_before(&mut self, oldest: Timestamp) {
        self.sent.retain(|_, at| *at >= oldest);
        self.bulk_ends.retain(|at, _| *at >= oldest);
    }

    /// Returns the last entry of the bulk change of an event.
    async fn bulk_end(&self, tx: &mut Tx, event: &ChangeEvent) -> Result<AuditId, Error> {
        let known = self.bulk_ends.get(&event.occurred_at).copied();
        if let Some(end) = known.filter(|end| *end >= event.id) {
            return Ok(end);
        }
        let last = store::audit::last_at(tx, event.occurred_at).await?;
        Ok(last.unwrap_or(event.id))
    }
}

/// Returns the event for all entries of one time, if a page contains no others. It names no flag and no environment, so
/// it concerns the pages of all.
fn bulk_event(page: &[ChangeEvent]) -> Option<ChangeEvent> {
    let (first, last) = (page.first()?, page.last()?);
    (first.occurred_at == last.occurred_at).then(|| ChangeEvent {
        flag: None,
        environment: None,
        product: None,
        environment_name: None,
        ..last.clone()
    })
}
