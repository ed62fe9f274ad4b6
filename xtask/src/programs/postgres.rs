//! PostgreSQL for tests: the server that the environment names, or a throwaway cluster.

use std::env;
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{DirBuilderExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::process::Run as _;

/// The variable that names a server to use instead of a throwaway cluster. The tests create databases on it.
pub(crate) const VARIABLE: &str = "PENNON_TEST_POSTGRES_URL";

/// The user that runs the cluster if xtask runs as root: PostgreSQL refuses to run as root.
const USER: &str = "postgres";

/// The durability of a throwaway cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The durability of a production server: each commit is on disk.
    Full,
    /// No durability, which is fast.
    None,
}

impl Durability {
    /// Where Linux keeps files in memory. On disk, creating a test's database takes up to ten times as long.
    const MEMORY: &str = "/dev/shm";
    /// The space that a cluster may need: mostly its write-ahead log, whose limit is 1 GiB.
    const REQUIRED_KIB: u64 = 4 << 20;

    /// Returns the folder for the clusters' own folders.
    fn parent(self) -> PathBuf {
        let free = || {
            let report = Command::new("df")
                .args(["-k", "--output=avail", Self::MEMORY])
                .output()
                .ok()?;
            let report = String::from_utf8(report.stdout).ok()?;
            report.lines().nth(1)?.trim().parse::<u64>().ok()
        };
        if self == Self::None && free().is_some_and(|free| free >= Self::REQUIRED_KIB) {
            PathBuf::from(Self::MEMORY)
        } else {
            env::temp_dir()
        }
    }
}

/// A server for tests.
pub(crate) enum Server {
    /// A server that the environment names.
    Given(String),
    /// A cluster that xtask has started. Dropping this value stops it.
    Throwaway(Cluster),
}

impl Server {
    /// Returns the server that the environment names, or starts a new one. Returns `None` if PostgreSQL is not
    /// installed.
    pub(crate) fn find_or_start(durability: Durability) -> Result<Option<Self>> {
        if let Some(url) = given() {
            return Ok(Some(Self::Given(url)));
        }
        Self::start(durability)
    }

    /// Starts a new server, which tests may stop and damage. Returns `None` if PostgreSQL is not installed.
    pub(crate) fn start(durability: Durability) -> Result<Option<Self>> {
        let Some(programs) = programs() else {
            return Ok(None);
        };
        Ok(Some(Self::Throwaway(Cluster::start(
            &programs, durability,
        )?)))
    }

    /// Returns the URL of the server's first database.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Given(url) => url.clone(),
            Self::Throwaway(cluster) => {
                format!("postgres://{USER}@127.0.0.1:{}/postgres", cluster.port)
            }
        }
    }
}

/// Returns `true` if the environment names a server or PostgreSQL is installed.
pub(crate) fn is_there() -> bool {
    given().is_some() || programs().is_some()
}

/// Returns the remedy if there is no server.
pub(crate) fn remedy() -> String {
    format!("install it, or set {VARIABLE} to the URL of a server")
}

fn given() -> Option<String> {
    env::var(VARIABLE).ok().filter(|url| !url.is_empty())
}

/// Returns the folder of PostgreSQL's programs. Debian keeps the server programs off the search path.
pub(crate) fn programs() -> Option<PathBuf> {
    let is_complete = |folder: &PathBuf| {
        let has = |program: &str| folder.join(program).is_file();
        has("initdb") && has("postgres") && has("pg_ctl")
    };
    let on_path = env::var_os("PATH").unwrap_or_default();
    let configured = Command::new("pg_config").arg("--bindir").output().ok();
    let configured = configured
        .map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim().to_owned()));
    let mut installed: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .collect();
    installed.sort();
    env::split_paths(&on_path)
        .chain(configured)
        .chain(installed.into_iter().rev())
        .find(is_complete)
}

/// A cluster in a temporary folder.
pub(crate) struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    user: Option<User>,
    port: u16,
    postmaster: Option<Child>,
}

/// An unprivileged user.
#[derive(Clone, Copy)]
struct User {
    id: u32,
    group: u32,
}

impl Cluster {
    const TIMEOUT: Duration = Duration::from_secs(30);

