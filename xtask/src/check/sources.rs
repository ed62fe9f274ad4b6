//! Checks of the sources that run no tests: formats, links between documents, and Clippy.

use anyhow::Result;

use crate::build::{product, wasm};
use crate::process::Run as _;
use crate::programs::node;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// Runs rustfmt and Biome. They come first because they need no build.
pub(crate) fn format(workspace: &Workspace) -> Result<Outcome> {
    workspace.cargo().args(["fmt", "--all", "--check"]).run()?;
    node::tool(workspace, "biome")
        .args(["check", "--error-on-warnings"])
        .run()?;
    Ok(Outcome::Done)
}

/// Checks links between Markdown files, including links to headings. Nothing is fetched.
pub(crate) fn links(workspace: &Workspace) -> Result<Outcome> {
    let mut git = workspace.command("git");
    let listed = git
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .args(["*.md", ":!tests/fixtures"])
        .run_quietly()?;
    // Git still lists files whose deletion is not committed yet.
    let documents = listed
        .lines()
        .filter(|file| workspace.root.join(file).exists());
    node::tool(workspace, "remark")
        .args(["--frail", "--quiet", "--no-stdout"])
        .args(["--use", "validate-links=repository:false"])
        .args(documents)
        .run()?;
    Ok(Outcome::Done)
}

/// Runs Clippy on everything that runs on this machine. xtask is checked separately, because its dependencies would
/// enable features for the other crates.
pub(crate) fn clippy(workspace: &Workspace) -> Result<Outcome> {
    let deny_warnings = ["--", "--deny", "warnings"];
    let mut others = product::command(workspace, "clippy");
    others.arg("--all-targets").args(deny_warnings).run()?;
    let mut xtask = workspace.cargo();
    xtask
        .args(["clippy", "--package", "xtask", "--all-targets"])
        .args(deny_warnings)
        .run()?;
    Ok(Outcome::Done)
}

/// Runs Clippy on everything that runs in a browser.
pub(crate) fn clippy_wasm(workspace: &Workspace) -> Result<Outcome> {
    for module in [&wasm::DASHBOARD, &wasm::ENGINE] {
        wasm::cargo(workspace, "clippy", module)
            .args(["--", "--deny", "warnings"])
            .run()?;
    }
    Ok(Outcome::Done)
}
