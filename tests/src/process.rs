//! The server's binary, running as a process.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use serde_json::json;

use crate::caller::HttpServer;
use crate::{Answer, Caller, EMAIL, PASSWORD, TestDatabase, binary, eventually};

/// The binary, serving a database. Dropping this value kills it.
pub struct Process {
    child: Child,
    address: SocketAddr,
    server: HttpServer,
    log: Log,
}

/// The end of a process.
pub struct Ended {
    /// The exit status.
    pub status: ExitStatus,
    /// The time from the beginning of the wait until the end.
    pub after: Duration,
    /// The log.
    pub log: String,
}

impl Process {
    /// Starts the server with settings as environment variables, and waits until it responds.
    pub async fn start(database: &TestDatabase, settings: &[(&str, &str)]) -> Self {
        let process = Self::starting(database.url(), settings);
        process.wait_until_ready().await;
        process
    }

    /// Waits until the server responds.
    pub async fn wait_until_ready(&self) {
        let url = format!("{}/health", self.base_url());
        eventually("the binary answers", async || {
            reqwest::get(&url).await.is_ok()
        })
        .await;
    }

    /// Waits until the log contains this text.
    pub async fn wait_until_it_logs(&self, text: &str) {
        eventually("the binary logs it", async || {
            self.log.text().contains(text)
        })
        .await;
    }

    /// Starts the server with settings under which the start fails. Returns its log.
    pub async fn fails_to_start(database_url: &str, settings: &[(&str, &str)]) -> String {
        let process = Self::starting(database_url, settings);
        let ended = process.ended_within(Duration::from_secs(10)).await;
        let ended = ended.expect("the binary ends");
        assert!(!ended.status.success(), "{}", ended.log);
        ended.log
    }

    /// Starts the server with settings as environment variables, without waiting until it responds.
    pub fn starting(database_url: &str, settings: &[(&str, &str)]) -> Self {
        Self::starting_with(|command| {
            command
                .env("DATABASE_URL", database_url)
                .env("PENNON_ADMIN_PASSWORD", PASSWORD)
                .envs(settings.iter().copied())
        })
    }

    /// Starts the server without waiting until it responds. `configure` sets everything, including database and
    /// password.
    pub fn starting_with(configure: impl FnOnce(&mut Command) -> &mut Command) -> Self {
        let address = free_address();
        let mut command = Command::new(binary());
        // The variables of the tests themselves are no settings.
        let inherited = std::env::vars_os().map(|(name, _)| name);
        for name in inherited.filter(|name| name.to_string_lossy().starts_with("PENNON_")) {
            command.env_remove(name);
        }
        command
            .env("PENNON_LISTEN", address.to_string())
            .env("PENNON_ADMIN_EMAIL", EMAIL)
            .env_remove("DATABASE_URL")
            .env_remove("RUST_LOG");
        let mut child = configure(&mut command)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let log = Log::of(child.stderr.take().expect("the log is read"));
        Self {
            child,
            address,
            server: HttpServer::at(address),
            log,
        }
    }

    /// Returns the address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the server without a path.
    pub fn base_url(&self) -> &str {
        &self.server.base_url
    }

    /// Returns a caller without a credential.
    pub fn anonymous(&self) -> Caller<'_> {
        self.server.caller(None)
    }

    /// Returns a caller with an SDK key.
    pub fn sdk(&self, key: &str) -> Caller<'_> {
        self.with_token(key)
    }

    /// Returns a caller with an access token or a personal access token.
    pub fn with_token(&self, token: &str) -> Caller<'_> {
        self.server.caller(Some(format!("Bearer {token}")))
    }

    /// Signs in the first administrator.
    pub async fn admin(&self) -> Caller<'_> {
        self.with_token(&self.access_token().await)
    }

    /// Signs in the first administrator, and returns the access token.
    pub async fn access_token(&self) -> String {
        self.sign_in().await.text("/access_token")
    }

    /// Signs in the first administrator. Returns the response with the tokens.
    pub async fn sign_in(&self) -> Answer {
        let answer = self.try_sign_in(PASSWORD).await;
        answer.expect(StatusCode::OK)
    }

    /// Tries to sign in the first administrator, and returns the response.
    pub async fn try_sign_in(&self, password: &str) -> Answer {
        let credentials = json!({ "email": EMAIL, "password": password });
        self.anonymous().post("/auth/login", credentials).await
    }

    /// Sends SIGTERM, and waits until the process ends.
    pub async fn stop(self) -> Ended {
        self.terminate();
        self.ended().await
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends SIGSTOP, which suspends the process until [`resume`](Self::resume).
    pub fn suspend(&self) {
        self.signal(Signal::STOP);
    }

    /// Sends SIGCONT, which resumes the process.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Sends SIGKILL, which ends the process without running its handlers.
    pub async fn kill(self) {
        self.signal(Signal::KILL);
        self.ended().await;
    }

    /// Waits until the process ends.
    pub async fn ended(mut self) -> Ended {
        let since = Instant::now();
        let wait = tokio::task::spawn_blocking(move || {
            let status = self.child.wait().expect("the process ends");
            let after = since.elapsed();
            let log = self.log.whole();
            Ended { status, after, log }
        });
        wait.await.expect("the process ends")
    }

    /// Waits until the process ends, for at most `limit`. Returns `None` if it still runs.
    pub async fn ended_within(mut self, limit: Duration) -> Option<Ended> {
        let deadline = Instant::now() + limit;
        while self.child.try_wait().expect("a child").is_none() {
            if Instant::now() >= deadline {
                return None;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        Some(self.ended().await)
    }

    /// Returns the resident memory in MiB, without that of files such as the binary, as Linux counts it.
    pub fn resident_mebibytes(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("the process is there");
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kibibytes: f64 = kibibytes.expect("RssAnon").parse().expect("a number");
        kibibytes / 1024.0
    }

    /// Limits the size of each file that the process writes, in bytes, to simulate a full disk. Writes beyond the limit
    /// fail. `None` removes the limit.
    pub fn limit_files(&self, bytes: Option<u64>) {
        // The process has inherited the test's hard limit, which only root may raise.
        let maximum = getrlimit(Resource::Fsize).maximum;
        let limit = Rlimit {
            current: bytes.or(maximum),
            maximum,
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

/// Returns an address on which no process listens at the moment.
pub fn free_address() -> SocketAddr {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    free.expect("a port is free")
}

/// The log of a process, read continuously, so that the process never blocks on a full pipe.
struct Log {
    text: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Log {
    fn of(log: ChildStderr) -> Self {
        let text = Arc::<Mutex<String>>::default();
        let read = Arc::clone(&text);
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                let mut text = read.lock().expect("no thread panicked");
                text.push_str(&line);
                text.push('\n');
            }
        });
        Self {
            text,
            reader: Some(reader),
        }
    }

    /// Returns the log so far.
    fn text(&self) -> String {
        self.text.lock().expect("no thread panicked").clone()
    }

    /// Returns the whole log of a process that has ended.
    fn whole(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the log is text");
        }
        self.text()
    }
}
