//! Python virtual environments for tools and packages from the Python Package Index.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, Result};

use crate::digest;
use crate::process::Run as _;
use crate::tally::Tally;
use crate::workspace::Workspace;

/// The oldest Python version that all packages support.
const OLDEST: (u32, u32) = (3, 11);

/// Returns the folder with the programs of an environment. Returns `None` if there is no Python that can create one.
/// The environment is kept and reused as long as its packages are the same.
///
/// `xtask/python/{name}.in` lists the packages that are needed. `{name}.txt` also lists their dependencies, with the
/// hashes of all files for all platforms. Its first lines have the command that writes it; `--upgrade` raises versions.
pub(crate) fn environment(workspace: &Workspace, name: &str) -> Result<Option<PathBuf>> {
    if !is_at_least(workspace, OLDEST) {
        return Ok(None);
    }
    let environment = workspace.target.join("python").join(name);
    let (programs, complete) = (environment.join("bin"), environment.join("complete"));
    let list = workspace.root.join(format!("xtask/python/{name}.txt"));
    let digest = digest::sha256(&fs::read(&list).with_context(|| list.display().to_string())?);
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
    eprintln!("    installing the packages of {}", list.display());
    let mut pip = workspace.command(programs.join("pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"])
        .args(["--require-hashes", "--requirement"])
        .arg(&list)
        .run_quietly()
        .with_context(|| format!("the packages of {} cannot be installed", list.display()))?;
    fs::write(&complete, digest)?;
    Ok(Some(programs))
}

/// Returns the folder with the programs of an environment for tests. Without Python, records that they were left out.
pub(crate) fn find_or_skip(
    workspace: &Workspace,
    tally: &mut Tally,
    name: &str,
    tests: &str,
) -> Result<Option<PathBuf>> {
    let programs = environment(workspace, name)?;
    if programs.is_none() {
        tally.skip(tests, &format!("install {}", requirement()));
    }
    Ok(programs)
}

/// Returns the description of the Python that an environment needs.
pub(crate) fn requirement() -> String {
    let (major, minor) = OLDEST;
    format!("Python {major}.{minor} or newer with its venv module")
}

/// Returns `true` if Python is installed in this version or a newer one.
fn is_at_least(workspace: &Workspace, (major, minor): (u32, u32)) -> bool {
    let question = format!("import sys; sys.exit(sys.version_info < ({major}, {minor}))");
    let mut python = workspace.command("python3");
    let answer = python
        .args(["-c", &question])
        .stderr(Stdio::null())
        .status();
    answer.is_ok_and(|status| status.success())
}
