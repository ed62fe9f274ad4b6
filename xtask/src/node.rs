//! Node.js, npm, and the tools that come from the npm workspace.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::digest;
use crate::process::Run as _;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The oldest Node.js that the packages and tools support.
const OLDEST_NODE: u32 = 20;

/// Installs what the lock file names. Does nothing when that is what was installed last.
pub(crate) fn install(workspace: &Workspace) -> Result<Outcome> {
    check_versions(workspace)?;
    let lock = fs::read(workspace.root.join("package-lock.json")).context("package-lock.json")?;
    let stamp = workspace.root.join("node_modules/.installed");
    let digest = digest::of([lock.as_slice()]);
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == digest) {
        return Ok(Outcome::UpToDate);
    }
    // With NODE_ENV=production, npm would leave the tools out.
    npm(workspace).args(["ci", "--include=dev"]).run_quietly()?;
    fs::write(stamp, digest)?;
    Ok(Outcome::Done)
}

/// npm, in the root folder.
pub(crate) fn npm(workspace: &Workspace) -> Command {
    workspace.command("npm")
}

/// A tool of the npm workspace, in the root folder.
pub(crate) fn tool(workspace: &Workspace, name: &str) -> Command {
    workspace.command(workspace.root.join("node_modules/.bin").join(name))
}

/// The packages that are published: every folder in `npm/` with a manifest, each after those that it is built upon.
pub(crate) fn packages(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let mut packages = Vec::new();
    for entry in fs::read_dir(workspace.root.join("npm")).context("npm/")? {
        let folder = entry?.path();
        if folder.join("package.json").exists() {
            packages.push(folder);
        }
    }
    // By name, the core comes first, but the package for Next.js before the one for React.
    packages.sort();
    packages.sort_by_key(|folder| folder.ends_with("next"));
    Ok(packages)
}

/// A file of an installed package.
pub(crate) fn read(workspace: &Workspace, package: &str, file: &str) -> Result<String> {
    let path = workspace.root.join("node_modules").join(package).join(file);
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// Name and version of an installed package.
pub(crate) fn installed(workspace: &Workspace, package: &str) -> Result<String> {
    let manifest: Value = serde_json::from_str(&read(workspace, package, "package.json")?)?;
    let version = manifest["version"].as_str().context("a version")?;
    Ok(format!("{package} {version}"))
}

fn check_versions(workspace: &Workspace) -> Result<()> {
    let teach = "Pennon's dashboard and npm packages are built with Node.js 20 or newer and the npm that comes with it; \
                 install it from nodejs.org or with your system's packages";
    let version = workspace.command("node").arg("--version").run_quietly();
    let version = version.with_context(|| format!("Node.js was not found. {teach}"))?;
    let version = version.trim();
    let major = version
        .trim_start_matches('v')
        .split('.')
        .next()
        .and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < OLDEST_NODE) {
        bail!("Node.js {version} is too old. {teach}");
    }
    let npm = npm(workspace).arg("--version").run_quietly();
    npm.with_context(|| format!("npm was not found. {teach}"))?;
    Ok(())
}
