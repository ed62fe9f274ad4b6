//! The commit from which files are built.

use std::fmt::{self, Display, Formatter};

use anyhow::{Context as _, Result};

use crate::process::Run as _;
use crate::workspace::Workspace;

/// A commit of this repository, displayed as `082e48ea, 2026-11-23`.
#[derive(Debug)]
pub(crate) struct Revision {
    /// The full hash.
    pub(crate) commit: String,
    /// The date of the commit in UTC, such as `2026-11-23`.
    pub(crate) date: String,
    /// The time of the commit, in seconds since 1970.
    pub(crate) seconds: u64,
    /// `true` if tracked files differ from the commit.
    is_modified: bool,
}

impl Revision {
    /// Asks Git for the commit that is checked out.
    pub(crate) fn of(workspace: &Workspace) -> Result<Self> {
        let git = |arguments: &[&str]| {
            let mut git = workspace.command("git");
            git.args(arguments).env("TZ", "UTC").run_quietly()
        };
        let format = "--format=%H %cd %ct";
        let shown = git(&[
            "show",
            "--no-patch",
            "--date=format-local:%Y-%m-%d",
            format,
            "HEAD",
        ]);
        let shown = shown.context("a release is built from a commit, so git must know it")?;
        let mut words = shown.split_whitespace();
        let mut word = || words.next().context("git printed no commit");
        Ok(Self {
            commit: word()?.to_owned(),
            date: word()?.to_owned(),
            seconds: word()?.parse()?,
            is_modified: !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty(),
        })
    }
}

impl Display for Revision {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let short = self.commit.get(..8).unwrap_or(&self.commit);
        let modified = if self.is_modified { ", modified" } else { "" };
        write!(f, "{short}, {}{modified}", self.date)
    }
}
