//! Runs the steps of a command, and prints their titles and durations.

use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::tally::Tally;
use crate::workspace::Workspace;

/// A step of a command. It relies only on the steps before it in the command's list.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    title: &'static str,
    work: Work,
}

#[derive(Clone, Copy)]
enum Work {
    /// Work without tests that are counted.
    Plain(fn(&Workspace) -> Result<Outcome>),
    /// Tests, which are counted or skipped.
    Counting(fn(&Workspace, &mut Tally) -> Result<Outcome>),
}

impl Step {
    pub(crate) const fn new(title: &'static str, work: fn(&Workspace) -> Result<Outcome>) -> Self {
        let work = Work::Plain(work);
        Self { title, work }
    }

    /// Creates a step with tests, which it counts.
    pub(crate) const fn counting(
        title: &'static str,
        work: fn(&Workspace, &mut Tally) -> Result<Outcome>,
    ) -> Self {
        let work = Work::Counting(work);
        Self { title, work }
    }

    fn run(self, workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
        match self.work {
            Work::Plain(work) => work(workspace),
            Work::Counting(work) => work(workspace, tally),
        }
        .context(self.title)
    }
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    UpToDate,
}

/// Runs the steps in order, each only once even if it is listed several times. Prints the title of each step when it
/// begins, and then its duration or a note that it was up to date.
pub(crate) fn take(steps: &[Step], workspace: &Workspace, tally: &mut Tally) -> Result<()> {
    let mut taken = Vec::new();
    for step in steps {
        if taken.contains(&step.title) {
            continue;
        }
        taken.push(step.title);
        eprintln!("==> {}", step.title);
        let started = Instant::now();
        match step.run(workspace, tally)? {
            Outcome::Done => eprintln!("    done in {:.1} s", started.elapsed().as_secs_f32()),
            Outcome::UpToDate => eprintln!("    up to date"),
        }
    }
    Ok(())
}
