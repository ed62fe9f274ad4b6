//! `pennon export`: prints all flags as one readable document. The same flags always produce the same document.

use std::error::Error;
use std::io::Write;

use clap::Args;

use super::read_as_is;
use crate::admin::transfer;
use crate::config::DatabaseSettings;

/// The database to export.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    database: DatabaseSettings,
}

pub(super) async fn run(Arguments { database }: Arguments) -> Result<(), Box<dyn Error>> {
    let document = read_as_is(&database, transfer::export).await?;
    let mut text = serde_json::to_vec_pretty(&document)?;
    text.push(b'\n');
    std::io::stdout().write_all(&text)?;
    Ok(())
}
