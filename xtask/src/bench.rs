//! Runs benchmarks, which measure only what is published.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::build::dist;
use crate::process::Run as _;
use crate::programs::postgres::{self, Durability, Server};
use crate::programs::{browser, node};
use crate::step::Outcome;
use crate::workspace::Workspace;

/// Fails if PostgreSQL is missing, before anything is built: half of the measurements need it.
pub(crate) fn find_postgres() -> Result<Outcome> {
    if !postgres::is_there() {
        bail!("PostgreSQL was not found; {}", postgres::remedy());
    }
    Ok(Outcome::UpToDate)
}

/// Measures `@pennon/core` as it is published. The program can run the garbage collector itself, so that it can measure
/// memory.
pub(crate) fn client(workspace: &Workspace) -> Result<Outcome> {
    let mut node = workspace.command("node");
    node.args(["--expose-gc", "npm/core/bench/main.js"]).run()?;
    Ok(Outcome::Done)
}

/// Measures the start of `@pennon/core` in new processes.
pub(crate) fn cold(workspace: &Workspace) -> Result<Outcome> {
    let folder = install(workspace, "start")?;
    let mut node = workspace.command("node");
    node.arg(folder.join("cold.js")).run()?;
    Ok(Outcome::Done)
}

/// Measures the time to the first evaluation of `@pennon/core` in a browser.
pub(crate) fn first_answer(workspace: &Workspace) -> Result<Outcome> {
    let browser = browser::find_or_install(workspace)?;
    let folder = install(workspace, "start")?;
    let mut node = workspace.command("node");
    node.arg(folder.join("first-answer.js"))
        .env("PENNON_CHROMIUM", browser)
        .run()?;
    Ok(Outcome::Done)
}

/// Measures pages of the dashboard with Lighthouse.
pub(crate) fn lighthouse(workspace: &Workspace) -> Result<Outcome> {
    let browser = browser::find_or_install(workspace)?;
    let folder = install(workspace, "lighthouse")?;
    let mut bench = workspace.cargo();
    bench
        .args(["run", "--quiet", "--release", "--package", "pennon-bench"])
        .args(["--", "lighthouse", "--scripts"])
        .arg(folder)
        .arg("--server")
        .arg(published_server(workspace))
        .env("CHROME_PATH", browser)
        .run()?;
    Ok(Outcome::Done)
}

/// Installs what only this benchmark needs, and returns its folder in `bench/`.
fn install(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let folder = workspace.root.join("bench").join(name);
    let mut install = node::npm(workspace);
    install
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(&folder)
        .run_quietly()?;
    Ok(folder)
}

/// Measures pages of the dashboard.
pub(crate) fn pages(workspace: &Workspace) -> Result<Outcome> {
    on_sqlite(workspace, "pages")
}

/// Measures the cost of evaluations.
pub(crate) fn server(workspace: &Workspace) -> Result<Outcome> {
    on_sqlite(workspace, "server")
}

/// Soak-tests the server under mixed load.
pub(crate) fn soak(workspace: &Workspace) -> Result<Outcome> {
    on_sqlite(workspace, "soak")
}

/// Measures streams.
pub(crate) fn streams(workspace: &Workspace) -> Result<Outcome> {
    on_sqlite(workspace, "streams")
}

/// Returns the path of the server's binary for this machine, as it is published.
fn published_server(workspace: &Workspace) -> PathBuf {
    dist::binary(workspace, &dist::default_target())
}

/// Runs a benchmark on SQLite.
fn on_sqlite(workspace: &Workspace, what: &str) -> Result<Outcome> {
    let mut bench = workspace.cargo();
    bench
        .args(["run", "--quiet", "--release", "--package", "pennon-bench"])
        .args(["--", what, "--server"])
        .arg(published_server(workspace))
        .run()?;
    Ok(Outcome::Done)
}

/// Measures administration on both databases, and prints the tables of `docs/performance.md`.
pub(crate) fn admin(workspace: &Workspace) -> Result<Outcome> {
    let Some(server) = Server::find_or_start(Durability::Full)? else {
        return find_postgres();
    };
    let mut bench = workspace.cargo();
    bench
        .args(["run", "--quiet", "--release", "--package", "pennon-bench"])
        .args(["--", "admin", "--postgres"])
        .arg(server.url())
        .arg("--server")
        .arg(published_server(workspace))
        .run()?;
    Ok(Outcome::Done)
}
