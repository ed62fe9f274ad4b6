//! Lighthouse scores of dashboard pages, and the time until a list is visible.

use std::path::Path;

use anyhow::{Result, ensure};
use tokio::process::Command;

use crate::database::Database;
use crate::pages::{ENVIRONMENTS, company, products, use_flags};
use crate::seeds;
use crate::service::Service;

/// The script that runs Lighthouse.
const LIGHTHOUSE: &str = "measure.js";

/// The number of flags in use in three environments.
const FLAGS: usize = 1_000;

/// The pages.
const PAGES: [&str; 4] = [
    "/dashboard/login",
    "/dashboard/flags",
    "/dashboard/flags/seeded_7",
    "/dashboard/flags/seeded_7/usage",
];

/// The number of flags of a large company.
const MANY_FLAGS: usize = 2_000;

/// The pages that show its environments.
const WIDE_PAGES: [&str; 3] = [
    "/dashboard/flags",
    "/dashboard/flags?product=product-3",
    "/dashboard/flags/seeded_7",
];

/// The lists of flags among them.
const WIDE_LISTS: [&str; 2] = ["/dashboard/flags", "/dashboard/flags?product=product-3"];

/// Measures a server with a thousand flags in use, and that of a large company. `scripts` is the folder of the scripts,
/// which print the tables.
pub(crate) async fn measure(server: &Path, database: &Database, scripts: &Path) -> Result<()> {
    let service = Service::start(server, database).await?;
    let mut sdk_key = String::new();
    for name in ENVIRONMENTS {
        (_, sdk_key) = service.environment(name).await?;
    }
    seeds::flags(&service, database, 1..=FLAGS, &sdk_key).await?;
    use_flags(database).await?;
    println!("### {FLAGS} flags in {} environments\n", ENVIRONMENTS.len());
    run(&scripts.join(LIGHTHOUSE), &service, &PAGES).await?;
    drop(service);

    let database = database.beside("company").await?;
    let service = Service::start(server, &database).await?;
    let sdk_key = products(&service).await?;
    company(&service, &database, 1..=MANY_FLAGS, &sdk_key).await?;
    println!("\n### {MANY_FLAGS} flags of a large company\n");
    run(&scripts.join(LIGHTHOUSE), &service, &WIDE_PAGES).await?;
    println!("\n### From the last byte until the first row is visible\n");
    run(&scripts.join("first-row.js"), &service, &WIDE_LISTS).await
}

/// Runs a script on pages of a server.
async fn run(script: &Path, service: &Service, pages: &[&str]) -> Result<()> {
    let status = Command::new("node")
        .arg(script)
        .args(pages)
        .env("PENNON_URL", format!("http://{}", service.address()))
        .env("PENNON_COOKIE", service.cookie().await?)
        .status()
        .await?;
    ensure!(status.success(), "{} failed: {status}", script.display());
    Ok(())
}
