//! `cargo xtask`: everything that is done to this repository, from a fresh clone to a release.

mod digest;
mod node;
mod process;
mod site;
mod step;
mod wasm;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};

use step::step;
use workspace::Workspace;

/// Builds, runs and tests Pennon.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the engine of the npm packages to wasm, into npm/core/generated
    Wasm,
    /// Build the dashboard's wasm, scripts and style into the target folder's site/
    Site,
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    let workspace = Workspace::find()?;
    match cli.command {
        Command::Wasm => engine(&workspace),
        Command::Site => site(&workspace),
    }
}

fn tools(workspace: &Workspace) -> Result<()> {
    step("Rust's wasm target", || wasm::install_target(workspace))?;
    step("npm tools", || node::install(workspace))
}

fn engine(workspace: &Workspace) -> Result<()> {
    tools(workspace)?;
    step("Engine for the npm packages", || wasm::engine(workspace))
}

fn site(workspace: &Workspace) -> Result<()> {
    tools(workspace)?;
    step("Dashboard's islands", || site::wasm(workspace))?;
    step("Dashboard's site", || site::assemble(workspace))
}
