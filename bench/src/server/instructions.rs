//! The instructions of a request, counted by Valgrind. They differ less between runs than times do. They include
//! neither the kernel nor the effects of caches.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::fixture::{Fixture, RULE_FLAG};
use super::load::Target;
use super::{Bare, Yardsticks};
use crate::database::Database;

/// The number of requests before counting, which fill caches and connect.
const WARM_UP: usize = 200;

/// The number of counted requests.
const REQUESTS: usize = 2_000;

/// Counts instructions of single requests, one after the other, and prints the table.
pub(super) async fn measure(server: &Path, folder: &Path) -> Result<()> {
    println!("\n### Instructions of a request, without the kernel\n");
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("Not counted, because Valgrind is not installed.");
        return Ok(());
    }
    let program = counted(server, folder, "server")?;
    let fixture = Fixture::start(&program, &Database::sqlite(folder), &[]).await?;
    let (etag, document) = fixture.service.document(&fixture.sdk_key).await?;
    let program = counted(&std::env::current_exe()?, folder, "bare")?;
    let bare = Yardsticks(Bare::start_program(&program, document).await?);

    println!("| | bare | Pennon | ratio |");
    println!("|---|--:|--:|--:|");
    let bare = per_request(&bare.evaluate()?, folder).await?;
    for (what, target) in [
        (
            "evaluate, 3 rules of 3 conditions",
            fixture.evaluate(RULE_FLAG),
        ),
        (
            "config, not modified (compared with the bare POST)",
            fixture.config(Some(&etag)),
        ),
    ] {
        let pennon = per_request(&target, folder).await?;
        println!(
            "| {what} | {bare:.0} | {pennon:.0} | **{:.2}** |",
            pennon / bare
        );
    }
    Ok(())
}

/// Writes a script that runs a program in Valgrind, and returns its path.
fn counted(program: &Path, folder: &Path, name: &str) -> Result<PathBuf> {
    let script = folder.join(format!("{name}.sh"));
    let text = format!(
        "#!/bin/sh\nexec valgrind --quiet --tool=callgrind --callgrind-out-file={}/%p {} \"$@\"\n",
        folder.display(),
        program.display()
    );
    fs::write(&script, text)?;
    fs::set_permissions(&script, Permissions::from_mode(0o755))?;
    Ok(script)
}

#[expect(clippy::cast_precision_loss, reason = "there are few instructions")]
async fn per_request(target: &Target, folder: &Path) -> Result<f64> {
    target.repeat(WARM_UP).await?;
    take_count(target.process(), folder)?;
    target.repeat(REQUESTS).await?;
    Ok(take_count(target.process(), folder)? as f64 / REQUESTS as f64)
}

/// Returns the instructions that a process has executed since the last call.
fn take_count(process: u32, folder: &Path) -> Result<u64> {
    let dumped = Command::new("callgrind_control")
        .args(["--dump", &process.to_string()])
        .output()?;
    ensure!(
        dumped.status.success(),
        "callgrind_control: {}",
        String::from_utf8_lossy(&dumped.stdout)
    );
    let mut dumps = 1..;
    let path = |number: &u32| folder.join(format!("{process}.{number}"));
    let next = dumps.find(|number| !path(number).exists());
    let last = next.unwrap_or_default().saturating_sub(1);
    let text = fs::read_to_string(path(&last)).context("callgrind_control has written no dump")?;
    let totals = text.lines().find_map(|line| line.strip_prefix("totals: "));
    Ok(totals.context("the dump has no totals")?.trim().parse()?)
}
