//! Installs missing programs from Debian packages.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::process::Run as _;
use crate::workspace::Workspace;

/// Returns `true` on Debian as root, where packages can be installed.
///
/// Ubuntu is excluded on purpose: its browser packages are stubs for snaps.
pub(crate) fn can_install(workspace: &Workspace) -> bool {
    let release = fs::read_to_string(Path::new("/etc/os-release")).unwrap_or_default();
    release.lines().any(|line| line.trim() == "ID=debian") && is_root(workspace)
}

/// Installs packages, but not the packages that they only recommend.
pub(crate) fn install(workspace: &Workspace, packages: &[&str]) -> Result<()> {
    let apt = |arguments: &[&str]| {
        let mut apt = workspace.command("apt-get");
        apt.args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .run_quietly()
    };
    apt(&["update"])?;
    apt(&[&["install", "--yes", "--no-install-recommends"], packages].concat())?;
    Ok(())
}

fn is_root(workspace: &Workspace) -> bool {
    workspace
        .command("id")
        .arg("-u")
        .run_quietly()
        .is_ok_and(|id| id.trim() == "0")
}
