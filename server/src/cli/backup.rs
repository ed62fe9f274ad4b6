//! `pennon backup`: writes a consistent copy of the whole database to one file.

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::config::DatabaseSettings;
use crate::store::backup::{beside, lock_folder, remove_if_there};
use crate::store::{Db, OpenMode};

/// The file to write and the database to back up.
#[derive(Debug, Args)]
pub struct Arguments {
    /// File to write; must not exist yet
    ///
    /// Only its owner can read it, because it contains secrets.
    file: PathBuf,
    #[command(flatten)]
    database: DatabaseSettings,
}

/// Copies the database to a temporary file beside the target, so that the target is complete as soon as it exists.
pub(super) async fn run(Arguments { file, database }: Arguments) -> Result<(), Box<dyn Error>> {
    let url = database.url()?;
    let target = std::path::absolute(&file)?;
    // Held until the end, so that no other backup is writing what an interrupted one has left.
    let lock = lock_folder(target.parent().unwrap_or(&target)).await;
    if is_taken(&file) {
        return Err(format!("{} already exists", file.display()).into());
    }
    let unfinished = beside(&file, ".unfinished");
    if lock.is_some() && unfinished.is_file() && !unfinished.is_symlink() {
        remove_if_there(&unfinished)?;
        remove_if_there(&beside(&unfinished, "-journal"))?;
    }
    if is_taken(&unfinished) {
        let left = unfinished.display();
        return Err(format!("{left} exists; delete it unless a backup is running").into());
    }
    let db = Db::open(url.expose(), OpenMode::AsIs).await?;
    let copied = db.copy_to(&unfinished).await;
    db.close().await;
    copied?;
    let finished = finish(&unfinished, &file);
    let file = file.display();
    match finished {
        Ok(size) => Ok(super::print(format_args!("wrote {size} bytes to {file}"))?),
        Err(error) => {
            std::fs::remove_file(&unfinished)?;
            Err(format!("cannot write {file}: {error}").into())
        }
    }
}

/// Returns true if the name is taken, even by a dangling symbolic link.
fn is_taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Gives the copy its final name once it is synced to disk, and returns its size. Unlike a rename, a link never
/// overwrites a file that was created in the meantime, but some file systems have no links.
fn finish(unfinished: &Path, file: &Path) -> std::io::Result<u64> {
    let copy = File::open(unfinished)?;
    copy.sync_all()?;
    match std::fs::hard_link(unfinished, file) {
        Ok(()) => std::fs::remove_file(unfinished)?,
        Err(error) if is_taken(file) => return Err(error),
        Err(_) => std::fs::rename(unfinished, file)?,
    }
    Ok(copy.metadata()?.len())
}
