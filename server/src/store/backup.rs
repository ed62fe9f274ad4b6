//! The backup of a SQLite file before its schema is upgraded.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use sqlx::SqliteConnection;

use super::{CopyError, OpenError, sqlite};

/// The number of backups to keep next to the file.
const KEPT: usize = 2;

/// The part of a backup's name between the file's name and the version.
const INFIX: &str = ".before-";

/// Writes the database into `<file>.before-<next>`, where `next` is the version of the first pending migration, and
/// deletes all but the newest backups. A database in memory has no backup.
///
/// Fails unless the backup is on disk. After a failure, no migration may start.
pub(super) async fn keep(
    connection: &mut SqliteConnection,
    file: &Path,
    next: i64,
) -> Result<(), OpenError> {
    if sqlite::is_in_memory(file) {
        return Ok(());
    }
    // SQLite also resolves symbolic links, and keeps the write-ahead log next to the file itself.
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let backup = beside(&file, &format!("{INFIX}{next}"));
    let failed = |problem: &dyn Display| OpenError::Backup {
        file: file.clone(),
        backup: backup.clone(),
        folder: folder(&file).to_owned(),
        problem: problem.to_string(),
    };
    write(connection, &backup)
        .await
        .map_err(|problem| failed(&problem))?;
    tracing::info!(backup = %backup.display(), "backed up the database before upgrading its schema");
    if let Err(error) = delete_old(&file, &backup) {
        tracing::warn!(%error, "cannot delete old backups of the database");
    }
    Ok(())
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

/// Returns true if [`keep`] would give this name to a backup of the file.
fn is_backup(name: &OsStr, file: &Path) -> bool {
    let prefix = file.file_name().map(OsStr::as_encoded_bytes);
    let rest = prefix.and_then(|prefix| name.as_encoded_bytes().strip_prefix(prefix));
    let version = rest.and_then(|rest| rest.strip_prefix(INFIX.as_bytes()));
    version.is_some_and(|version| !version.is_empty() && version.iter().all(u8::is_ascii_digit))
}

pub(super) fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the path of the file with a suffix added to its name.
pub(super) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the folder of a file with an absolute path.
fn folder(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}
