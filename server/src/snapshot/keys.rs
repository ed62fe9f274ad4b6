//! The SDK keys of the served environments.
//!
//! Each environment is served under its own key and, for some time after a rotation, also under its previous one. The
//! end of that time is checked against the clock for every request, so it holds without the database.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use pennon_model::client::Client;
use pennon_model::secret::SecretHash;
use pennon_model::time::Timestamp;
use tokio::sync::watch;
use tokio::time::sleep;

use super::clients::{ClientUsage, OpenStream};
use super::served::{Follower, Served};
use crate::clock::Clock;
use crate::store::snapshots::PreviousKeyHash;

/// The longest interval between looks at the clock, which may be set.
pub(crate) const TICK: Duration = Duration::from_millis(250);

/// The environments by the hashes of their keys.
pub(super) type Keys = HashMap<SecretHash, Access>;

/// The environment to which a key gives access.
#[derive(Clone)]
pub(super) struct Access {
    pub(super) served: Arc<Served>,
    /// The overlap, if the key is the environment's previous one.
    pub(super) overlap: Option<Arc<Overlap>>,
}

/// The time for which a previous key gives access to an environment.
pub(crate) struct Overlap {
    ends_at: Timestamp,
    clock: Arc<dyn Clock>,
    /// True once it has ended, in time or early.
    ended: watch::Sender<bool>,
    /// The clients that use the key.
    clients: Arc<ClientUsage>,
}

impl Access {
    /// Returns the access by an environment's own key.
    pub(super) fn own(served: &Arc<Served>) -> Self {
        Self {
            served: Arc::clone(served),
            overlap: None,
        }
    }

    /// Returns the access by an environment's previous key; none if its overlap is over. `known` is the access by that
    /// key so far, whose overlap continues if it is the same.
    pub(super) fn previous(
        served: &Arc<Served>,
        key: PreviousKeyHash,
        known: Option<&Self>,
        clock: &Arc<dyn Clock>,
    ) -> Option<Self> {
        let known = known.filter(|known| known.served.id == served.id);
        let known = known.and_then(|known| known.overlap.as_ref());
        let known = known.filter(|overlap| overlap.ends_at == key.ends_at);
        let overlap = match known {
            Some(overlap) => Arc::clone(overlap),
            None => Overlap::begin(served, key.ends_at, clock),
        };
        (!overlap.is_over()).then(|| Self {
            served: Arc::clone(served),
            overlap: Some(overlap),
        })
    }

    /// Returns true if the key is an environment's previous one.
    pub(super) fn is_previous(&self) -> bool {
        self.overlap.is_some()
    }

    /// Returns true if the overlap is over.
    pub(super) fn is_over(&self) -> bool {
        self.overlap
            .as_ref()
            .is_some_and(|overlap| overlap.is_over())
    }

    /// Follows the environment for as long as the key works.
    pub(super) fn follow(&self) -> Follower {
        self.served.follow(self.overlap.clone())
    }

    /// Ends the streams of a previous key.
    pub(super) fn end_overlap(&self) {
        if let Some(overlap) = &self.overlap {
            overlap.end();
        }
    }

    /// Returns true if both give the same access.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let overlap = |access: &Self| access.overlap.as_ref().map(Arc::as_ptr);
        Arc::ptr_eq(&self.served, &other.served) && overlap(self) == overlap(other)
    }
}

impl Overlap {
    fn begin(served: &Served, ends_at: Timestamp, clock: &Arc<dyn Clock>) -> Arc<Self> {
        let usage = Arc::clone(served.current().usage());
        let overlap = Arc::new(Self {
            ends_at,
            clock: Arc::clone(clock),
            ended: watch::Sender::new(false),
            clients: usage.of_previous_key(served.id),
        });
        tokio::spawn(end_in_time(Arc::downgrade(&overlap)));
        overlap
    }

    /// Returns true if the previous key no longer gives access.
    pub(super) fn is_over(&self) -> bool {
        *self.ended.borrow() || self.left() == 0
    }

    /// Resolves when the overlap ends.
    pub(super) fn over(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut ended = self.ended.subscribe();
        async move {
            // The caller holds the overlap, so the sender exists.
            let _ = ended.wait_for(|ended| *ended).await;
        }
    }

    /// Counts a request with the previous key.
    pub(crate) fn count_request(&self, client: Client) {
        self.clients.count_request(client);
    }

    /// Counts a stream that was opened with the previous key, until the result is dropped.
    pub(super) fn count_stream(&self, client: Client) -> OpenStream {
        self.clients.count_stream(client)
    }

    fn end(&self) {
        self.ended.send_replace(true);
    }

    /// Returns the milliseconds until the end.
    fn left(&self) -> u64 {
        let left = self
            .ends_at
            .millis()
            .saturating_sub(self.clock.now().millis());
        u64::try_from(left).unwrap_or(0)
    }
}

/// Ends an overlap at its time.
async fn end_in_time(overlap: Weak<Overlap>) {
    while let Some(overlap) = overlap.upgrade() {
        let left = overlap.left();
        if left == 0 {
            overlap.end();
            return;
        }
        drop(overlap);
        sleep(TICK.min(Duration::from_millis(left))).await;
    }
}
