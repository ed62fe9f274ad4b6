//! Node.js, npm, and the tools of the npm workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::digest;
use crate::process::Run as _;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The oldest major version of Node.js that the packages and tools support.
const OLDEST_NODE: u32 = 20;

/// Installs the packages in the lock file. Does nothing if the last installation used the same lock file.
pub(crate) fn install(workspace: &Workspace) -> Result<Outcome> {
    check_versions(workspace)?;
    let lock = fs::read(workspace.root.join("package-lock.json")).context("package-lock.json")?;
    let stamp = workspace.root.join("node_modules/.installed");
    let digest = digest::of([lock.as_slice()]);
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == digest) {
        return Ok(Outcome::UpToDate);
    }
    // With NODE_ENV=production, npm would omit the tools.
    npm(workspace).args(["ci", "--include=dev"]).run_quietly()?;
    fs::write(stamp, digest)?;
    Ok(Outcome::Done)
}

/// Returns an npm command that runs in the root folder.
pub(crate) fn npm(workspace: &Workspace) -> Command {
    workspace.command("npm")
}

/// Returns a command that runs a tool of the npm workspace in the root folder.
pub(crate) fn tool(workspace: &Workspace, name: &str) -> Command {
    workspace.command(workspace.root.join("node_modules/.bin").join(name))
}

/// Returns the published packages: every folder in `npm/` that has a manifest, each after the packages on which it
/// depends.
pub(crate) fn packages(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let mut packages = Vec::new();
    for entry in fs::read_dir(workspace.root.join("npm")).context("npm/")? {
        let folder = entry?.path();
        if folder.join("package.json").exists() {
            packages.push(folder);
        }
    }
    // In alphabetical order, the core comes first, but the package for Next.js comes before the one for React.
    packages.sort();
    packages.sort_by_key(|folder| folder.ends_with("next"));
    Ok(packages)
}

/// Reads a file of an installed package.
pub(crate) fn read(workspace: &Workspace, package: &str, file: &str) -> Result<String> {
    let path = workspace.root.join("node_modules").join(package).join(file);
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// Returns the name and version of an installed package.
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

/// Returns the command that runs a script of one of the workspace's npm packages.
pub(crate) fn script(workspace: &Workspace, package: &Path, script: &str) -> Command {
    let mut npm = npm(workspace);
    npm.args(["run", "--silent", script, "--workspace"])
        .arg(package);
    npm
}
