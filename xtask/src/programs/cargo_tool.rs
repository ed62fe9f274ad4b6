//! Cargo plugins, built from source.

use std::process::Command;

use anyhow::Result;

use crate::process::Run as _;
use crate::workspace::Workspace;

/// A Cargo plugin, pinned to a version.
pub(crate) struct Plugin {
    /// The name of the crate and of its program, such as `cargo-deny`.
    name: &'static str,
    version: &'static str,
    /// The features that the program needs.
    features: &'static [&'static str],
}

/// Checks licenses, bans and sources of crates.
pub(crate) const DENY: Plugin = Plugin {
    name: "cargo-deny",
    version: "0.20.2",
    features: &[],
};

/// Collects the license texts of crates.
pub(crate) const ABOUT: Plugin = Plugin {
    name: "cargo-about",
    version: "0.9.3",
    features: &["cli"],
};

/// Lists crates as a bill of materials in `CycloneDX` format.
pub(crate) const CYCLONEDX: Plugin = Plugin {
    name: "cargo-cyclonedx",
    version: "0.5.9",
    features: &[],
};

impl Plugin {
    /// Returns a command that runs the plugin in the root folder. Builds the plugin first if the target folder does not
    /// have it, which takes minutes.
    pub(crate) fn command(&self, workspace: &Workspace) -> Result<Command> {
        let tools = workspace.target.join("tools");
        let folder = tools.join(format!("{}-{}", self.name, self.version));
        let program = folder.join("bin").join(self.name);
        if !program.exists() {
            eprintln!("    installing {} {}", self.name, self.version);
            let mut cargo = workspace.cargo();
            cargo
                .args(["install", "--locked", "--quiet", "--root"])
                .arg(&folder)
                .arg("--target-dir")
                .arg(tools.join("build"))
                .args(["--features", &self.features.join(",")])
                .arg(format!("{}@{}", self.name, self.version))
                .run()?;
        }
        Ok(workspace.command(program))
    }
}
