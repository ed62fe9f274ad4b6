//! Runs Cargo for platforms other than this machine's, with the compilers that it needs.

use std::env;
use std::process::Command;

use anyhow::{Result, bail};

use super::{debian, python};
use crate::process::{Run as _, on_path};
use crate::workspace::Workspace;

/// Returns `cargo rustc` for a platform. Installs Rust's standard library for the platform and a C compiler for SQLite
/// if they are missing.
pub(crate) fn cargo(workspace: &Workspace, target: &str) -> Result<Command> {
    workspace
        .command("rustup")
        .args(["target", "add", target])
        .run_quietly()?;
    if target.ends_with("-linux-musl") && target.starts_with(env::consts::ARCH) {
        install_musl(workspace)?;
    } else if target.contains("-linux-") {
        return zig(workspace);
    }
    let mut cargo = workspace.cargo();
    cargo.arg("rustc");
    Ok(cargo)
}

/// Installs musl's headers and compiler driver for this machine's processor.
fn install_musl(workspace: &Workspace) -> Result<()> {
    if on_path("musl-gcc").is_some() {
        return Ok(());
    }
    if !debian::can_install(workspace) {
        bail!(
            "`musl-gcc` was not found; install it with your system's packages (`musl-tools` on Debian)"
        );
    }
    debian::install(workspace, &["musl-tools"])
}

/// Returns `cargo rustc` with Zig as the C compiler and linker, for processors other than this machine's. Zig comes as
/// a Python package.
fn zig(workspace: &Workspace) -> Result<Command> {
    let Some(programs) = python::environment(workspace, "zig")? else {
        bail!(
            "building for another processor needs {}, which was not found",
            python::requirement()
        );
    };
    let mut cargo = workspace.command(programs.join("cargo-zigbuild"));
    cargo.arg("rustc");
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(programs).chain(env::split_paths(&path));
    cargo.env("PATH", env::join_paths(folders)?);
    Ok(cargo)
}
