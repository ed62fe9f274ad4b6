//! Measures the server from outside, and prints tables of the results.
//!
//! Times are compared with a yardstick that is measured beside them: times differ between machines, the ratios differ
//! less.

mod creations;
mod database;
mod delay;
mod imports;
mod lighthouse;
mod lists;
mod pages;
mod plans;
mod samples;
mod seeds;
mod server;
mod service;
mod soak;
mod streams;
mod writers;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use clap::{Parser, Subcommand};

use database::Database;
use plans::Plan;
use samples::Table;
use service::Service;

/// Measures the server from outside, and prints tables.
#[derive(Parser)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure administration: writes, creations, lists, imports, and the delay until other instances serve a change
    Admin {
        /// The server's binary
        #[arg(long)]
        server: PathBuf,
        /// The URL of a PostgreSQL server on which databases can be created
        #[arg(long)]
        postgres: String,
    },
    /// Measure streams of changes: their memory, and the delay of an event
    Streams {
        /// The server's binary
        #[arg(long)]
        server: PathBuf,
        /// The number of streams to open
        #[arg(long, default_value_t = 5000)]
        streams: usize,
    },
    /// Measure whether memory or latencies grow during minutes of mixed load
    Soak {
        /// The server's binary
        #[arg(long)]
        server: PathBuf,
        /// The duration in minutes
        #[arg(long, default_value_t = 10)]
        minutes: usize,
    },
    /// Measure the duration and the size of dashboard pages
    Pages {
        /// The server's binary
        #[arg(long)]
        server: PathBuf,
    },
    /// Measure dashboard pages with Lighthouse
    Lighthouse {
        /// The server's binary
        #[arg(long)]
        server: PathBuf,
        /// The folder of the scripts
        #[arg(long)]
        scripts: PathBuf,
    },
    /// Measure the cost of requests to the Evaluation API, compared with a bare server of the same libraries
    Server {
        /// The server's binary
        #[arg(long)]
        server: PathBuf,
    },
    /// Run the bare server
    #[command(hide = true)]
    Bare {
        /// The size of the document that the server sends, in bytes
        #[arg(long)]
        document: usize,
    },
}

#[tokio::main]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    match CommandLine::parse().command {
        Command::Admin { server, postgres } => admin(&server, &postgres, folder.path()).await,
        Command::Streams { server, streams } => {
            let database = Database::sqlite(folder.path());
            streams::measure(&server, &database, streams).await
        }
        Command::Soak { server, minutes } => {
            let database = Database::sqlite(folder.path());
            soak::measure(&server, &database, minutes).await
        }
        Command::Pages { server } => pages::measure(&server, folder.path()).await,
        Command::Lighthouse { server, scripts } => {
            lighthouse::measure(&server, &Database::sqlite(folder.path()), &scripts).await
        }
        Command::Server { server } => server::measure(&server, folder.path()).await,
        Command::Bare { document } => server::serve(document).await,
    }
}

/// Measures administration on both databases.
async fn admin(server: &Path, postgres: &str, folder: &Path) -> Result<()> {
    let shared = Database::postgres(postgres).await?;
    let measured = async {
        measure(server, &Database::sqlite(folder)).await?;
        measure(server, &shared).await
    };
    let measured = measured.await;
    measured.and(shared.remove(postgres).await)
}

/// Measures on one database, and prints the statements of a switch, the table, and the plans of the lists.
async fn measure(server: &Path, database: &Database) -> Result<()> {
    eprintln!("    {database}");
    plans::of_a_switch(server, database).await?.print();
    let service = Arc::new(Service::start(server, database).await?);
    let mut table = Table::new(database);
    table.measure_commit(database).await?;
    writers::measure(&service, &mut table).await?;
    table.measure_commit(database).await?;
    creations::measure(&service, database, &mut table).await?;
    lists::measure(&service, database, &mut table).await?;
    if let Database::Postgres(_) = database {
        table.measure_exchange(&service).await?;
        delay::measure(server, &service, database, &mut table).await?;
    }
    drop(service);
    table.measure_commit(database).await?;
    imports::measure(server, database, &mut table).await?;
    table.print();
    let plans = plans::of(server, database).await?;
    plans.iter().for_each(Plan::print);
    Ok(())
}
