//! Builds and starts the server.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::process::Run as _;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The optimization profile of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Profile {
    Dev,
    Release,
}

impl Profile {
    /// Returns Cargo's name for the profile.
    fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
        }
    }

    /// Returns the path of the server's binary in this profile.
    pub(crate) fn binary(self, workspace: &Workspace) -> PathBuf {
        let folder = match self {
            Self::Dev => "debug",
            Self::Release => "release",
        };
        workspace.target.join(folder).join("pennon")
    }
}

/// Compiles the server with the existing site embedded.
pub(crate) fn build(workspace: &Workspace, profile: Profile) -> Result<Outcome> {
    cargo(workspace, "build", profile).run()?;
    Ok(Outcome::Done)
}

/// Replaces this process with the server, which then receives the terminal's signals directly. Returns only on failure.
pub(crate) fn run(workspace: &Workspace, profile: Profile, arguments: &[OsString]) -> Result<()> {
    let mut cargo = cargo(workspace, "run", profile);
    cargo.args(["--quiet", "--"]).args(arguments);
    become_it(cargo)
}

#[cfg(unix)]
fn become_it(mut command: Command) -> Result<()> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec().into())
}

#[cfg(not(unix))]
fn become_it(mut command: Command) -> Result<()> {
    command.run()
}

fn cargo(workspace: &Workspace, subcommand: &str, profile: Profile) -> Command {
    let mut cargo = workspace.cargo();
    cargo.args([
        subcommand,
        "--package",
        "pennon-server",
        "--bin",
        "pennon",
        "--profile",
        profile.name(),
    ]);
    cargo
}
