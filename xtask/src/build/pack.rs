//! Packs the npm packages as they are published and as the server embeds them.
//!
//! `{target folder}/npm` contains the tarball of each package, and `packages.json`: an array with the name of each
//! tarball (`file`), its checksums as npm prints them (`integrity`, `shasum`), and the package's manifest (`manifest`).
//! The server embeds all of it. Unchanged content is not written again, because that would recompile the server.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::process::Run as _;
use crate::programs::node;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The maximum total size of the tarballs, in bytes. They are part of the server's binary.
const MAX_SIZE: u64 = 399_500;

/// The file that lists the tarballs.
const INDEX: &str = "packages.json";

/// Builds each package into its `dist/`. The engine must have been built before.
pub(crate) fn build(workspace: &Workspace) -> Result<Outcome> {
    for package in node::packages(workspace)? {
        node::script(workspace, &package, "build").run()?;
    }
    Ok(Outcome::Done)
}

/// Packs the packages, and writes the list of tarballs.
pub(crate) fn tarballs(workspace: &Workspace) -> Result<Outcome> {
    let packages = node::packages(workspace)?;
    for package in &packages {
        // Each package includes the licenses, which the repository contains only once.
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            fs::copy(workspace.root.join(license), package.join(license))?;
        }
    }
    let packed = workspace.empty_folder("npm-packed")?;
    let mut npm = node::npm(workspace);
    npm.args(["pack", "--json", "--pack-destination"])
        .arg(&packed);
    for package in &packages {
        npm.arg("--workspace").arg(package);
    }
    let listed = npm.run_quietly()?;
    let index = index(workspace, &serde_json::from_str(&listed)?)?;
    fs::write(packed.join(INDEX), serde_json::to_string(&index)?)?;
    check_size(&packed)?;
    replace(&folder(workspace), &packed)
}

/// Returns the tarballs that [`tarballs`] has written.
pub(crate) fn packed(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    tarballs_in(&folder(workspace))
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("npm")
}

/// Returns the list of the tarballs, made from the output of `npm pack --json`.
fn index(workspace: &Workspace, packed: &Value) -> Result<Value> {
    let packed = packed.as_array().context("npm pack prints no array")?;
    let mut entries = Vec::new();
    for tarball in packed {
        let text = |member: &str| {
            let value = tarball.get(member).and_then(Value::as_str);
            value.with_context(|| format!("npm pack prints no {member}"))
        };
        let name = text("name")?;
        let folder = name.trim_start_matches("@pennon/");
        let manifest = workspace.root.join("npm").join(folder).join("package.json");
        let manifest: Value = serde_json::from_slice(&fs::read(manifest)?)?;
        entries.push(json!({
            "file": text("filename")?,
            "integrity": text("integrity")?,
            "shasum": text("shasum")?,
            "manifest": manifest,
        }));
    }
    Ok(Value::Array(entries))
}

fn check_size(folder: &Path) -> Result<()> {
    let mut size = 0;
    for tarball in tarballs_in(folder)? {
        size += tarball.metadata()?.len();
    }
    if size > MAX_SIZE {
        bail!("the tarballs have {size} bytes; the limit is {MAX_SIZE}");
    }
    Ok(())
}

/// Replaces one folder with another, unless their files are the same.
fn replace(folder: &Path, by: &Path) -> Result<Outcome> {
    fs::create_dir_all(folder)?;
    if contents(folder)? == contents(by)? {
        fs::remove_dir_all(by)?;
        return Ok(Outcome::UpToDate);
    }
    fs::remove_dir_all(folder)?;
    fs::rename(by, folder)?;
    Ok(Outcome::Done)
}

fn tarballs_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = files(folder)?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "tgz"));
    Ok(files)
}

fn contents(folder: &Path) -> Result<Vec<(Option<String>, Vec<u8>)>> {
    let read = |file: PathBuf| {
        let name = file.file_name().map(|name| name.to_string_lossy().into());
        Ok((name, fs::read(file)?))
    };
    files(folder)?.into_iter().map(read).collect()
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let files: Result<Vec<_>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut files = files.map_err(|error: std::io::Error| error)?;
    files.sort();
    Ok(files)
}
