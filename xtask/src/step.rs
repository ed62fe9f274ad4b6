//! Steps: what is being done, and how long it took.

use std::time::Instant;

use anyhow::{Context as _, Result};

/// Whether a step found work to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    UpToDate,
}

/// Says what begins, does it, and says how long it took or that there was nothing to do.
pub(crate) fn step(title: &str, work: impl FnOnce() -> Result<Outcome>) -> Result<()> {
    eprintln!("==> {title}");
    let started = Instant::now();
    match work().with_context(|| format!("failed: {title}"))? {
        Outcome::Done => eprintln!("    done in {:.1} s", started.elapsed().as_secs_f32()),
        Outcome::UpToDate => eprintln!("    up to date"),
    }
    Ok(())
}
