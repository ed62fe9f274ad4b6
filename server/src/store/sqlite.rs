//! The SQLite file: creation, settings, connections, and errors with remedies.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, Sqlite, Transaction};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::schema::{self, Outdated};
use super::{
    AUTHENTICATORS, Access, CopyError, FOLLOWERS, OpenError, OpenMode, READERS, WRITE_LOCK_TIMEOUT,
    backup,
};
use crate::database_error::{
    Failure, SQLITE_BUSY, SQLITE_CANTOPEN, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_READONLY,
    classify, primary_code,
};

/// The busy timeout of one attempt to lock the file. SQLite's busy handler backs off to 100 ms between attempts, so
/// [`File::begin_to_write`] restarts it before that.
const LOCKING: Duration = Duration::from_millis(50);

/// The maximum size of the write-ahead log between two checkpoints, in bytes.
const MAX_IDLE_LOG: &str = "67108864";

/// A database in one file.
#[derive(Clone)]
pub(super) struct File {
    /// The only connection for short writes, so that they run in the order in which they arrive.
    writer: SqlitePool,
    /// Lets one writer at a time wait for the lock of the file.
    next: Arc<Semaphore>,
    /// The connection for migrations, imports and backups, with SQLite's own busy handler.
    preparer: SqlitePool,
    readers: SqlitePool,
    authenticators: SqlitePool,
    followers: SqlitePool,
}

impl File {
    /// Opens the file, and syncs every commit, so that it survives a power failure. Also returns the schema if it is
    /// outdated and `mode` leaves it unchanged.
    pub(super) async fn open(
        url: &str,
        mode: OpenMode,
    ) -> Result<(Self, Option<Outdated>), OpenError> {
        let options = SqliteConnectOptions::from_str(url)?
            // SQLite would create a file that other users can read.
            .create_if_missing(false)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            // The container image has no folder for temporary files.
            .pragma("temp_store", "memory")
            // Otherwise, the write-ahead log keeps the size of the largest transaction while the server runs.
            .pragma("journal_size_limit", MAX_IDLE_LOG)
            .busy_timeout(WRITE_LOCK_TIMEOUT)
            // Another thread reads the rows. With a large buffer, it need not wait until the caller has taken the
            // previous ones.
            .row_buffer_size(1_000);
        let file = options.get_filename().to_owned();
        if file.as_os_str().is_empty() {
            return Err(OpenError::NoFile);
        }
        if let OpenMode::Serve(_) = mode {
            create_file(&file)?;
        } else if !file.exists() {
            return Err(OpenError::Missing(file));
        }
        let unusable = |error| unusable(&file, error);
        // The steps of an upgrade of a large file are slow, which is no reason for a warning.
        let preparer = options.clone().disable_statement_logging();
        let preparer = pool(1).connect_with(preparer).await;
        let preparer = preparer.map_err(unusable)?;
        let outdated = match mode {
            OpenMode::AsIs => schema::inspect_sqlite(&mut *preparer.acquire().await?).await,
            _ => schema::upgrade_sqlite(&preparer, &file)
                .await
                .map(|()| None),
        };
        let outdated = match outdated {
            Err(OpenError::Connect(error)) => return Err(unusable(error)),
            outdated => outdated?,
        };
        if mode != OpenMode::AsIs {
            ensure_writable(&preparer).await.map_err(unusable)?;
        }
        let writer = options.clone().busy_timeout(LOCKING);
        let reader = options.pragma("query_only", "on");
        let readers = async |connections| {
            let opened = pool(connections).connect_with(reader.clone()).await;
            opened.map_err(unusable)
        };
        let opened = Self {
            writer: pool(1).connect_with(writer).await.map_err(unusable)?,
            next: Arc::new(Semaphore::new(1)),
            preparer,
            readers: readers(READERS).await?,
            authenticators: readers(AUTHENTICATORS).await?,
            followers: readers(FOLLOWERS).await?,
        };
        Ok((opened, outdated))
    }

    /// Returns the name of the file.
    pub(super) fn location(&self) -> String {
        let options = self.readers.connect_options();
        let file = options.get_filename();
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        file.display().to_string()
    }

    pub(super) async fn begin(
        &self,
        access: Access,
    ) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
        match access {
            Access::Read => self.readers.begin().await,
            Access::Authenticate => self.authenticators.begin().await,
            Access::Follow => self.followers.begin().await,
            Access::Write => self.begin_to_write().await,
            // The first write locks the file.
            Access::Prepare => self.preparer.begin().await,
        }
    }

    /// Begins a transaction that holds the write lock: waits for the other writes of this process and of other
    /// processes.
    async fn begin_to_write(&self) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
        let deadline = Instant::now() + WRITE_LOCK_TIMEOUT;
        let next = timeout_at(deadline, self.next.acquire()).await;
        let _next = next.map_err(|_| sqlx::Error::PoolTimedOut)?;
        loop {
            let begun = timeout_at(deadline, self.writer.begin_with("begin immediate")).await;
            match begun.map_err(|_| sqlx::Error::PoolTimedOut)? {
                Err(error) if is_busy(&error) && Instant::now() < deadline => {}
                begun => return begun,
            }
        }
    }

    /// Writes the current content of the database into a new file.
    pub(super) async fn copy_to(&self, file: &Path) -> Result<(), CopyError> {
        copy(&mut *self.preparer.acquire().await?, file).await
    }

    /// Closes all connections, which merges the write-ahead log into the file.
    pub(super) async fn close(&self) {
        self.readers.close().await;
        self.authenticators.close().await;
        self.followers.close().await;
        self.preparer.close().await;
        self.writer.close().await;
    }
}

fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(WRITE_LOCK_TIMEOUT)
        // A file does not close connections.
        .test_before_acquire(false)
        .after_release(|connection, _| Box::pin(is_reusable(connection)))
}

/// Returns true if another connection has locked the file.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(SQLITE_BUSY)
}

/// Returns true if the file is damaged or is not a database.
pub(super) fn is_damage(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(SQLITE_CORRUPT | SQLITE_NOTADB))
}

/// Returns true if a connection can serve another transaction.
///
/// SQLite itself ends a transaction when the disk is full, when a read or write fails, or when a trigger ends it. The
/// driver does not notice this: its own rollback fails, and it would refuse every further transaction on this
/// connection.
async fn is_reusable(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    // Completes after the driver has tried the pending rollback.
    connection.ping().await?;
    Ok(!connection.is_in_transaction())
}

/// Writes the current content of a database into a new file, which other users cannot read. After a failure, no file is
/// left. Other connections can write to the database in the meantime.
pub(super) async fn copy(connection: &mut SqliteConnection, file: &Path) -> Result<(), CopyError> {
    // SQLite would interpret a relative name that begins with `file:` as a URI.
    let file = std::path::absolute(file)?;
    let name = file.to_str().ok_or(CopyError::NotText)?;
    // SQLite itself would create a file that other users can read, and would follow a symbolic link.
    create_private(&file)?;
    let copying = sqlx::query("vacuum into $1").bind(name);
    if let Err(error) = copying.execute(connection).await {
        // The error above is more useful than one of the removal.
        for left in [&file, &backup::beside(&file, "-journal")] {
            let _ = std::fs::remove_file(left);
        }
        return Err(error.into());
    }
    Ok(())
}

/// Returns true for the name of a database in memory, which begins with `file:` and is not a file name.
pub(super) fn is_in_memory(file: &Path) -> bool {
    file.to_string_lossy().starts_with("file:")
}

/// Creates a database's file, and its folder, unless they exist.
fn create_file(file: &Path) -> Result<(), OpenError> {
    if is_in_memory(file) {
        return Ok(());
    }
    if let Some(folder) = file.parent().filter(|folder| *folder != Path::new("")) {
        std::fs::create_dir_all(folder).map_err(|problem| unwritable(file, problem))?;
    }
    match create_private(file) {
        // The existing entry may be a symbolic link to a missing file.
        Err(problem) if problem.kind() == ErrorKind::AlreadyExists => match file.try_exists() {
            Ok(false) => Err(OpenError::Dangling(file.to_owned())),
            _ => Ok(()),
        },
        created => created.map_err(|problem| unwritable(file, problem)),
    }
}

/// Fails if the file cannot be written, because SQLite opens such a file for reading. A file that another process is
/// writing can be written.
async fn ensure_writable(pool: &SqlitePool) -> Result<(), sqlx::Error> {
    let write = sqlx::query("update settings set value = value where false");
    match write.execute(pool).await {
        Err(error) if !is_busy(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Returns the reason that SQLite cannot open an existing file.
fn unusable(file: &Path, error: sqlx::Error) -> OpenError {
    let Some(answer) = error.as_database_error() else {
        return OpenError::Connect(error);
    };
    match primary_code(&error) {
        Some(SQLITE_READONLY | SQLITE_CANTOPEN) if !file.is_dir() => {
            unwritable(file, answer.message())
        }
        Some(SQLITE_CANTOPEN | SQLITE_NOTADB) => OpenError::NotADatabase(file.to_owned()),
        Some(SQLITE_CORRUPT) => OpenError::Damaged {
            file: file.to_owned(),
            problem: answer.message().to_owned(),
        },
        _ if classify(&error) == Failure::Full => OpenError::Full {
            folder: existing_folder(file),
            file: file.to_owned(),
        },
        _ => OpenError::Connect(error),
    }
}

/// Returns the closest existing folder above a file.
fn existing_folder(file: &Path) -> PathBuf {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.ancestors().skip(1).find(|folder| folder.is_dir());
    folder.unwrap_or(&file).to_owned()
}

/// Returns the error for a file that cannot be written. It names the folder that must be writable, because SQLite
/// creates further files next to an existing one.
fn unwritable(file: &Path, problem: impl Display) -> OpenError {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    OpenError::Unwritable {
        folder: existing_folder(&file),
        problem: problem.to_string(),
        exists: file.exists(),
        file,
    }
}

/// Creates a file that only its owner can read, because a database contains secrets. SQLite gives the files next to it
/// the same permissions. Fails if the name is taken, and does not follow symbolic links.
fn create_private(file: &Path) -> std::io::Result<()> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .map(drop)
}
