//! The error codes of the databases, and their meanings.

use std::borrow::Cow;

// The result codes of SQLite (<https://sqlite.org/rescode.html>). The last two are extended codes of `SQLITE_IOERR`.
pub(crate) const SQLITE_BUSY: u32 = 5;
const SQLITE_LOCKED: u32 = 6;
const SQLITE_NOMEM: u32 = 7;
pub(crate) const SQLITE_READONLY: u32 = 8;
const SQLITE_IOERR: u32 = 10;
pub(crate) const SQLITE_CORRUPT: u32 = 11;
const SQLITE_FULL: u32 = 13;
pub(crate) const SQLITE_CANTOPEN: u32 = 14;
pub(crate) const SQLITE_NOTADB: u32 = 26;
const SQLITE_IOERR_WRITE: u32 = 778;
const SQLITE_IOERR_SHMSIZE: u32 = 4874;

// The error codes of PostgreSQL (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
const CONNECTION_EXCEPTIONS: &str = "08";
pub(crate) const PROTOCOL_VIOLATION: &str = "08P01";
pub(crate) const READ_ONLY_SQL_TRANSACTION: &str = "25006";
pub(crate) const INVALID_AUTHORIZATION: &str = "28000";
pub(crate) const INVALID_PASSWORD: &str = "28P01";
pub(crate) const INVALID_CATALOG_NAME: &str = "3D000";
pub(crate) const DEADLOCK_DETECTED: &str = "40P01";
pub(crate) const INSUFFICIENT_PRIVILEGE: &str = "42501";
const DISK_FULL: &str = "53100";
pub(crate) const TOO_MANY_CONNECTIONS: &str = "53300";
pub(crate) const LOCK_NOT_AVAILABLE: &str = "55P03";
pub(crate) const QUERY_CANCELED: &str = "57014";
pub(crate) const ADMIN_SHUTDOWN: &str = "57P01";
pub(crate) const CRASH_SHUTDOWN: &str = "57P02";
pub(crate) const CANNOT_CONNECT_NOW: &str = "57P03";

/// The classes, and one code, of errors that mean that PostgreSQL is temporarily unavailable: connection exceptions, an
/// idle transaction that was ended, refused credentials, no such database, lost to another transaction, insufficient
/// resources, not ready or locked, operator intervention, system errors.
const UNAVAILABLE: [&str; 9] = [
    CONNECTION_EXCEPTIONS,
    "25P03",
    "28",
    "3D",
    "40",
    "53",
    "55",
    "57",
    "58",
];

/// Returns the code of a database's error: the number of SQLite, or the five characters of PostgreSQL.
pub(crate) fn code(error: &sqlx::Error) -> Option<Cow<'_, str>> {
    error.as_database_error()?.code()
}

/// Returns true if a pooler reports that its connection to PostgreSQL is lost.
pub(crate) fn is_of_pooler(error: &sqlx::Error) -> bool {
    code(error).is_some_and(|code| code.starts_with(CONNECTION_EXCEPTIONS))
}

/// Returns true if PostgreSQL itself responds with an error, and so is alive.
pub(crate) fn is_of_server(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(_)) && !is_of_pooler(error)
}

/// Returns the primary result code of an error of SQLite.
pub(crate) fn primary_code(error: &sqlx::Error) -> Option<u32> {
    code(error).and_then(|code| Some(primary(sqlite(&code)?)))
}

/// Returns true if the database gave up waiting for a lock, or canceled a statement that took too long: with `busy` or
/// `locked` of SQLite, or with `lock_not_available` or `query_canceled` of PostgreSQL.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    code(error).is_some_and(|code| match sqlite(&code) {
        Some(code) => matches!(primary(code), SQLITE_BUSY | SQLITE_LOCKED),
        None => matches!(&*code, LOCK_NOT_AVAILABLE | QUERY_CANCELED),
    })
}

/// Parses an extended result code of SQLite. A code of PostgreSQL is longer.
fn sqlite(code: &str) -> Option<u32> {
    (code.len() < 5).then(|| code.parse().ok()).flatten()
}

/// Returns the primary result code, which is the lowest byte of the extended one.
fn primary(extended: u32) -> u32 {
    extended & 0xff
}

/// Returns true if a write failed for lack of disk space, or at a quota or a limit of the file's size.
pub(crate) fn means_full(code: &str) -> bool {
    match sqlite(code) {
        Some(code) => matches!(
            code,
            SQLITE_FULL | SQLITE_IOERR_WRITE | SQLITE_IOERR_SHMSIZE
        ),
        None => code == DISK_FULL,
    }
}

/// Returns true if a write failed because the database is read-only, as a standby of PostgreSQL is.
pub(crate) fn means_read_only(code: &str) -> bool {
    match sqlite(code) {
        Some(code) => primary(code) == SQLITE_READONLY,
        None => code == READ_ONLY_SQL_TRANSACTION,
    }
}

/// Returns true if the database is temporarily unavailable. Some of the codes also [mean a full disk](means_full), which
/// is tested first.
pub(crate) fn means_unavailable(code: &str) -> bool {
    match sqlite(code) {
        Some(code) => matches!(
            primary(code),
            SQLITE_BUSY
                | SQLITE_LOCKED
                | SQLITE_NOMEM
                | SQLITE_IOERR
                | SQLITE_CORRUPT
                | SQLITE_FULL
                | SQLITE_CANTOPEN
                | SQLITE_NOTADB
        ),
        None => UNAVAILABLE.iter().any(|class| code.starts_with(class)),
    }
}

#[cfg(test)]
mod tests {
    use super::{means_full, means_read_only, means_unavailable};

    #[test]
    fn a_busy_database_is_away_and_a_violated_constraint_is_not() {
        for code in [
            "5", "261", "522", "10", "3850", "13", "08006", "25P03", "40001", "53300", "55P03",
            "57P01", "58030",
        ] {
            assert!(means_unavailable(code), "{code}");
        }
        for code in ["1", "19", "2067", "23505", "42601"] {
            assert!(!means_unavailable(code), "{code}");
        }
    }

    #[test]
    fn a_full_or_read_only_database_is_told_from_one_that_is_away() {
        for code in ["13", "778", "4874", "53100"] {
            assert!(means_full(code) && !means_read_only(code), "{code}");
        }
        for code in ["8", "264", "1032", "25006"] {
            assert!(means_read_only(code) && !means_full(code), "{code}");
        }
        for code in ["5", "10", "266", "25P03", "53300"] {
            assert!(!means_full(code) && !means_read_only(code), "{code}");
        }
    }
}
