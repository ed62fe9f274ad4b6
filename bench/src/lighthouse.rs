//! Lighthouse scores of dashboard pages.

use std::path::Path;

use anyhow::{Result, ensure};
use tokio::process::Command;

use crate::database::Database;
use crate::pages::{ENVIRONMENTS, use_flags};
use crate::seeds;
use crate::service::Service;

/// The number of flags.
const FLAGS: usize = 1_000;

/// The pages.
const PAGES: [&str; 4] = [
    "/dashboard/login",
    "/dashboard/flags",
    "/dashboard/flags/seeded_7",
    "/dashboard/flags/seeded_7/usage",
];

/// Runs Lighthouse on the pages of a server with a thousand flags in use. The script prints a table.
pub(crate) async fn measure(server: &Path, database: &Database, script: &Path) -> Result<()> {
    let service = Service::start(server, database).await?;
    let mut sdk_key = String::new();
    for name in ENVIRONMENTS {
        (_, sdk_key) = service.environment(name).await?;
    }
    seeds::flags(&service, database, 1..=FLAGS, &sdk_key).await?;
    use_flags(database).await?;
    let status = Command::new("node")
        .arg(script)
        .args(PAGES)
        .env("PENNON_URL", format!("http://{}", service.address()))
        .env("PENNON_COOKIE", service.cookie().await?)
        .status()
        .await?;
    ensure!(status.success(), "Lighthouse failed: {status}");
    Ok(())
}
