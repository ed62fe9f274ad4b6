//! Checks that builds are reproducible: the same commit produces the same files.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use crate::build::wasm;
use crate::digest;
use crate::process::Run as _;
use crate::workspace::Workspace;

/// The target folder of both builds. It is emptied before each build, so that the second one reuses nothing of the
/// first.
const FOLDER: &str = "reproducible";

/// Builds all published files twice, and fails if any file differs.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let first = build(workspace)?;
    let second = build(workspace)?;
    let different = differences(&first, &second);
    if !different.is_empty() {
        bail!(
            "two builds of one commit differ in {}",
            different.join(", ")
        );
    }
    eprintln!("\nBoth builds produced the same {} files.", first.len());
    Ok(())
}

/// Runs `cargo xtask dist` in an empty target folder, and without the engine, which is outside of it. Returns the
/// SHA-256 of each file by file name.
fn build(workspace: &Workspace) -> Result<BTreeMap<String, String>> {
    let target = workspace.empty_folder(FOLDER)?;
    let engine = wasm::engine_folder(workspace);
    if engine.exists() {
        fs::remove_dir_all(engine)?;
    }
    let tools = workspace.target.join("tools");
    if tools.exists() {
        // The tools take minutes to compile, and no published file depends on their folder.
        std::os::unix::fs::symlink(tools, target.join("tools"))?;
    }
    workspace
        .command(env::current_exe()?)
        .arg("dist")
        .env("CARGO_TARGET_DIR", &target)
        .run()?;
    digests(&target.join("dist"))
}

fn digests(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut digests = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        digests.insert(name, digest::sha256(&fs::read(entry.path())?));
    }
    Ok(digests)
}

/// Returns the names of the files that only one build has, or whose content differs between the builds.
fn differences<'a>(
    first: &'a BTreeMap<String, String>,
    second: &'a BTreeMap<String, String>,
) -> Vec<&'a str> {
    let mut names: Vec<&str> = first
        .keys()
        .chain(second.keys())
        .filter(|name| first.get(*name) != second.get(*name))
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::differences;

    #[test]
    fn files_that_differ_or_are_missing_in_one_build_are_listed_once() {
        let build = |files: &[(&str, &str)]| -> BTreeMap<String, String> {
            let owned = files
                .iter()
                .map(|(name, digest)| ((*name).to_owned(), (*digest).to_owned()));
            owned.collect()
        };
        let first = build(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let second = build(&[("a", "1"), ("b", "2"), ("d", "1")]);
        assert_eq!(differences(&first, &second), ["b", "c", "d"]);
        assert!(differences(&first, &first).is_empty());
    }
}
