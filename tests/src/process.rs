//! The real binary as a running server.

use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use reqwest::Client;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::{Value, json};

use crate::{EMAIL, PASSWORD, TestDatabase, binary, eventually};

/// The real binary, serving on a database; killed when dropped.
pub struct Process {
    child: Child,
    address: SocketAddr,
    log: Option<JoinHandle<String>>,
}

/// How a process ended.
pub struct Ended {
    /// What it said to whoever started it.
    pub status: ExitStatus,
    /// How long that took from when it was waited for.
    pub after: Duration,
    /// What it logged.
    pub log: String,
}

impl Process {
    /// Starts it with settings as environment variables, and waits until it answers.
    pub async fn start(database: &TestDatabase, settings: &[(&str, &str)]) -> Self {
        let process = Self::spawn(database.url(), settings);
        let url = format!("{}/health", process.base_url());
        eventually("the binary answers", async || {
            reqwest::get(&url).await.is_ok()
        })
        .await;
        process
    }

    /// Starts it with settings under which it cannot serve, and returns what it logs before it ends.
    pub async fn fails_to_start(database_url: &str, settings: &[(&str, &str)]) -> String {
        let mut process = Self::spawn(database_url, settings);
        for _ in 0..400 {
            if process.child.try_wait().expect("a child").is_some() {
                let ended = process.ended().await;
                assert!(!ended.status.success(), "{}", ended.log);
                return ended.log;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("the binary serves")
    }

    fn spawn(database_url: &str, settings: &[(&str, &str)]) -> Self {
        let address = free_address();
        let mut child = Command::new(binary())
            .env("PENNON_LISTEN", address.to_string())
            .env("DATABASE_URL", database_url)
            .env("PENNON_ADMIN_EMAIL", EMAIL)
            .env("PENNON_ADMIN_PASSWORD", PASSWORD)
            .env_remove("RUST_LOG")
            .envs(settings.iter().copied())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let log = child.stderr.take().map(read_in_background);
        Self {
            child,
            address,
            log,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that paths are appended to.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The access token of the first administrator.
    pub async fn signed_in(&self) -> String {
        let credentials = json!({ "email": EMAIL, "password": PASSWORD });
        let answer = Client::new()
            .post(format!("{}/auth/login", self.base_url()))
            .json(&credentials)
            .send()
            .await;
        let tokens: Value = answer.expect("an answer").json().await.expect("tokens");
        tokens["access_token"]
            .as_str()
            .expect("an access token")
            .to_owned()
    }

    /// SIGTERM: the process is asked to end.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// SIGKILL: no handler of the process runs.
    pub async fn kill(self) {
        self.signal(Signal::KILL);
        self.ended().await;
    }

    /// Waits for the end.
    pub async fn ended(mut self) -> Ended {
        let since = Instant::now();
        let wait = tokio::task::spawn_blocking(move || {
            let status = self.child.wait().expect("the process ends");
            let after = since.elapsed();
            let log = self.log.take().and_then(|log| log.join().ok());
            Ended {
                status,
                after,
                log: log.unwrap_or_default(),
            }
        });
        wait.await.expect("the process ends")
    }

    /// Limits how large its files may grow, in bytes, as a full disk would; none for any size. What is written beyond the
    /// limit fails.
    pub fn limit_files(&self, bytes: Option<u64>) {
        let limit = Rlimit {
            current: bytes,
            maximum: None,
        };
        prlimit(Some(self.id()), Resource::Fsize, limit).expect("the limit can be set");
    }

    fn signal(&self, signal: Signal) {
        kill_process(self.id(), signal).expect("the process is there");
    }

    fn id(&self) -> Pid {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        id.expect("the process has an id")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _already_ended = self.child.kill();
        let _already_waited = self.child.wait();
    }
}

/// An address that nobody listens on at the moment.
pub fn free_address() -> SocketAddr {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    free.expect("a port is free")
}

/// Reads what the process logs, lest it wait for a reader.
fn read_in_background(mut log: ChildStderr) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        let _ = log.read_to_string(&mut text);
        text
    })
}
