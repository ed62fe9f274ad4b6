//! PgBouncer, for tests of the server behind a connection pooler.

use anyhow::Result;

use super::debian;
use crate::process::on_path_of_root;
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

/// Returns `true` if PgBouncer is installed.
pub(crate) fn is_installed() -> bool {
    on_path_of_root("pgbouncer").is_some()
}
