//! The state of the database's disk: full or not, according to the last writes.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;

/// Records that a write failed because the disk is full, until a write succeeds.
#[derive(Default)]
pub(crate) struct Storage {
    full: AtomicBool,
}

impl Storage {
    /// Returns true if the last write failed because the disk is full.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Returns the result of a statement, and records whether it failed because the disk is full. This is logged once.
    pub(super) fn watch<T>(&self, result: Result<T, impl Into<Error>>) -> Result<T, Error> {
        let result = result.map_err(Into::into);
        if let Err(Error::StorageFull(error)) = &result
            && !self.full.swap(true, Ordering::Relaxed)
        {
            tracing::error!(%error, "the disk of the database is full: changes and sign-ins fail until there is space");
        }
        result
    }

    /// Records that a write has reached the disk.
    pub(super) fn has_space(&self) {
        if self.full.swap(false, Ordering::Relaxed) {
            tracing::info!("the disk of the database has space again");
        }
    }
}
