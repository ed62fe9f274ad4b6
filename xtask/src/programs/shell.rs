//! The programs with which the tests run the shell examples of the documentation.

use anyhow::Result;

use super::debian;
use crate::process;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The names of the programs, which are also the names of their Debian packages.
const PROGRAMS: [&str; 3] = ["bash", "curl", "jq"];

/// Installs the programs if one is missing and they can be installed. Without them, the examples are left out.
pub(crate) fn install(workspace: &Workspace) -> Result<Outcome> {
    if is_complete() || !debian::can_install(workspace) {
        return Ok(Outcome::UpToDate);
    }
    debian::install(workspace, &PROGRAMS)?;
    Ok(Outcome::Done)
}

/// Returns `true` if all programs are installed.
pub(crate) fn is_complete() -> bool {
    PROGRAMS
        .iter()
        .all(|program| process::on_path(program).is_some())
}
