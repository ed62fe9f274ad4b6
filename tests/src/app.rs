//! A server on a real port, with a clock that the test controls.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use clap::Parser;
use pennon_model::time::Timestamp;
use pennon_server::{
    AppState, Clock, CommandLine, Entropy, FirstAdministrator, Listeners, Secrets, Settings, Task,
    serve,
};
use reqwest::StatusCode;
use serde_json::json;
use tokio::task::JoinSet;

use crate::caller::HttpServer;
use crate::{Answer, Caller, CommandResult, EMAIL, PASSWORD, START, TestDatabase};

/// A running server with its own database.
pub struct TestApp {
    server: HttpServer,
    metrics_address: Option<SocketAddr>,
    clock: Arc<TestClock>,
    state: AppState,
    first: Option<FirstAdministrator>,
    database: Arc<TestDatabase>,
}

impl TestApp {
    /// Starts a server with the default settings.
    pub async fn start() -> Self {
        Self::with_settings(&[]).await
    }

    /// Starts a server with command-line settings, on a database on which another one has completed its first start.
    pub async fn with_settings(arguments: &[&str]) -> Self {
        Self::on(Arc::new(TestDatabase::prepared().await), arguments).await
    }

    /// Starts a server with command-line settings, on an empty database.
    pub async fn on_empty_database(arguments: &[&str]) -> Self {
        Self::on(Arc::new(TestDatabase::create().await), arguments).await
    }

    /// Starts a server on the database at a URL.
    pub async fn on_database(url: &str) -> Self {
        Self::on(Arc::new(TestDatabase::at(url)), &[]).await
    }

    /// Starts a server on a database, which need not be empty.
    pub async fn over(database: TestDatabase) -> Self {
        Self::on(Arc::new(database), &[]).await
    }

    /// Starts another instance on the database of this one.
    pub async fn beside(&self) -> Self {
        Self::on(Arc::clone(&self.database), &[]).await
    }

    /// Starts several instances at once on one empty database.
    pub async fn together(count: usize) -> Vec<Self> {
        let database = Arc::new(TestDatabase::create().await);
        let mut starting = JoinSet::new();
        for _ in 0..count {
            starting.spawn(Self::on(Arc::clone(&database), &[]));
        }
        starting.join_all().await
    }

    /// Completes the first start of a server on an empty database, without serving requests.
    pub(crate) async fn start_and_stop(database: &TestDatabase) {
        let clock = Arc::new(TestClock::starting());
        let (state, _) = start(database, settings(&[]), clock).await;
        state.close().await;
    }

    async fn on(database: Arc<TestDatabase>, arguments: &[&str]) -> Self {
        let settings = settings(arguments);
        let listeners = Listeners::bind(&settings).await.expect("a port is free");
        let address = listeners.address().expect("the port is known");
        let clock = Arc::new(TestClock::starting());
        let (state, first) = start(&database, settings, Arc::clone(&clock)).await;
        let metrics_address = listeners.metrics_address();
        tokio::spawn(serve(listeners, state.clone(), std::future::pending()));
        Self {
            server: HttpServer::at(address),
            metrics_address,
            clock,
            state,
            first,
            database,
        }
    }

    /// Returns true if this server created the first administrator.
    pub fn is_first(&self) -> bool {
        self.first.is_some()
    }

    /// Returns the database.
    pub fn database(&self) -> &TestDatabase {
        &self.database
    }

