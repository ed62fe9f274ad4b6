//! PgBouncer, for the tests of the server behind a connection pooler.

use std::env;
use std::path::PathBuf;

use anyhow::Result;

use crate::debian;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// Installs PgBouncer where it is missing and can be installed. Without it, its tests are left out.
pub(crate) fn install(workspace: &Workspace) -> Result<Outcome> {
    if is_installed() || !debian::can_install(workspace) {
        return Ok(Outcome::UpToDate);
    }
    debian::install(workspace, &["pgbouncer"])?;
    Ok(Outcome::Done)
}

/// Returns true if there is a PgBouncer for the tests to start. Debian keeps it where only root looks.
pub(crate) fn is_installed() -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders
        .map(|folder| folder.join("pgbouncer"))
        .any(|program| program.is_file())
}
