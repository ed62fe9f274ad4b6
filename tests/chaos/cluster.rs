//! Controls the processes of a PostgreSQL server on this machine. Finds them in `/proc`, which only Linux has.

use std::fs::{self, read_to_string};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use pennon_tests::{TestDatabase, eventually};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::time::sleep;

/// A PostgreSQL server that tests may stop.
pub(crate) struct Cluster {
    url: String,
    data: PathBuf,
}

impl Cluster {
    /// Returns the server at a URL, whose user must be a superuser.
    pub(crate) async fn at(url: &str) -> Self {
        let mut connection = PgConnection::connect(url)
            .await
            .expect("PostgreSQL answers");
        let data: String = sqlx::query_scalar("show data_directory")
            .fetch_one(&mut connection)
            .await
            .expect("a superuser");
        Self {
            url: url.to_owned(),
            data: data.into(),
        }
    }

    /// Returns the URL of the server's first database.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the server's data folder.
    pub(crate) fn data(&self) -> &PathBuf {
        &self.data
    }

    /// Runs statements in the server's first database.
    pub(crate) async fn execute(&self, statements: &str) {
        let connected = PgConnection::connect(&self.url).await;
        let mut connection = connected.expect("PostgreSQL answers");
        let done = sqlx::raw_sql(AssertSqlSafe(statements.to_owned()))
            .execute(&mut connection)
            .await;
        done.expect("the statements run");
    }

    /// Ends all sessions in a database.
    pub(crate) async fn disconnect(&self, database: &TestDatabase) {
        let name = database.name();
        self.execute(&format!(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'"
        ))
        .await;
    }

    /// Stops the server at once, without a checkpoint. Returns the command that starts it again.
    pub(crate) async fn stop(&self) -> Stopped {
        let postmaster = self.postmaster().expect("the server runs");
        let folder = PathBuf::from(format!("/proc/{}", postmaster.as_raw_nonzero()));
        let owner = fs::metadata(&folder).expect("the server runs");
        let command = fs::read(folder.join("cmdline")).expect("the server runs");
        let mut words = command
            .split(|byte| *byte == 0)
            .filter(|word| !word.is_empty())
            .map(|word| std::ffi::OsString::from_vec(word.to_vec()));
        let mut start = Command::new(words.next().expect("a program"));
        start
            .args(words)
            .current_dir(&self.data)
            .uid(owner.uid())
            .gid(owner.gid())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        kill_process(postmaster, Signal::QUIT).expect("the server runs");
        eventually("the server has ended", async || self.postmaster().is_none()).await;
        Stopped(start)
    }

    /// Starts the server again, and waits until it accepts connections.
    #[expect(
        clippy::zombie_processes,
        reason = "the program that started the cluster also stops it"
    )]
    pub(crate) async fn start(&self, Stopped(mut command): Stopped) {
        command.spawn().expect("the server starts");
        eventually("PostgreSQL answers", async || {
            PgConnection::connect(&self.url).await.is_ok()
        })
        .await;
    }

    /// Sends a signal to all processes of the server.
    pub(crate) async fn signal(&self, signal: Signal) {
        let postmaster = self.postmaster().expect("the server runs");
        kill_process(postmaster, signal).expect("the server runs");
        // Waits for children that the postmaster was starting when it received the signal.
        sleep(Duration::from_millis(50)).await;
        for process in fs::read_dir("/proc").expect("Linux").flatten() {
            let stat = read_to_string(process.path().join("stat")).unwrap_or_default();
            // The program's name is in parentheses, and may contain any characters.
            let parent = stat.rsplit(')').next().and_then(|rest| {
                let parent = rest.split_whitespace().nth(1)?;
                Pid::from_raw(parent.parse().ok()?)
            });
            let id = process.file_name().to_string_lossy().parse().ok();
            if let Some(child) = id.and_then(Pid::from_raw)
                && parent == Some(postmaster)
            {
                // The process may have ended meanwhile.
                _ = kill_process(child, signal);
            }
        }
    }

    /// Returns the ID of the first process. The server keeps it in its data folder while it runs.
    fn postmaster(&self) -> Option<Pid> {
        let state = read_to_string(self.data.join("postmaster.pid")).ok()?;
        Pid::from_raw(state.lines().next()?.trim().parse().ok()?)
    }
}

/// The command line of a server that was stopped.
pub(crate) struct Stopped(Command);
