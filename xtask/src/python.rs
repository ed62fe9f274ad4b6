//! Python virtual environments for tools and packages from the Python Package Index.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, Result};

use crate::digest;
use crate::process::Run as _;
use crate::workspace::Workspace;

/// Returns the folder with the programs of an environment in which these packages are installed at these versions.
/// Returns `None` if there is no Python that can create one. The environment is kept and reused as long as the packages
/// are the same.
pub(crate) fn environment(
    workspace: &Workspace,
    name: &str,
    packages: &[&str],
) -> Result<Option<PathBuf>> {
    let environment = workspace.target.join("python").join(name);
    let (programs, complete) = (environment.join("bin"), environment.join("complete"));
    let digest = digest::of(packages.iter().map(|package| package.as_bytes()));
    if fs::read_to_string(&complete).is_ok_and(|installed| installed == digest) {
        return Ok(Some(programs));
    }
    let mut python = workspace.command("python3");
    let made = python
        .args(["-m", "venv", "--clear"])
        .arg(&environment)
        .run_quietly();
    if made.is_err() {
        return Ok(None);
    }
    eprintln!("    installing {}", packages.join(", "));
    let mut pip = workspace.command(programs.join("pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"])
        .args(packages)
        .run_quietly()
        .with_context(|| format!("{} cannot be installed", packages.join(", ")))?;
    fs::write(&complete, digest)?;
    Ok(Some(programs))
}

/// Returns `true` if Python is installed in this version or a newer one.
pub(crate) fn is_at_least(workspace: &Workspace, (major, minor): (u32, u32)) -> bool {
    let question = format!("import sys; sys.exit(sys.version_info < ({major}, {minor}))");
    let mut python = workspace.command("python3");
    let answer = python
        .args(["-c", &question])
        .stderr(Stdio::null())
        .status();
    answer.is_ok_and(|status| status.success())
}
