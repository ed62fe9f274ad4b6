//! Prepares a release: sets the version in all files and the date in the changelog, commits, and tags. The workflow
//! `release.yml` publishes the tag.

pub(crate) mod addresses;
mod changelog;
#[cfg(test)]
mod tests;
mod version;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use semver::Version;

use crate::process::Run as _;
use crate::workspace::Workspace;

pub(crate) use changelog::notes;
use version::Places;

/// The branch from which releases are made.
const BRANCH: &str = "main";

/// Releases a version: writes it into all files, runs the whole gate, commits, tags, and stores the files with which
/// later builds are compared. Nothing is pushed. A dry run only lists the files that would change.
///
/// # Errors
///
/// Fails before anything is changed, with all reasons why the version cannot be released.
pub(crate) fn release(workspace: &Workspace, version: &str, is_dry_run: bool) -> Result<()> {
    let plan = Plan::new(workspace, version)?;
    plan.print();
    if is_dry_run {
        return Ok(());
    }
    plan.write()?;
    // A separate process, because this one was compiled with the previous version.
    xtask(workspace, &["test", "--all"]).context(
        "nothing was committed; fix the error on the branch, undo the other changes with `git restore .`, and start again",
    )?;
    plan.commit_and_tag()?;
    let tag = plan.tag();
    keep_fixture(workspace, &plan.version).with_context(|| {
        format!("{tag} is tagged, but later builds need its files; run `cargo xtask fixture` and commit them")
    })?;
    eprintln!("\nTo publish {tag}:\n\n    git push --atomic origin {BRANCH} {tag}");
    Ok(())
}

fn xtask(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    workspace.cargo().arg("xtask").args(arguments).run()
}

/// Commits the files of `cargo xtask fixture`. They name the commit of the tag, so they cannot be part of that commit.
fn keep_fixture(workspace: &Workspace, version: &Version) -> Result<()> {
    const FOLDER: &str = "tests/fixtures";
    xtask(workspace, &["fixture"])?;
    workspace.git(&["add", "--all", FOLDER])?;
    let message = format!("tests: Keep the files of release {version}");
    workspace.git(&["commit", "--quiet", "--message", &message, "--", FOLDER])?;
    Ok(())
}

/// A release that nothing prevents, with the changes that it makes.
struct Plan<'a> {
    workspace: &'a Workspace,
    version: Version,
    /// The files that change, relative to the root folder, with their new content.
    changes: Vec<(PathBuf, String)>,
}

impl<'a> Plan<'a> {
    fn new(workspace: &'a Workspace, version: &str) -> Result<Self> {
        let version = version.strip_prefix('v').unwrap_or(version);
        let version = Version::parse(version)
            .with_context(|| format!("`{version}` is not a version such as 1.2.3"))?;
        let mut problems = problems_of_version(&version, &current_version(workspace)?);
        problems.extend(problems_of_repository(workspace, &version)?);
        problems.extend(addresses::problems(workspace)?);
        let changelog = changelog(workspace, &version);
        if let Err(problem) = &changelog {
            problems.push(problem.to_string());
        }
        if !problems.is_empty() {
            bail!(
                "{version} cannot be released:\n  - {}",
                problems.join("\n  - ")
            );
        }
        let mut changes = vec![(PathBuf::from(changelog::FILE), changelog?)];
        changes.extend(changes_of_version(workspace, &version)?);
        Ok(Self {
            workspace,
            version,
            changes,
        })
    }

    fn tag(&self) -> String {
        tag(&self.version)
    }

    fn print(&self) {
        eprintln!("==> Release {}", self.version);
        for (file, _) in &self.changes {
            eprintln!("    {}", file.display());
        }
    }

    fn write(&self) -> Result<()> {
        for (file, text) in &self.changes {
            fs::write(self.workspace.root.join(file), text)?;
        }
        Ok(())
    }

    fn commit_and_tag(&self) -> Result<()> {
        let files = self.changes.iter().map(|(file, _)| file);
        let message = format!("release: Set the version to {}", self.version);
        self.workspace
            .command("git")
            .args(["commit", "--quiet", "--message", &message, "--"])
            .args(files)
            .run()?;
        let message = format!("Pennon {}", self.version);
        let tag = self.tag();
        self.workspace
            .git(&["tag", "--annotate", "--message", &message, &tag])?;
        Ok(())
    }
}

fn tag(version: &Version) -> String {
    format!("v{version}")
}

/// Returns the version in the root manifest.
fn current_version(workspace: &Workspace) -> Result<Version> {
    const FILE: &str = "Cargo.toml";
    let manifest = fs::read_to_string(workspace.root.join(FILE)).context(FILE)?;
    let manifest: toml::Table = toml::from_str(&manifest).context(FILE)?;
    let version = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("package")?.get("version")?.as_str());
    let version = version.with_context(|| format!("{FILE} has no workspace.package.version"))?;
    Version::parse(version).context(FILE)
}

/// Returns the reasons why the version itself cannot be released. It may be the current version, which is unreleased if
/// it has neither a tag nor a section in the changelog.
fn problems_of_version(version: &Version, current: &Version) -> Vec<String> {
    let mut problems = Vec::new();
    if version < current {
        problems.push(format!("the version is {current} already, which is newer"));
    }
    if !version.pre.is_empty() || !version.build.is_empty() {
        problems.push("a release has a version of three numbers, such as 1.2.3".to_owned());
    }
    problems
}

fn problems_of_repository(workspace: &Workspace, version: &Version) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let branch = workspace.git(&["branch", "--show-current"])?;
    if branch != BRANCH {
        problems.push(format!(
            "releases are made from `{BRANCH}`; run `git switch {BRANCH}`"
        ));
    }
    if !workspace.git(&["status", "--porcelain"])?.is_empty() {
        problems.push("there are changes that are not committed; commit or stash them".to_owned());
    }
    let tag = tag(version);
    if !workspace.git(&["tag", "--list", &tag])?.is_empty() {
        problems.push(format!("the tag {tag} exists already"));
    }
    Ok(problems)
}

/// Returns the changelog with the unreleased changes assigned to the version, dated today (UTC).
fn changelog(workspace: &Workspace, version: &Version) -> Result<String> {
    let today = workspace
        .command("date")
        .args(["-u", "+%Y-%m-%d"])
        .run_quietly()?;
    let text = changelog::read(workspace)?;
    changelog::release(&text, &version.to_string(), today.trim())
}

/// Returns the files in which the version changes, with their new content.
fn changes_of_version(workspace: &Workspace, version: &Version) -> Result<Vec<(PathBuf, String)>> {
    let addresses = addresses::read(workspace)?;
    let places = Places::new(addresses.get("image").context("an image")?)?;
    let version = version.to_string();
    let change = |(file, old): (PathBuf, String)| {
        let new = places.set(&old, &version);
        (new != old).then_some((file, new))
    };
    let texts = workspace.texts()?.into_iter();
    let texts = texts.filter(|(file, _): &(PathBuf, String)| Places::are_in(Path::new(file)));
    Ok(texts.filter_map(change).collect())
}
