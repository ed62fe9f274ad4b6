//! Runs other programs.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail};

/// Runs a command in one of three ways. Each fails if the command fails.
pub(crate) trait Run {
    /// Runs the command with its output on the terminal.
    fn run(&mut self) -> Result<()>;

    /// Runs the command and shows its output only if it fails. Returns its standard output.
    fn run_quietly(&mut self) -> Result<String>;

    /// Runs the command with its output on the terminal, and also passes each line of its standard output to `read`.
    fn run_reading(&mut self, read: impl FnMut(&str)) -> Result<()>;
}

impl Run for Command {
    fn run(&mut self) -> Result<()> {
        let status = self.status().with_context(|| not_started(self))?;
        succeeded(self, status)
    }

    fn run_quietly(&mut self) -> Result<String> {
        let output = self
            .stdin(Stdio::null())
            .output()
            .with_context(|| not_started(self))?;
        if !output.status.success() {
            eprint!("{}", String::from_utf8_lossy(&output.stdout));
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
        }
        succeeded(self, output.status)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn run_reading(&mut self, mut read: impl FnMut(&str)) -> Result<()> {
        let mut child = self
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| not_started(self))?;
        let stdout = child
            .stdout
            .take()
            .ok_or_else(|| anyhow!("no standard output to read"))?;
        let mut terminal = std::io::stdout();
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            writeln!(terminal, "{line}")?;
            read(&line);
        }
        let status = child.wait()?;
        succeeded(self, status)
    }
}

/// Returns the number of processors that this process may use.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs as many groups of commands at a time as there are processors. The commands of a group run one after the other,
/// until one fails. Shows only the output of commands that fail.
pub(crate) fn run_groups(groups: Vec<Vec<Command>>) -> Result<()> {
    let remaining = Mutex::new(groups.into_iter());
    let next = || {
        let mut remaining = remaining.lock().unwrap_or_else(PoisonError::into_inner);
        remaining.next()
    };
    let work = || -> Result<()> {
        while let Some(group) = next() {
            for mut command in group {
                command.run_quietly()?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..processors()).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|worker| {
            let result = worker.join();
            result.unwrap_or_else(|_| bail!("a thread that runs commands has panicked"))
        });
        ended.collect()
    })
}

/// Returns the program of this name on the search path.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Returns the program of this name on root's search path. Debian installs services in a folder that is on no other
/// one.
pub(crate) fn on_path_of_root(name: &str) -> Option<PathBuf> {
    let known = || Some(PathBuf::from("/usr/sbin").join(name)).filter(|file| file.is_file());
    on_path(name).or_else(known)
}

fn succeeded(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` failed ({status})", describe(command));
    }
    Ok(())
}

fn not_started(command: &Command) -> String {
    format!("`{}` could not be started", describe(command))
}

/// Returns the command as a user would type it, without the program's folder.
fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
