//! The npm packages as they are published.

use std::fs;

use anyhow::Result;

use crate::check::script;
use crate::node;
use crate::process::Run as _;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// Builds each package into its `dist/`. The engine must be there.
pub(crate) fn build(workspace: &Workspace) -> Result<Outcome> {
    for package in node::packages(workspace)? {
        script(workspace, &package, "build").run()?;
    }
    Ok(Outcome::Done)
}

/// Packs each package into `{target folder}/npm`, and leaves no earlier tarball there.
pub(crate) fn tarballs(workspace: &Workspace) -> Result<Outcome> {
    let folder = workspace.target.join("npm");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for package in node::packages(workspace)? {
        // Each package carries the licences; they stand once in the repository.
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            fs::copy(workspace.root.join(licence), package.join(licence))?;
        }
        let mut npm = node::npm(workspace);
        npm.arg("pack")
            .arg("--pack-destination")
            .arg(&folder)
            .arg("--workspace")
            .arg(&package)
            .run_quietly()?;
    }
    for entry in fs::read_dir(&folder)? {
        eprintln!("    {}", entry?.path().display());
    }
    Ok(Outcome::Done)
}
