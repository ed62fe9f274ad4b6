//! The restoration of a SQLite file from a backup.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor};

use super::backup::{beside, finish, remove_if_there};
use super::{CopyError, OpenError, Outdated, schema, sqlite};

/// The suffixes of the files that SQLite keeps next to a database. These files belong to the old database.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A restored database.
pub(crate) struct Restored {
    /// The file of the database.
    pub(crate) file: PathBuf,
    /// Its size in bytes.
    pub(crate) bytes: u64,
    /// The schema, if it is older than the one of this binary.
    pub(crate) outdated: Option<Outdated>,
}

/// The reason that a backup was not restored. The database is unchanged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RestoreError {
    /// The database is on PostgreSQL, not in a file.
    #[error("to restore a PostgreSQL database, use PostgreSQL's own tools, such as pg_restore")]
    NotAFile,
    /// The URL is not one of a supported database.
    #[error(transparent)]
    Url(#[from] OpenError),
    /// The backup does not exist.
    #[error("there is no backup at {}", .0.display())]
    Missing(PathBuf),
    /// The current user may not read the backup.
    #[error(
        "cannot read the backup {}: {problem}; give the user of this command permission to read it", file.display()
    )]
    Unreadable {
        /// The backup.
        file: PathBuf,
        /// The message of the operating system.
        problem: io::Error,
    },
    /// The backup is the database itself.
    #[error("{} is the database itself; name the file of a backup", .0.display())]
    Same(PathBuf),
    /// The backup is damaged, or is not a database of Pennon.
    #[error("the backup {} cannot be used: {problem}", file.display())]
    Unusable {
        /// The backup.
        file: PathBuf,
        /// The message of SQLite, or the fault that was found.
        problem: String,
    },
    /// A database already exists.
    #[error(
        "a database already exists at {}; to replace it, stop the server and repeat the command with --force",
        .0.display()
    )]
    Taken(PathBuf),
    /// The database to replace does not exist.
    #[error(
        "there is no database at {} to replace; name the server's database with --database-url, or create this one by \
         leaving out --force",
        .0.display()
    )]
    NothingToReplace(PathBuf),
    /// Another program has the database open.
    #[error("{} is in use; stop the server, and everything else that has it open", .0.display())]
    InUse(PathBuf),
    /// The database has another owner, who could not read files of the current user.
    #[error(
        "{} must belong to user {user} and group {group}, as before, and cannot be given to them: {problem}; run the \
         command as {remedy}, or as root", file.display()
    )]
    Owner {
        /// The file of the database.
        file: PathBuf,
        /// The user ID.
        user: u32,
        /// The group ID.
        group: u32,
        /// The message of the operating system.
        problem: io::Error,
        /// The user to run the command as.
        remedy: &'static str,
    },
    /// The backup cannot be copied.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The database cannot be locked.
    #[error("cannot open the database: {0}")]
    Connect(#[from] sqlx::Error),
    /// The database cannot be written.
    #[error("cannot write the database: {0}")]
    Io(#[from] io::Error),
}

/// Restores the database at a URL from a backup. With `replace`, the database must exist, and not be in use. Without
/// it, the database must not exist.
///
/// The backup is checked and copied to a file next to the database, which then replaces the database atomically.
pub(super) async fn restore(
    url: &str,
    backup: &Path,
    replace: bool,
) -> Result<Restored, RestoreError> {
    let file = database(url)?;
    // SQLite gives no reason if it cannot open a file.
    File::open(backup).map_err(|problem| match problem.kind() {
        ErrorKind::PermissionDenied => RestoreError::Unreadable {
            file: backup.to_owned(),
            problem,
        },
        _ => RestoreError::Missing(backup.to_owned()),
    })?;
    if backup.canonicalize()? == file {
        return Err(RestoreError::Same(file));
    }
    let mut source = open(backup).await?;
    let outdated = check(&mut source, backup).await?;
    match (file.exists(), replace) {
        (true, false) => return Err(RestoreError::Taken(file)),
        (false, true) => return Err(RestoreError::NothingToReplace(file)),
        _ => {}
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let unfinished = beside(&file, ".restoring");
    remove_if_there(&unfinished)?;
    sqlite::copy(&mut source, &unfinished).await?;
    source.close().await?;
    let placed = place(&unfinished, &file).await;
    if placed.is_err() {
        // The error above is more useful than one of the removal.
        let _ = fs::remove_file(&unfinished);
    }
    Ok(Restored {
        bytes: placed?,
        file,
        outdated,
    })
}

/// Returns the file at a URL, with symbolic links resolved if it exists.
fn database(url: &str) -> Result<PathBuf, RestoreError> {
    let options = SqliteConnectOptions::from_str(url)?;
    let file = options.get_filename();
    if sqlite::is_in_memory(file) {
        return Err(OpenError::Missing(file.to_owned()).into());
    }
    match file.canonicalize() {
        Err(_) if file.is_symlink() => Err(OpenError::Dangling(file.to_owned()).into()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(std::path::absolute(file)?),
        file => Ok(file?),
    }
}

/// Opens a backup for reading.
async fn open(backup: &Path) -> Result<SqliteConnection, RestoreError> {
    // SQLite would interpret a relative name that begins with `file:` as a URI.
    let options = SqliteConnectOptions::new()
        .filename(std::path::absolute(backup)?)
        .create_if_missing(false)
        .read_only(true)
        // The steps for a large file are slow, which is no reason for a warning.
        .disable_statement_logging();
    let opened = SqliteConnection::connect_with(&options).await;
    opened.map_err(|error| unusable(backup, &error))
}

/// Checks that a backup is complete, and its schema is not newer than this binary. Returns the schema if it is older.
async fn check(
    source: &mut SqliteConnection,
    backup: &Path,
) -> Result<Option<Outdated>, RestoreError> {
    let schema = schema::inspect_sqlite(source).await;
    let outdated = schema.map_err(|error| match error {
        OpenError::Connect(error) => unusable(backup, &error),
        OpenError::NoTables => fault(backup, "it has no tables of Pennon".to_owned()),
        error => fault(backup, error.to_string()),
    })?;
    let found = sqlx::query_scalar::<_, String>("pragma integrity_check(1)");
    let found = found.fetch_one(&mut *source).await;
    let found = found.map_err(|error| unusable(backup, &error))?;
    if found != "ok" {
        return Err(fault(backup, format!("it is damaged ({found})")));
    }
    let dangling = source.fetch_optional("pragma foreign_key_check").await?;
    if dangling.is_some() {
        return Err(fault(backup, "it has rows that refer to none".to_owned()));
    }
    Ok(outdated)
}

/// Syncs the copy to disk, and replaces the database with it. Returns its size.
async fn place(unfinished: &Path, file: &Path) -> Result<u64, RestoreError> {
    let lock = lock(file).await?;
    keep_owner(file, unfinished)?;
    let copy = File::open(unfinished)?;
    copy.sync_all()?;
    for companion in COMPANIONS {
        remove_if_there(&beside(file, companion))?;
    }
    finish(unfinished, file)?;
    drop(lock);
    Ok(copy.metadata()?.len())
}

/// Locks an existing database; fails if another program has it open. A damaged database cannot be locked.
async fn lock(file: &Path) -> Result<Option<SqliteConnection>, RestoreError> {
    if !file.exists() {
        return Ok(None);
    }
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(false)
        .busy_timeout(Duration::ZERO);
    let locked = async {
        let mut connection = SqliteConnection::connect_with(&options).await?;
        // With a write-ahead log, only a change of the journal mode requires that no other program has the file open.
        connection.execute("pragma journal_mode = delete").await?;
        connection.execute("begin exclusive").await?;
        Ok(connection)
    };
    match locked.await {
        Ok(connection) => Ok(Some(connection)),
        Err(error) if sqlite::is_busy(&error) => Err(RestoreError::InUse(file.to_owned())),
        Err(error) if sqlite::is_damage(&error) => Ok(None),
        Err(error) => Err(RestoreError::Connect(error)),
    }
}

/// Gives the copy to the owner of the file that it replaces, because the server may run as a different user than this
/// command. A new file is given to the owner of its folder, if the operating system permits it.
fn keep_owner(file: &Path, copy: &Path) -> Result<(), RestoreError> {
    let new = copy.metadata()?;
    let Ok(old) = file.metadata() else {
        if let Some(Ok(folder)) = file.parent().map(Path::metadata) {
            let _ = chown(copy, Some(folder.uid()), Some(folder.gid()));
        }
        return Ok(());
    };
    if (old.uid(), old.gid()) == (new.uid(), new.gid()) {
        return Ok(());
    }
    chown(copy, Some(old.uid()), Some(old.gid())).map_err(|problem| RestoreError::Owner {
        file: file.to_owned(),
        user: old.uid(),
        group: old.gid(),
        problem,
        remedy: if old.uid() == new.uid() {
            "a member of that group"
        } else {
            "that user"
        },
    })
}

fn unusable(backup: &Path, error: &sqlx::Error) -> RestoreError {
    let problem = match error.as_database_error() {
        Some(answer) => answer.message().to_owned(),
        None => error.to_string(),
    };
    fault(backup, problem)
}

fn fault(backup: &Path, problem: String) -> RestoreError {
    RestoreError::Unusable {
        file: backup.to_owned(),
        problem,
    }
}
