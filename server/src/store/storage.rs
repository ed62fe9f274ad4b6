//! Faults of the database's storage that affect only writes, according to the last writes.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;

/// Records that a write failed because the disk is full or the database is read-only, until a write succeeds.
#[derive(Default)]
pub(crate) struct Storage {
    full: AtomicBool,
    read_only: AtomicBool,
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
    pub(super) fn has_space(&self) {
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
