//! Builds the documentation as a site with search, with the successor of `MkDocs` and its Material theme.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::process::Run as _;
use crate::programs::python;
use crate::release::addresses;
use crate::step::Outcome;
use crate::tally::Tally;
use crate::workspace::Workspace;

/// Builds the site into the target folder's docs/site/. A broken link is an error.
pub(crate) fn build(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let Some(programs) =
        python::find_or_skip(workspace, tally, "docs", "the site of the documentation")?
    else {
        return Ok(Outcome::Done);
    };
    let repository = addresses::read(workspace)?;
    let repository = repository.get("repository").context("a repository")?;
    let source = workspace.empty_folder("docs")?;
    fs::copy(workspace.root.join("mkdocs.yml"), source.join("mkdocs.yml"))?;
    copy(&workspace.root, &source, Path::new("docs"), repository)?;
    workspace
        .command(programs.join("zensical"))
        .args(["build", "--strict", "--config-file"])
        .arg(source.join("mkdocs.yml"))
        .run_quietly()?;
    eprintln!("    in {}", source.join("site").display());
    Ok(Outcome::Done)
}

/// Copies a folder of documents. Links to files outside docs/, which are not part of the site, are rewritten to point
/// to the repository.
fn copy(from: &Path, to: &Path, folder: &Path, repository: &str) -> Result<()> {
    fs::create_dir_all(to.join(folder))?;
    for entry in fs::read_dir(from.join(folder))? {
        let entry = entry?;
        let file = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(from, to, &file, repository)?;
        } else if file.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(entry.path())?;
            let text = text.replace("](../", &format!("]({repository}/blob/main/"));
            fs::write(to.join(&file), text)?;
        } else {
            fs::copy(entry.path(), to.join(&file))?;
        }
    }
    Ok(())
}
