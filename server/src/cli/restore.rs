//! `pennon restore`: the database of a backup.

use std::error::Error;
use std::path::PathBuf;

use clap::Args;

use crate::config::DatabaseSettings;
use crate::store::Db;

/// The backup, and the database to restore.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The backup: a file of `pennon backup`, or one that an upgrade has created beside the database.
    file: PathBuf,
    /// Replace the existing database. The server must be stopped.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    database: DatabaseSettings,
}

/// Restores the backup, and prints the size of the database and what happens to an older schema.
pub(super) async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let url = arguments.database.url()?;
    let restored = Db::restore(url.expose(), &arguments.file, arguments.force).await?;
    println!(
        "{} bytes are in {}",
        restored.bytes,
        restored.file.display()
    );
    if let Some(outdated) = restored.outdated {
        println!("{}", outdated.upgrade());
    }
    Ok(())
}
