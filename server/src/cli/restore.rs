//! `pennon restore`: replaces the database with a backup.

use std::error::Error;
use std::path::PathBuf;

use clap::Args;

use super::print;
use crate::config::DatabaseSettings;
use crate::store::Db;

/// The backup and the database to restore.
#[derive(Debug, Args)]
pub struct Arguments {
    /// File written by `pennon backup` or by an upgrade
    file: PathBuf,
    /// Replace the database, which must exist; stop the server first
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    database: DatabaseSettings,
}

/// Restores the backup, then prints the size of the database and whether its schema will be upgraded.
pub(super) async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let url = arguments.database.url()?;
    let restored = Db::restore(url.expose(), &arguments.file, arguments.force).await?;
    let file = restored.file.display();
    print(format_args!("restored {} bytes to {file}", restored.bytes))?;
    if let Some(outdated) = restored.outdated {
        print(outdated.upgrade())?;
    }
    Ok(())
}
