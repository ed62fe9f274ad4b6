//! Runs the steps of a command, and prints their titles and durations.

use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::tally::Tally;
use crate::workspace::Workspace;

/// A step of a command. It relies only on the steps before it in the command's list.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) title: &'static str,
    pub(crate) work: fn(&Workspace, &mut Tally) -> Result<Outcome>,
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
        let outcome = (step.work)(workspace, tally).with_context(|| step.title)?;
        match outcome {
            Outcome::Done => eprintln!("    done in {:.1} s", started.elapsed().as_secs_f32()),
            Outcome::UpToDate => eprintln!("    up to date"),
        }
    }
    Ok(())
}
