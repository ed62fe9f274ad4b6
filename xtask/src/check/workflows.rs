//! Checks the workflows in `.github/` against their schema and with zizmor, which looks for weaknesses in them.

use std::fs;

use anyhow::Result;

use crate::process::Run as _;
use crate::programs::python;
use crate::step::Outcome;
use crate::tally::Tally;
use crate::workspace::Workspace;

/// Checks all workflows, without asking GitHub about the actions that they use.
pub(crate) fn check(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let Some(programs) = python::find_or_skip(workspace, tally, "workflows", "the workflows")?
    else {
        return Ok(Outcome::Done);
    };
    let folder = fs::read_dir(workspace.root.join(".github/workflows"))?;
    let workflows = folder
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    workspace
        .command(programs.join("check-jsonschema"))
        .args(["--builtin-schema", "vendor.github-workflows"])
        .args(workflows)
        .run_quietly()?;
    workspace
        .command(programs.join("zizmor"))
        .args(["--offline", "--persona=pedantic", "--no-progress"])
        .arg(".github")
        .run_quietly()?;
    Ok(Outcome::Done)
}
