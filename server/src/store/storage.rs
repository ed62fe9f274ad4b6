//! Faults of the database that affect only writes, according to the last writes and the last probe.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::error::Error;

/// The wait for a connection after which a write suspects that PostgreSQL accepts no more.
const LONG_WAIT: Duration = Duration::from_millis(500);

/// Records that writes fail because the disk is full, the database is read-only, or it refuses connections, until a
/// write or a probe succeeds.
#[derive(Default)]
pub(crate) struct Storage {
    full: AtomicBool,
    read_only: AtomicBool,
    /// True if no connection for writes is free and none can be opened. Writes that wait for one watch for changes.
    refuses_writers: watch::Sender<bool>,
    /// True if a write has waited for a connection for [`LONG_WAIT`] since the last probe.
    awaits_writer: AtomicBool,
}

impl Storage {
    /// Returns true if the last write failed because the disk is full.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Returns true if the database was read-only at the last write, or at the last probe.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only.load(Ordering::Relaxed)
    }

    /// Returns true if no connection for writes was free at the last probe and none could be opened.
    pub(crate) fn refuses_writers(&self) -> bool {
        *self.refuses_writers.borrow()
    }

    /// Waits until PostgreSQL is known to refuse connections for writes. After [`LONG_WAIT`], asks the probe to check.
    pub(super) async fn until_refused(&self) {
        let mut refuses = self.refuses_writers.subscribe();
        if timeout(LONG_WAIT, refuses.wait_for(|refuses| *refuses))
            .await
            .is_err()
        {
            self.awaits_writer.store(true, Ordering::Relaxed);
            // An error would mean that the database and all its users are dropped.
            let _ = refuses.wait_for(|refuses| *refuses).await;
        }
    }

    /// Returns true if the probe must check whether connections for writes can be opened.
    pub(super) fn take_awaits_writer(&self) -> bool {
        self.awaits_writer.swap(false, Ordering::Relaxed) || self.refuses_writers()
    }

    /// Records whether PostgreSQL refuses connections for writes.
    pub(super) fn set_refuses_writers(&self, refuses: bool) {
        let was = self.refuses_writers.send_replace(refuses);
        if refuses && !was {
            tracing::error!(
                "PostgreSQL accepts no more connections: changes and sign-ins fail until it does"
            );
        } else if was && !refuses {
            tracing::info!("PostgreSQL accepts connections again");
        }
    }

    /// Returns the result of a statement, and records whether it failed because of the storage. This is logged once.
    pub(super) fn watch<T>(&self, result: Result<T, impl Into<Error>>) -> Result<T, Error> {
        let result = result.map_err(Into::into);
        match &result {
            Err(Error::StorageFull(error)) if !self.full.swap(true, Ordering::Relaxed) => {
                tracing::error!(
                    %error,
                    "the disk of the database is full: changes and sign-ins fail until there is space"
                );
            }
            Err(Error::ReadOnly(_)) => self.set_read_only(),
            _ => {}
        }
        result
    }

    /// Records that the database is read-only.
    pub(super) fn set_read_only(&self) {
        if !self.read_only.swap(true, Ordering::Relaxed) {
            tracing::error!(
                "the database is read-only: changes and sign-ins fail until it accepts writes"
            );
        }
    }

    /// Records that a write has reached the disk.
    pub(super) fn set_has_space(&self) {
        if self.full.swap(false, Ordering::Relaxed) {
            tracing::info!("the disk of the database has space again");
        }
    }

    /// Records that the database accepts writes.
    pub(super) fn set_writable(&self) {
        if self.read_only.swap(false, Ordering::Relaxed) {
            tracing::info!("the database accepts writes again");
        }
    }
}