    /// Advances the clock.
    pub fn advance(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds * 1000, Ordering::Relaxed);
    }

    /// Follows changes and the state of the database, and erases short-lived data, as a running server does.
    pub fn watch(&self) {
        for task in [Task::Probe, Task::Watch, Task::CheckStorage, Task::Erase] {
            tokio::spawn(task.run(self.state.clone()));
        }
    }

    /// Sends changes to open dashboard pages, as a running server does.
    pub fn run_change_feed(&self) {
        tokio::spawn(Task::Feed.run(self.state.clone()));
    }

    /// Follows the announcements of other instances on the database, without polling. SQLite has no announcements, so
    /// there this is [`watch`](Self::watch).
    pub fn follow(&self) {
        if self.database.is_postgres() {
            tokio::spawn(Task::Listen.run(self.state.clone()));
        } else {
            self.watch();
        }
    }

    /// Runs one statement on the database, unnoticed by the server.
    pub async fn tamper(&self, sql: &'static str) {
        self.database.execute(sql).await;
    }

    /// Writes usage counts to the database now, as a running server does once a minute.
    pub async fn flush_usage(&self) {
        assert!(self.try_flush_usage().await, "the counts are written");
    }

    /// Writes usage counts to the database. Returns true if the write is confirmed.
    pub async fn try_flush_usage(&self) -> bool {
        self.state.flush_usage().await.is_ok()
    }

    /// Runs a command of the binary on the app's database.
    pub async fn command(&self, arguments: &[&str]) -> CommandResult {
        self.command_with_input(arguments, "").await
    }

    /// Runs a command in a folder.
    pub async fn command_in(&self, folder: &Path, arguments: &[&str]) -> CommandResult {
        self.run(folder, arguments, "").await
    }

    /// Runs a command with standard input.
    pub async fn command_with_input(&self, arguments: &[&str], input: &str) -> CommandResult {
        self.run(Path::new("."), arguments, input).await
    }

    async fn run(&self, folder: &Path, arguments: &[&str], input: &str) -> CommandResult {
        self.database.command_in(folder, arguments, input).await
    }

    /// Returns the lines of the Prometheus metrics. The app needs `--metrics-listen`.
    pub async fn metrics(&self) -> Vec<String> {
        let address = self.metrics_address.expect("the metrics have a port");
        let answer = Answer::to(self.server.http.get(format!("http://{address}/metrics"))).await;
        let answer = answer.expect(StatusCode::OK);
        assert!(
            answer
                .header("content-type")
                .starts_with("text/plain; version=0.0.4")
        );
        let text = String::from_utf8(answer.bytes).expect("text");
        text.lines().map(str::to_owned).collect()
    }

    /// Returns true if the database is a file.
    pub fn is_on_file(&self) -> bool {
        self.database.url().starts_with("sqlite:")
    }

    /// Begins the server's graceful shutdown.
    pub fn drain(&self) {
        self.state.drain();
    }

    /// Closes the server's connections to the database permanently.
    pub async fn lose_database(&self) {
        self.state.close().await;
    }

    /// Returns a caller without a credential.
    pub fn anonymous(&self) -> Caller<'_> {
        self.server.caller(None)
    }

    /// Returns a caller with this value of the `Authorization` header.
    pub fn with_authorization(&self, value: impl Into<String>) -> Caller<'_> {
        self.server.caller(Some(value.into()))
    }

    /// Returns a caller with an SDK key.
    pub fn sdk(&self, key: &str) -> Caller<'_> {
        self.with_token(key)
    }

    /// Returns a caller with an access token or a personal access token.
    pub fn with_token(&self, token: &str) -> Caller<'_> {
        self.with_authorization(format!("Bearer {token}"))
    }

    /// Signs in the first administrator.
    pub async fn admin(&self) -> Caller<'_> {
        self.with_authorization(self.authorization().await)
    }

    /// Signs in the first administrator. Returns the value of the `Authorization` header.
    pub async fn authorization(&self) -> String {
        let tokens = self.sign_in(EMAIL, PASSWORD).await.expect(StatusCode::OK);
        format!("Bearer {}", tokens.text("/access_token"))
    }

    /// Tries to sign in, and returns the response.
    pub async fn sign_in(&self, email: &str, password: &str) -> Answer {
        let credentials = json!({ "email": email, "password": password });
        self.anonymous().post("/auth/login", credentials).await
    }

    /// Signs in a user whose password is [`PASSWORD`].
    pub async fn signed_in(&self, email: &str) -> Caller<'_> {
        let tokens = self.sign_in(email, PASSWORD).await.expect(StatusCode::OK);
        self.with_token(&tokens.text("/access_token"))
    }

    /// Creates a user with [`PASSWORD`], as the first administrator, and signs the user in.
    pub async fn user(&self, email: &str, role: &str) -> Caller<'_> {
        self.admin().await.user(email, role).await;
        self.signed_in(email).await
    }

    /// Returns the host and port of the server, for tests that use a socket directly.
    pub fn address(&self) -> &str {
        self.server.base_url.trim_start_matches("http://")
    }
}

fn settings(arguments: &[&str]) -> Settings {
    let common = ["pennon", "--admin-email", EMAIL, "--listen", "127.0.0.1:0"];
    let parsed = CommandLine::try_parse_from(common.iter().chain(arguments));
    parsed.expect("the settings are valid").settings
}

async fn start(
    database: &TestDatabase,
    settings: Settings,
    clock: Arc<TestClock>,
) -> (AppState, Option<FirstAdministrator>) {
    let secrets = Secrets {
        admin_password: Some(PASSWORD.into()),
        ..Secrets::generated(database.url())
    };
    let entropy = Entropy::from_seed(database.next_seed());
    AppState::start(settings, secrets, None, clock, entropy)
        .await
        .expect("the server starts")
}

/// A clock that advances only when the test advances it.
struct TestClock(AtomicI64);

impl TestClock {
    fn starting() -> Self {
        let start: Timestamp = START.parse().expect("the start is a point in time");
        Self(AtomicI64::new(start.millis()))
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}