    fn start(programs: &Path, durability: Durability) -> Result<Self> {
        let user = if number("-u", None)? == 0 {
            let unprivileged = || {
                let id = number("-u", Some(USER))?;
                let group = number("-g", Some(USER))?;
                Ok::<User, anyhow::Error>(User { id, group })
            };
            Some(unprivileged().with_context(|| {
                format!("PostgreSQL does not run as root, and there is no user `{USER}`")
            })?)
        } else {
            None
        };
        let folder = new_folder(&durability.parent())?;
        if let Some(user) = user {
            chown(&folder, Some(user.id), Some(user.group))?;
        }
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let mut cluster = Self {
            programs: programs.to_owned(),
            folder,
            user,
            port,
            postmaster: None,
        };
        cluster
            .command("initdb")
            .args(["--username", USER, "--auth", "trust", "--no-sync"])
            .args(["--encoding", "UTF8", "--locale", "C"])
            .run_quietly()?;
        cluster.postmaster = Some(cluster.postmaster(durability).spawn()?);
        cluster.wait_until_ready()?;
        Ok(cluster)
    }

    /// Returns a command that runs a PostgreSQL program on the cluster's data.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command
            .current_dir(&self.folder)
            .arg("--pgdata")
            .arg(self.data());
        if let Some(user) = self.user {
            command.uid(user.id).gid(user.group);
        }
        command
    }

    /// Returns a command that runs the server itself rather than its launcher, so that an interrupt from the terminal
    /// also reaches the server.
    fn postmaster(&self, durability: Durability) -> Command {
        let mut postmaster = Command::new(self.programs.join("postgres"));
        postmaster
            .current_dir(&self.folder)
            .arg("-D")
            .arg(self.data());
        if let Some(user) = self.user {
            postmaster.uid(user.id).gid(user.group);
        }
        let mut settings = vec![
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=400",
            "log_min_messages=fatal",
        ];
        if durability == Durability::None {
            settings.extend([
                "fsync=off",
                "synchronous_commit=off",
                "full_page_writes=off",
            ]);
        }
        postmaster.arg("-p").arg(self.port.to_string());
        for setting in settings {
            postmaster.arg("-c").arg(setting);
        }
        postmaster
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        postmaster
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Waits until the server reports that it is ready, in a file in its data folder.
    fn wait_until_ready(&mut self) -> Result<()> {
        let state = self.data().join("postmaster.pid");
        let started = Instant::now();
        while !fs::read_to_string(&state).is_ok_and(|state| state.contains("ready")) {
            let ended = self.postmaster.as_mut().map(Child::try_wait).transpose()?;
            if let Some(Some(status)) = ended {
                bail!("PostgreSQL ended during its start ({status})");
            }
            if started.elapsed() > Self::TIMEOUT {
                bail!("PostgreSQL did not start in time");
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(mut postmaster) = self.postmaster.take() {
            let stopped = self
                .command("pg_ctl")
                .args(["stop", "--mode", "immediate"])
                .run_quietly();
            if stopped.is_err() {
                _ = postmaster.kill();
            }
            _ = postmaster.wait();
        }
        // If this fails, the remaining files are in a folder for temporary files.
        _ = fs::remove_dir_all(&self.folder);
    }
}

/// Creates a folder in `parent` that only its owner may enter. An existing folder of that name belongs to another user
/// or is left over from an interrupted run.
fn new_folder(parent: &Path) -> Result<PathBuf> {
    let process = std::process::id();
    for attempt in 0..100 {
        let folder = parent.join(format!("pennon-postgres-{process}-{attempt}"));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => {
                return created
                    .map(|()| folder)
                    .context("no folder for PostgreSQL's data");
            }
        }
    }
    bail!(
        "{} is full of folders for PostgreSQL's data",
        parent.display()
    );
}

/// Returns a number that `id` prints for a user.
fn number(option: &str, user: Option<&str>) -> Result<u32> {
    let answer = Command::new("id").arg(option).args(user).output()?;
    let answer = String::from_utf8_lossy(&answer.stdout).into_owned();
    answer.trim().parse().context("`id` printed no number")
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpStream};

    use super::{Cluster, Durability, programs};

    #[test]
    fn a_temporary_cluster_accepts_connections_until_it_is_dropped() {
        let Some(programs) = programs() else {
            return;
        };
        let cluster = Cluster::start(&programs, Durability::None).unwrap();
        let (port, folder) = (cluster.port, cluster.folder.clone());
        let answers = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
        assert!(answers());
        drop(cluster);
        assert!(!answers());
        assert!(!folder.exists());
    }
}
