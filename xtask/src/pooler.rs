//! PgBouncer, for tests of the server behind a connection pooler.

use std::env;
use std::path::PathBuf;

use anyhow::Result;

use crate::debian;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// Installs PgBouncer if it is missing and can be installed. Without it, the tests that need it are left out.
pub(crate) fn install(workspace: &Workspace) -> Result<Outcome> {
    if is_installed() || !debian::can_install(workspace) {
        return Ok(Outcome::UpToDate);
    }
    debian::install(workspace, &["pgbouncer"])?;
    Ok(Outcome::Done)
}

/// Returns `true` if PgBouncer is installed. Debian installs it in a folder that is on root's search path only.
pub(crate) fn is_installed() -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders
        .map(|folder| folder.join("pgbouncer"))
        .any(|program| program.is_file())
}
