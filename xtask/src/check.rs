//! The gate: everything that must hold before a change is let in.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::browser;
use crate::node;
use crate::process::Run as _;
use crate::serve::Profile;
use crate::step::Outcome;
use crate::tally::Tally;
use crate::wasm;
use crate::workspace::Workspace;

/// rustfmt and Biome: they need no build, so they speak first.
pub(crate) fn format(workspace: &Workspace) -> Result<Outcome> {
    workspace.cargo().args(["fmt", "--all", "--check"]).run()?;
    node::tool(workspace, "biome")
        .args(["check", "--error-on-warnings"])
        .run()?;
    Ok(Outcome::Done)
}

/// Clippy on everything that runs on this machine. xtask is apart, as its dependencies would lend features to others.
pub(crate) fn clippy(workspace: &Workspace) -> Result<Outcome> {
    let deny_warnings = ["--", "--deny", "warnings"];
    let mut others = product(workspace, "clippy");
    others.arg("--all-targets").args(deny_warnings).run()?;
    let mut xtask = workspace.cargo();
    xtask
        .args(["clippy", "--package", "xtask", "--all-targets"])
        .args(deny_warnings)
        .run()?;
    Ok(Outcome::Done)
}

/// Clippy on everything that runs in a browser.
pub(crate) fn clippy_wasm(workspace: &Workspace) -> Result<Outcome> {
    for module in [&wasm::DASHBOARD, &wasm::ENGINE] {
        wasm::cargo(workspace, "clippy", module)
            .args(["--", "--deny", "warnings"])
            .run()?;
    }
    Ok(Outcome::Done)
}

/// The tests in Rust. The first command builds the binaries as well, with the features that the tests are built with,
/// so that later steps find the server at `target/debug/pennon`.
pub(crate) fn rust(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    product(workspace, "build").arg("--all-targets").run()?;
    tally.run(&mut product(workspace, "test"))?;
    tally.run(workspace.cargo().args(["test", "--package", "xtask"]))?;
    Ok(Outcome::Done)
}

/// Types and tests of the npm packages, each as its manifest says, and what their consumers would trip over.
pub(crate) fn npm(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    for package in node::packages(workspace)? {
        script(workspace, &package, "check").run()?;
        tally.run(with_server(
            workspace,
            &mut script(workspace, &package, "test"),
        ))?;
        node::tool(workspace, "publint")
            .arg("--strict")
            .arg(&package)
            .run()?;
    }
    script(workspace, Path::new("playwright"), "check").run()?;
    Ok(Outcome::Done)
}

/// The browser tests, against the server that [`rust`] left behind.
pub(crate) fn playwright(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let browser = browser::find_or_install(workspace)?;
    let mut tests = script(workspace, Path::new("playwright"), "test");
    tally.run(with_server(workspace, &mut tests).env("PENNON_CHROMIUM", browser))?;
    Ok(Outcome::Done)
}

/// Pictures of every page, in light and dark, on a desk and on a phone.
pub(crate) fn screenshots(workspace: &Workspace) -> Result<Outcome> {
    let folder = workspace.target.join("screenshots");
    let browser = browser::find_or_install(workspace)?;
    let mut pictures = script(workspace, Path::new("playwright"), "screenshots");
    pictures.env("PENNON_SCREENSHOTS", &folder);
    with_server(workspace, &mut pictures)
        .env("PENNON_CHROMIUM", browser)
        .run()?;
    eprintln!("    in {}", folder.display());
    Ok(Outcome::Done)
}

/// Tells a command where the server's binary is.
fn with_server<'a>(workspace: &Workspace, command: &'a mut Command) -> &'a mut Command {
    command.env("PENNON_BINARY", Profile::Dev.binary(workspace))
}

/// A script of one of the workspace's packages.
pub(crate) fn script(workspace: &Workspace, package: &Path, script: &str) -> Command {
    let mut npm = node::npm(workspace);
    npm.args(["run", "--silent", script, "--workspace"])
        .arg(package);
    npm
}

/// Cargo on all crates of the product: one set of them in each command, so that each crate has one set of features.
fn product(workspace: &Workspace, subcommand: &str) -> Command {
    let mut cargo = workspace.cargo();
    cargo.args([subcommand, "--workspace", "--exclude", "xtask"]);
    cargo
}
