//! The folders of the workspace, and the commands that run in it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process::Run as _;

/// The folders of this work tree.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The folder of the root manifest.
    pub(crate) root: PathBuf,
    /// Cargo's target folder, which the environment or Cargo's configuration may move.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Asks Cargo for the folders, because only Cargo knows every way to move the target folder.
    pub(crate) fn find() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .context("xtask must be started by Cargo: run `cargo xtask`")?;
        let answer = cargo()
            .args(["metadata", "--no-deps", "--format-version=1", "--quiet"])
            .current_dir(manifest)
            .run_quietly()?;
        let metadata: serde_json::Value = serde_json::from_str(&answer)?;
        let folder = |name: &str| {
            let value = metadata.get(name).and_then(serde_json::Value::as_str);
            value
                .map(PathBuf::from)
                .with_context(|| format!("cargo metadata has no {name}"))
        };
        Ok(Self {
            root: folder("workspace_root")?,
            target: folder("target_directory")?,
        })
    }

    /// Returns a command that runs a program in the root folder.
    pub(crate) fn command(&self, program: impl Into<OsString>) -> Command {
        let mut command = Command::new(program.into());
        command.current_dir(&self.root);
        command
    }

    /// Returns a Cargo command that runs in the root folder.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = cargo();
        cargo.current_dir(&self.root);
        cargo
    }

    /// Runs Git in the root folder. Returns its output without the trailing line break.
    pub(crate) fn git(&self, arguments: &[&str]) -> Result<String> {
        let answer = self.command("git").args(arguments).run_quietly()?;
        Ok(answer.trim_end().to_owned())
    }

    /// Reads all text files of the repository, including new ones. The paths are relative to the root folder.
    pub(crate) fn texts(&self) -> Result<Vec<(PathBuf, String)>> {
        let listed = self.git(&[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])?;
        let read = |file: &str| {
            // Skips binary files, and files that were deleted but are still listed.
            let text = fs::read_to_string(self.root.join(file)).ok()?;
            Some((PathBuf::from(file), text))
        };
        Ok(listed.split('\0').filter_map(read).collect())
    }

    /// Creates an empty folder of this name in the target folder. Deletes its previous content.
    pub(crate) fn empty_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.target.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Returns the folder of the site that the server embeds: the dashboard's scripts, wasm, and style sheets.
    pub(crate) fn site(&self) -> PathBuf {
        self.target.join("site")
    }

    /// Returns the target folder for everything that is compiled to wasm. It is separate, so that `ssr` and `hydrate`
    /// are never combined in one build.
    pub(crate) fn wasm_target(&self) -> PathBuf {
        self.target.join("wasm")
    }
}

/// Returns the Cargo that started xtask, without the variables that describe xtask's own package. Build scripts that
/// watch such variables would run again on each switch between `cargo xtask` and plain Cargo.
fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    cargo
}
