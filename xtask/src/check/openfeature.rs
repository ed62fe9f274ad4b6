//! Tests the server with OpenFeature's own provider for Python. The providers for Node.js and browsers are tested in
//! `playwright`.

use anyhow::Result;

use super::instance::Instance;
use crate::build::serve::Profile;
use crate::programs::python;
use crate::step::Outcome;
use crate::tally::Tally;
use crate::workspace::Workspace;

/// Tests a server that has its own database. If Python is missing, the test is reported as left out.
pub(crate) fn test(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let Some(programs) = python::find_or_skip(
        workspace,
        tally,
        "openfeature",
        "OpenFeature's provider for Python",
    )?
    else {
        return Ok(Outcome::Done);
    };
    let folder = workspace.empty_folder("openfeature")?;
    let settings = [("RUST_LOG", "error")];
    let server = Instance::start(&Profile::Dev.binary(workspace), &folder, &settings)?;
    let mut provider = workspace.command(programs.join("python"));
    provider
        .arg(workspace.root.join("tests/openfeature/provider.py"))
        .arg(server.base_url())
        .arg(server.sign_in_as_administrator()?);
    tally.run("OpenFeature's provider for Python", &mut provider)?;
    Ok(Outcome::Done)
}
