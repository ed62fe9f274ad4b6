//! The baseline for comparing builds: the files that the last release left in the repository, and its binary.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::build::product;
use crate::build::serve::Profile;
use crate::process::Run as _;
use crate::programs::node;
use crate::programs::postgres::{self, Durability, Server};
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The variable that names a binary of the last release. Without it, the binary is built.
const BINARY: &str = "PENNON_PREVIOUS_BINARY";

/// Writes databases of this build with the responses recorded from them, and the description of its API.
pub(crate) fn write_fixture(workspace: &Workspace) -> Result<Outcome> {
    let (Some(programs), Some(server)) = (
        postgres::programs(),
        Server::find_or_start(Durability::None)?,
    ) else {
        bail!("a fixture needs PostgreSQL: install it");
    };
    product::build(workspace)?;
    let commit = workspace.git(&["rev-parse", "HEAD"])?;
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(std::iter::once(programs).chain(env::split_paths(&path)))?;
    let server_binary = Profile::Dev.binary(workspace);
    workspace
        .command(workspace.target.join("debug/fixture"))
        .args(["--commit", &commit, "--postgres", &server.url()])
        .env("PATH", path)
        .env("PENNON_TEST_BINARY", &server_binary)
        .run()?;
    let description = workspace
        .command(&server_binary)
        .arg("openapi")
        .run_quietly()?;
    let file = workspace.root.join("tests/fixtures/api/openapi.json");
    fs::write(file, description)?;
    write_client_fixture(workspace, &server_binary)?;
    Ok(Outcome::Done)
}

/// Writes the client of this build and a recording of the service's responses to clients.
fn write_client_fixture(workspace: &Workspace, server_binary: &Path) -> Result<()> {
    let package = workspace.root.join("npm/core");
    let folder = workspace.root.join("tests/fixtures/client");
    fs::remove_dir_all(&folder)?;
    fs::create_dir(&folder)?;
    node::npm(workspace)
        .current_dir(&package)
        .args(["pack", "--silent", "--pack-destination"])
        .arg(&folder)
        .run()?;
    node::tool(workspace, "vitest")
        .current_dir(&package)
        .args(["run", "test/skew.test.ts"])
        .env("PENNON_WRITE_RECORDING", "1")
        .env("PENNON_BINARY", server_binary)
        .run()
}

/// Returns the binary of the last release. Builds it in the target folder, unless it is already there or the
/// environment names one.
pub(crate) fn previous_binary(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(binary) = env::var_os(BINARY) {
        return Ok(binary.into());
    }
    let revision = previous_revision(workspace)?;
    let commit = format!("{revision}^{{commit}}");
    let commit = workspace.git(&["rev-parse", "--verify", "--quiet", &commit]).with_context(|| {
        format!("{revision} is not in this clone; run `git fetch --unshallow --tags`, or set {BINARY}")
    })?;
    let folder = workspace.target.join("previous");
    let binary = folder.join(&commit);
    if !binary.exists() {
        build(workspace, &commit, &folder)?;
        fs::copy(folder.join("target/debug/pennon"), &binary)?;
        // This frees gigabytes, of which the next release could reuse little.
        fs::remove_dir_all(folder.join("target"))?;
    }
    Ok(binary)
}

/// Returns the tag of the last release before this commit or, if there is no such tag, the commit of the newest
/// fixture.
fn previous_revision(workspace: &Workspace) -> Result<String> {
    let before = ["describe", "--tags", "--abbrev=0", "--match=v*", "HEAD^"];
    let mut describe = workspace.command("git");
    let described = describe.args(before).output()?;
    if described.status.success() {
        let tag = String::from_utf8_lossy(&described.stdout).trim().to_owned();
        eprintln!("    the last release is {tag}");
        return Ok(tag);
    }
    let folders = fs::read_dir(workspace.root.join("tests/fixtures/database"))?;
    let folders: Vec<PathBuf> = folders
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    let newest = folders.iter().max().context("no fixture exists")?;
    let release = fs::read(newest.join("release.json"))?;
    let release: serde_json::Value = serde_json::from_slice(&release)?;
    let commit = release.get("commit").and_then(serde_json::Value::as_str);
    let commit = commit.with_context(|| format!("{} has no commit", newest.display()))?;
    eprintln!(
        "    no release tag precedes this commit; the last release is the commit of the newest fixture: {commit}"
    );
    Ok(commit.to_owned())
}

/// Builds the server of a commit in a separate work tree and target folder. Its dashboard has no scripts.
fn build(workspace: &Workspace, commit: &str, folder: &Path) -> Result<()> {
    let source = folder.join("source");
    let path = source
        .to_str()
        .context("the target folder has no plain name")?;
    if source.exists() {
        workspace.git(&["worktree", "remove", "--force", path])?;
    }
    workspace.git(&["worktree", "prune"])?;
    workspace.git(&["worktree", "add", "--detach", path, commit])?;
    let mut cargo = workspace.cargo();
    let built = cargo
        .current_dir(&source)
        .args([
            "build",
            "--locked",
            "--package",
            "pennon-server",
            "--bin",
            "pennon",
        ])
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .run();
    workspace.git(&["worktree", "remove", "--force", path])?;
    built
}
