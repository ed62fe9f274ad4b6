//! Steps: what is being done, and how long it took.

use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::tally::Tally;
use crate::workspace::Workspace;

/// One thing that xtask does. It relies on the steps before it in its command's list, and on nothing else.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) title: &'static str,
    pub(crate) work: fn(&Workspace, &mut Tally) -> Result<Outcome>,
}

/// Whether a step found work to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    UpToDate,
}

/// Takes the steps in order, each one once, however often it is listed. Says what begins, and how long it took or that
/// there was nothing to do.
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
