//! Opening the SQLite file: creation, settings, and errors that say what to change.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;

use sqlx::Connection;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};

use super::{Driver, OpenError, WRITERS_PATIENCE, schema};

/// The result codes of SQLite (<https://sqlite.org/rescode.html>).
const SQLITE_READONLY: u32 = 8;
const SQLITE_CORRUPT: u32 = 11;
const SQLITE_CANTOPEN: u32 = 14;
const SQLITE_NOTADB: u32 = 26;

/// Opens the file with settings under which a commit survives a power failure: every commit is synced.
pub(super) async fn open(url: &str, create: bool) -> Result<Driver, OpenError> {
    let options = SqliteConnectOptions::from_str(url)?
        // SQLite would create a file that others can read.
        .create_if_missing(false)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(WRITERS_PATIENCE)
        // Rows come from another thread; so it need not wait until those before are taken.
        .row_buffer_size(1_000);
    let file = options.get_filename();
    if create {
        create_file(file)?;
    } else if !file.exists() {
        return Err(OpenError::Missing(file.to_owned()));
    }
    let file = file.to_owned();
    let unusable = |error| unusable(&file, error);
    let pool = || {
        SqlitePoolOptions::new()
            .acquire_timeout(WRITERS_PATIENCE)
            // A file does not hang up.
            .test_before_acquire(false)
            .after_release(|connection, _| Box::pin(is_reusable(connection)))
    };
    let writer = pool()
        .max_connections(1)
        .connect_with(options.clone())
        .await
        .map_err(unusable)?;
    let readers = pool()
        .max_connections(8)
        .connect_with(options.pragma("query_only", "on"))
        .await
        .map_err(unusable)?;
    match schema::update_sqlite(&writer).await {
        Err(OpenError::Connect(error)) => return Err(unusable(error)),
        updated => updated?,
    }
    Ok(Driver::Sqlite { writer, readers })
}

/// Whether a connection can serve another transaction.
///
/// SQLite ends a transaction by itself when the disk is full, reading or writing fails, or a trigger says so. The driver
/// does not learn of it: its own rollback fails, and it would refuse to begin anything on this connection ever after.
async fn is_reusable(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    // Answered once the rollback that precedes it has been tried.
    connection.ping().await?;
    Ok(!connection.is_in_transaction())
}

/// Makes sure that a database's file is there, and its folder.
fn create_file(file: &Path) -> Result<(), OpenError> {
    // A database in memory has a name like `file:…` and no file.
    if file.to_string_lossy().starts_with("file:") {
        return Ok(());
    }
    if let Some(folder) = file.parent().filter(|folder| *folder != Path::new("")) {
        std::fs::create_dir_all(folder).map_err(|problem| unwritable(file, problem))?;
    }
    match create_private(file) {
        // It may be a symbolic link to the file.
        Err(problem) if problem.kind() == ErrorKind::AlreadyExists => match file.try_exists() {
            Ok(false) => Err(OpenError::Dangling(file.to_owned())),
            _ => Ok(()),
        },
        created => created.map_err(|problem| unwritable(file, problem)),
    }
}

/// Why SQLite cannot open a file that is there.
fn unusable(file: &Path, error: sqlx::Error) -> OpenError {
    let Some(answer) = error.as_database_error() else {
        return OpenError::Connect(error);
    };
    // The lower byte is the kind of an error, what is above it says more.
    let code = answer.code().and_then(|code| code.parse::<u32>().ok());
    match code.map(|code| code & 0xff) {
        Some(SQLITE_READONLY | SQLITE_CANTOPEN) if !file.is_dir() => {
            unwritable(file, answer.message())
        }
        Some(SQLITE_CANTOPEN | SQLITE_NOTADB) => OpenError::NotADatabase(file.to_owned()),
        Some(SQLITE_CORRUPT) => OpenError::Damaged {
            file: file.to_owned(),
            problem: answer.message().to_owned(),
        },
        _ => OpenError::Connect(error),
    }
}

/// Names the folder that has to be writable: that of the file, or, if it cannot be created either, the next above it.
fn unwritable(file: &Path, problem: impl Display) -> OpenError {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.ancestors().skip(1).find(|folder| folder.is_dir());
    OpenError::Unwritable {
        folder: folder.unwrap_or(&file).to_owned(),
        problem: problem.to_string(),
        file,
    }
}

/// Creates a file for its owner's eyes only, because a database has secrets in it. SQLite gives the files beside it the
/// same permissions. Fails if something has this name already: a symbolic link is not followed.
pub(super) fn create_private(file: &Path) -> std::io::Result<()> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .map(drop)
}
