//! The backup of a SQLite file before its schema is upgraded.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::SqliteConnection;
use tokio::time::sleep;

use super::{CopyError, OpenError, sqlite};

/// The number of backups to keep next to the file.
const KEPT: usize = 2;

/// The pause between two attempts to lock a folder.
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// The part of a backup's name between the file's name and the version.
const INFIX: &str = ".before-";

/// The backup of a file before the migration with a certain version.
pub(super) struct Backup {
    /// The file itself: SQLite also resolves symbolic links, and keeps the write-ahead log next to it.
    file: PathBuf,
    backup: PathBuf,
}

impl Backup {
    /// Returns the backup `<file>.before-<next>`, which may not exist yet. A database in memory has none.
    pub(super) fn before(next: i64, file: &Path) -> Option<Self> {
        if sqlite::is_in_memory(file) {
            return None;
        }
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let backup = beside(&file, &format!("{INFIX}{next}"));
        Some(Self { file, backup })
    }

    pub(super) fn exists(&self) -> bool {
        self.backup.is_file()
    }

    /// Writes the database into the backup. Fails unless it is on disk. After a failure, no migration may start.
    pub(super) async fn write(&self, connection: &mut SqliteConnection) -> Result<(), OpenError> {
        let failed = |problem: CopyError| OpenError::Backup {
            file: self.file.clone(),
            backup: self.backup.clone(),
            folder: folder(&self.file).to_owned(),
            problem: problem.to_string(),
        };
        write(connection, &self.backup).await.map_err(failed)?;
        tracing::info!(
            backup = %self.backup.display(),
            "backed up the database before upgrading its schema"
        );
        Ok(())
    }

    /// Deletes all other backups but the newest.
    pub(super) fn delete_older(&self) {
        if let Err(error) = delete_old(&self.file, &self.backup) {
            tracing::warn!(%error, "cannot delete old backups of the database");
        }
    }
}

/// Locks the folder of a database against other upgrades. A lock on the file itself would interfere with those of
/// SQLite. Returns `None` for a database in memory, and otherwise like [`lock_folder`].
pub(super) async fn lock(file: &Path) -> Option<File> {
    if sqlite::is_in_memory(file) {
        return None;
    }
    lock_folder(folder(&file.canonicalize().ok()?)).await
}

/// Locks a folder against other processes that upgrade or back up a database in it, until the result is dropped. While
/// another process holds the lock, it waits. Returns `None` if the file system has no such locks.
pub(crate) async fn lock_folder(folder: &Path) -> Option<File> {
    let lock = File::open(folder).ok()?;
    let mut has_waited = false;
    loop {
        match lock.try_lock() {
            Ok(()) => return Some(lock),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => {
                tracing::debug!(%error, "cannot lock the folder");
                return None;
            }
        }
        if !has_waited {
            tracing::warn!(
                folder = %folder.display(),
                "waiting for another process, which upgrades or backs up a database in the folder"
            );
            has_waited = true;
        }
        sleep(LOCK_PAUSE).await;
    }
}

/// Copies the database under a temporary name first, so that a backup with the final name is always complete. An
/// existing backup of this name is from an earlier attempt at the same upgrade, and is replaced.
async fn write(connection: &mut SqliteConnection, backup: &Path) -> Result<(), CopyError> {
    let unfinished = beside(backup, ".unfinished");
    remove_if_there(&unfinished)?;
    sqlite::copy(connection, &unfinished).await?;
    finish(&unfinished, backup).map_err(|error| {
        // The error above is more useful than one of the removal.
        let _ = fs::remove_file(&unfinished);
        CopyError::Io(error)
    })
}

/// Syncs a copy to disk, and then renames it.
pub(super) fn finish(unfinished: &Path, backup: &Path) -> io::Result<()> {
    File::open(unfinished)?.sync_all()?;
    fs::rename(unfinished, backup)?;
    File::open(folder(backup))?.sync_all()
}

/// Deletes all backups of a file except `newest` and the most recent others, [`KEPT`] in total.
fn delete_old(file: &Path, newest: &Path) -> io::Result<()> {
    let mut others = Vec::new();
    for entry in fs::read_dir(folder(file))? {
        let entry = entry?;
        if is_backup(&entry.file_name(), file) && entry.path() != newest {
            others.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    others.sort_unstable();
    let surplus = (others.len() + 1).saturating_sub(KEPT);
    others
        .iter()
        .take(surplus)
        .try_for_each(|(_, old)| fs::remove_file(old))
}

/// Returns true if a backup of the file could have this name.
fn is_backup(name: &OsStr, file: &Path) -> bool {
    let prefix = file.file_name().map(OsStr::as_encoded_bytes);
    let rest = prefix.and_then(|prefix| name.as_encoded_bytes().strip_prefix(prefix));
    let version = rest.and_then(|rest| rest.strip_prefix(INFIX.as_bytes()));
    version.is_some_and(|version| !version.is_empty() && version.iter().all(u8::is_ascii_digit))
}

pub(crate) fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the path of the file with a suffix added to its name.
pub(crate) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the folder of a file with an absolute path.
fn folder(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}
