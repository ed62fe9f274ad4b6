//! `cargo xtask`: the commands for everything that this repository needs, from a fresh clone to a release.

mod bench;
mod build;
mod check;
mod cli;
mod digest;
mod plan;
mod process;
mod programs;
mod release;
mod step;
mod tally;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser as _;

use build::dist;
use build::serve::{self, Profile};
use check::suites::{self, Extent};
use check::{alone, reproducible};
use cli::{Cli, Command};
use tally::Tally;
use workspace::Workspace;

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        // The error is not returned, because `main` might print it with a backtrace. The user needs one sentence.
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command, after the steps that it requires.
fn run(command: Command) -> Result<()> {
    let workspace = Workspace::find()?;
    let mut tally = Tally::default();
    step::take(&plan::steps(&command), &workspace, &mut tally)?;
    match command {
        Command::Run { release, arguments } => {
            let profile = if release {
                Profile::Release
            } else {
                Profile::Dev
            };
            serve::run(&workspace, profile, &arguments)?;
        }
        Command::Parity { arguments } => {
            suites::parity(&workspace, &arguments)?;
        }
        Command::Chaos { short, arguments } => {
            let extent = if short { Extent::Gate } else { Extent::All };
            suites::chaos(&workspace, &mut tally, extent, &arguments)?;
            tally.report();
        }
        Command::Dist { target } => {
            for target in target {
                eprintln!("==> Static binary for {target}");
                dist::build(&workspace, &target)?;
                if target == dist::default_target() {
                    alone::check(&workspace, &dist::binary(&workspace, &target))?;
                    step::take(&plan::AFTER_OWN_BINARY, &workspace, &mut tally)?;
                }
            }
            step::take(&plan::AFTER_BINARIES, &workspace, &mut tally)?;
        }
        Command::Reproducible => reproducible::check(&workspace)?,
        Command::Release { version, dry_run } => release::release(&workspace, &version, dry_run)?,
        Command::Changelog { version } => println!("{}", release::notes(&workspace, &version)?),
        Command::Build => eprintln!("\n{}", Profile::Release.binary(&workspace).display()),
        _ => tally.report(),
    }
    Ok(())
}
