//! The crates of the product, which are all crates except xtask.

use std::process::Command;

use anyhow::Result;

use crate::process::Run as _;
use crate::workspace::Workspace;

/// Builds the tests and all programs. The tests enable more features of some crates, so building a program without them
/// would compile these crates and all that depend on them again.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    command(workspace, "build").arg("--all-targets").run()
}

/// Returns a Cargo command for all crates of the product. Every such command uses the same set of crates, so that each
/// crate is built with one set of features.
pub(crate) fn command(workspace: &Workspace, subcommand: &str) -> Command {
    let mut cargo = workspace.cargo();
    cargo.args([subcommand, "--workspace", "--exclude", "xtask"]);
    cargo
}
