//! The state of the disk that holds the database: full or not, as far as the last writes tell.

use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::error::DatabaseError;

use crate::error::Error;
use crate::store::{Tx, on_conn};

/// Remembers that a write failed because the disk is full, until one succeeds again.
#[derive(Default)]
pub(crate) struct Storage {
    full: AtomicBool,
}

impl Storage {
    /// Whether the last write failed because the disk is full.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Hands on the result of a statement, and notes whether it failed because the disk is full.
    pub(super) fn watch<T>(&self, result: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        result.map_err(|error| self.seen(error))
    }

    /// Hands on an error, and notes whether its cause is a full disk. The log says so once.
    pub(super) fn seen(&self, error: sqlx::Error) -> sqlx::Error {
        if means_full(&error) && !self.full.swap(true, Ordering::Relaxed) {
            tracing::error!(%error, "the disk of the database is full: changes and sign-ins fail until there is space");
        }
        error
    }

    /// Notes that a write has reached the disk.
    pub(super) fn has_space(&self) {
        if self.full.swap(false, Ordering::Relaxed) {
            tracing::info!("the disk of the database has space again");
        }
    }
}

/// Writes a row that means nothing, so that the commit needs space on the disk.
pub(super) async fn write_something(tx: &mut Tx) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "insert into settings (name, value) values ('storage_check', '0')
         on conflict (name) do update set value = cast(cast(settings.value as bigint) + 1 as text)",
    ).execute(conn).await.map(drop))?;
    Ok(())
}

/// Whether the database could not write for lack of space.
///
/// SQLite says so with code 13; its codes 778 and 4874 are the failed writes of a quota or a limit of the file's size
/// (<https://sqlite.org/rescode.html>). PostgreSQL says so with 53100
/// (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
pub(crate) fn means_full(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| matches!(&*code, "13" | "778" | "4874" | "53100"))
}
