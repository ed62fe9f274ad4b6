//! The errors of the databases: their codes, and what they mean for a request.

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
pub(crate) const INVALID_SCHEMA_NAME: &str = "3F000";
pub(crate) const DEADLOCK_DETECTED: &str = "40P01";
pub(crate) const INSUFFICIENT_PRIVILEGE: &str = "42501";
const DISK_FULL: &str = "53100";
pub(crate) const TOO_MANY_CONNECTIONS: &str = "53300";
pub(crate) const LOCK_NOT_AVAILABLE: &str = "55P03";
const QUERY_CANCELED: &str = "57014";
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

/// The kinds of failures of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A write failed for lack of disk space, or at a quota or a limit of the file's size.
    Full,
    /// A write failed because the database is read-only, as a standby of PostgreSQL is.
    ReadOnly,
    /// The database gave up waiting for a lock.
    Busy,
    /// The database canceled a statement that took too long.
    Canceled,
    /// The database cannot be reached, or cannot execute statements for another reason.
    Unavailable,
    /// The statement is wrong, or violates a constraint.
    Other,
}

/// Returns the kind of an error.
pub(crate) fn classify(error: &sqlx::Error) -> Failure {
    use sqlx::Error as Sql;
    match error {
        Sql::Io(_) | Sql::PoolTimedOut | Sql::PoolClosed | Sql::WorkerCrashed | Sql::Tls(_) => {
            Failure::Unavailable
        }
        _ if is_closed_before_tls(error) => Failure::Unavailable,
        _ => code(error).map_or(Failure::Other, |code| classify_code(&code)),
    }
}

fn classify_code(code: &str) -> Failure {
    match sqlite(code) {
        Some(code) => classify_sqlite(code),
        None => classify_postgres(code),
    }
}

fn classify_sqlite(code: u32) -> Failure {
    match (code, primary(code)) {
        (SQLITE_IOERR_WRITE | SQLITE_IOERR_SHMSIZE, _) | (_, SQLITE_FULL) => Failure::Full,
        (_, SQLITE_READONLY) => Failure::ReadOnly,
        (_, SQLITE_BUSY | SQLITE_LOCKED) => Failure::Busy,
        (_, SQLITE_NOMEM | SQLITE_IOERR | SQLITE_CORRUPT | SQLITE_CANTOPEN | SQLITE_NOTADB) => {
            Failure::Unavailable
        }
        _ => Failure::Other,
    }
}

fn classify_postgres(code: &str) -> Failure {
    match code {
        DISK_FULL => Failure::Full,
        READ_ONLY_SQL_TRANSACTION => Failure::ReadOnly,
        LOCK_NOT_AVAILABLE => Failure::Busy,
        QUERY_CANCELED => Failure::Canceled,
        _ if UNAVAILABLE.iter().any(|class| code.starts_with(class)) => Failure::Unavailable,
        _ => Failure::Other,
    }
}

/// Returns the code of a database's error: the number of SQLite, or the five characters of PostgreSQL.
pub(crate) fn code(error: &sqlx::Error) -> Option<Cow<'_, str>> {
    error.as_database_error()?.code()
}

/// Returns true if the server closed the connection before it answered whether it offers TLS, as a proxy does that
/// cannot reach PostgreSQL. sqlx takes the missing byte for a zero.
pub(crate) fn is_closed_before_tls(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Protocol(message) if message.contains("SSLRequest: 0x00"))
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

/// Parses an extended result code of SQLite. A code of PostgreSQL is longer.
fn sqlite(code: &str) -> Option<u32> {
    (code.len() < 5).then(|| code.parse().ok()).flatten()
}

/// Returns the primary result code, which is the lowest byte of the extended one.
fn primary(extended: u32) -> u32 {
    extended & 0xff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_meaning() {
        for (failure, codes) in [
            (Failure::Full, &["13", "778", "4874", "53100"][..]),
            (Failure::ReadOnly, &["8", "264", "1032", "25006"]),
            (Failure::Busy, &["5", "6", "261", "55P03"]),
            (Failure::Canceled, &["57014"]),
            (
                Failure::Unavailable,
                &[
                    "10", "11", "14", "266", "522", "3850", "08006", "25P03", "40001", "53300",
                    "57P01", "58030",
                ],
            ),
            (Failure::Other, &["1", "19", "2067", "23505", "42601"]),
        ] {
            for code in codes {
                assert_eq!(classify_code(code), failure, "{code}");
            }
        }
    }
}
