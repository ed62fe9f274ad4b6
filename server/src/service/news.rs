//! What has just changed, for people who are looking at it.
//!
//! The audit log knows every change, whichever process made it. While somebody listens, it is read for what is new: at
//! once after a change of this process, and at intervals for the others.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use pennon_model::audit::ChangeEvent;
use pennon_model::id::AuditId;
use pennon_model::time::Timestamp;
use tokio::sync::{Notify, broadcast};
use tokio::time::sleep;

use super::Service;
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store;

/// How often the log is read when nothing hints at a change.
const INTERVAL: Duration = Duration::from_millis(500);

/// For how long an entry may turn up after later ones, because the clocks of instances differ, in milliseconds.
const DISORDER_MILLIS: i64 = 5_000;

/// How much a listener may fall behind before it has to begin anew.
const BACKLOG: usize = 256;

/// What listeners are told.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// Something changed.
    Changed(Arc<ChangeEvent>),
    /// Somebody signed out.
    SignedOut,
}

/// The ways from whoever changes something to whoever listens.
pub(crate) struct Newsroom {
    told: broadcast::Sender<Told>,
    /// That there may be news, or a first listener.
    hint: Notify,
}

impl Default for Newsroom {
    fn default() -> Self {
        Self {
            told: broadcast::Sender::new(BACKLOG),
            hint: Notify::new(),
        }
    }
}

impl Newsroom {
    /// Listens from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Told> {
        let listener = self.told.subscribe();
        self.hint.notify_one();
        listener
    }

    /// Says that something was committed.
    pub(crate) fn hint(&self) {
        self.hint.notify_one();
    }

    /// Says that somebody has signed out.
    pub(crate) fn signed_out(&self) {
        // An error means that nobody listens.
        _ = self.told.send(Told::SignedOut);
    }

    fn is_heard(&self) -> bool {
        self.told.receiver_count() > 0
    }
}

impl Service {
    /// Reads the log for as long as somebody listens; runs for as long as it is polled.
    pub async fn tell(self) {
        loop {
            self.newsroom.hint.notified().await;
            let mut reader = Reader::new(self.clock.now());
            while self.newsroom.is_heard() {
                if let Err(error) = reader.read(&self).await {
                    // Who listens learns of an outage elsewhere, and of all changes once it is over.
                    tracing::debug!(%error, "the audit log cannot be read for news");
                }
                tokio::select! {
                    () = self.newsroom.hint.notified() => {}
                    () = sleep(INTERVAL) => {}
                }
            }
        }
    }
}

/// Where the reading of the log stands.
struct Reader {
    /// The newest entry's time.
    newest: Timestamp,
    /// What was told among the entries that are read again because others may still come before them.
    told: HashSet<AuditId>,
}

impl Reader {
    fn new(now: Timestamp) -> Self {
        Self {
            newest: now,
            told: HashSet::new(),
        }
    }

    /// Tells what is new. What happened just before the first listener came is told too: to hear of it twice does no harm.
    async fn read(&mut self, service: &Service) -> Result<(), Error> {
        let since = Timestamp::from_millis(self.newest.millis().saturating_sub(DISORDER_MILLIS));
        let entries = store::audit::since(&mut service.db.read().await?, since).await?;
        let before = std::mem::take(&mut self.told);
        for event in entries {
            self.newest = self.newest.max(event.occurred_at);
            self.told.insert(event.id);
            if !before.contains(&event.id) {
                _ = service.newsroom.told.send(Told::Changed(Arc::new(event)));
            }
        }
        Ok(())
    }
}

/// When the last change happened that the actor may hear of.
pub(crate) async fn newest(service: &Service, actor: &Actor) -> Result<Option<Timestamp>, Error> {
    let accounts = actor.administrator().is_ok();
    store::audit::newest(&mut service.db.read().await?, accounts).await
}
