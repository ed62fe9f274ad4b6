//! A service on a real port, with a clock that the test moves.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use clap::Parser;
use pennon_model::time::Timestamp;
use pennon_server::{
    Clock, CommandLine, Entropy, FirstAdministrator, Listeners, Secrets, Service, Task, serve,
};
use reqwest::StatusCode;
use serde_json::json;
use tokio::task::JoinSet;

use crate::{Answer, Caller, EMAIL, PASSWORD, Ran, START, TestDatabase};

/// A running service with an empty database.
pub struct TestApp {
    pub(crate) base_url: String,
    metrics_address: Option<SocketAddr>,
    clock: Arc<TestClock>,
    pub(crate) http: reqwest::Client,
    service: Service,
    first: Option<FirstAdministrator>,
    database: Arc<TestDatabase>,
}

impl TestApp {
    /// Starts a service with the default settings.
    pub async fn start() -> Self {
        Self::with_settings(&[]).await
    }

    /// Starts a service with settings as on the command line.
    pub async fn with_settings(arguments: &[&str]) -> Self {
        Self::on(Arc::new(TestDatabase::create().await), arguments).await
    }

    /// Starts a service on an existing database.
    pub async fn on_database(url: &str) -> Self {
        Self::on(Arc::new(TestDatabase::at(url)), &[]).await
    }

    /// Starts a service on a database that may not be empty.
    pub async fn over(database: TestDatabase) -> Self {
        Self::on(Arc::new(database), &[]).await
    }

    /// Starts another service on this one's database.
    pub async fn beside(&self) -> Self {
        Self::on(Arc::clone(&self.database), &[]).await
    }

    /// Starts several services at once on one empty database.
    pub async fn together(count: usize) -> Vec<Self> {
        let database = Arc::new(TestDatabase::create().await);
        let mut starting = JoinSet::new();
        for _ in 0..count {
            starting.spawn(Self::on(Arc::clone(&database), &[]));
        }
        starting.join_all().await
    }

    async fn on(database: Arc<TestDatabase>, arguments: &[&str]) -> Self {
        let common = ["pennon", "--admin-email", EMAIL, "--listen", "127.0.0.1:0"];
        let CommandLine { settings, .. } =
            CommandLine::try_parse_from(common.iter().chain(arguments))
                .expect("the settings are valid");
        let secrets = Secrets {
            admin_password: Some(PASSWORD.into()),
            ..Secrets::generated(database.url())
        };
        let clock = Arc::new(TestClock::starting());
        let entropy = Entropy::from_seed(database.next_seed());
        let listeners = Listeners::bind(&settings).await.expect("a port is free");
        let address = listeners.address().expect("the port is known");
        let (service, first) = Service::start(settings, secrets, None, clock.clone(), entropy)
            .await
            .expect("the service starts");
        let metrics_address = listeners.metrics_address();
        tokio::spawn(serve(listeners, service.clone(), std::future::pending()));
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .expect("the client is made");
        Self {
            base_url: format!("http://{address}"),
            metrics_address,
            clock,
            http,
            service,
            first,
            database,
        }
    }

    /// Returns true if this service created the first administrator.
    pub fn is_first(&self) -> bool {
        self.first.is_some()
    }

    /// The database below.
    pub fn database(&self) -> &TestDatabase {
        &self.database
    }

    /// Moves the clock.
    pub fn advance(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds * 1000, Ordering::Relaxed);
    }

    /// Follows what others write to the database, as a running server does.
    pub fn watch(&self) {
        tokio::spawn(Task::Probe.run(self.service.clone()));
        tokio::spawn(Task::Watch.run(self.service.clone()));
    }

    /// Tells those who look at the dashboard what changes, as a running server does.
    pub fn tell(&self) {
        tokio::spawn(Task::Feed.run(self.service.clone()));
    }

    /// Follows what other services on the database announce, and does nothing at intervals. On SQLite, where nothing is
    /// announced, this is [`watch`](Self::watch).
    pub fn follow(&self) {
        if self.database.is_postgres() {
            tokio::spawn(Task::Listen.run(self.service.clone()));
        } else {
            self.watch();
        }
    }

    /// Runs one statement behind the service's back.
    pub async fn tamper(&self, sql: &'static str) {
        self.database.execute(sql).await;
    }

    /// Brings usage to the database now, as a running server does once a minute.
    pub async fn flush_usage(&self) {
        assert!(self.try_to_flush_usage().await, "usage is kept");
    }

    /// The same, and whether that is known to have happened.
    pub async fn try_to_flush_usage(&self) -> bool {
        self.service.flush_usage().await.is_ok()
    }

    /// Runs the binary to its end on the app's database.
    pub async fn command(&self, arguments: &[&str]) -> Ran {
        self.command_with_input(arguments, "").await
    }

    /// The same, in a folder.
    pub async fn command_in(&self, folder: &Path, arguments: &[&str]) -> Ran {
        self.run(folder, arguments, "").await
    }

    /// The same, with something to read.
    pub async fn command_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        self.run(Path::new("."), arguments, input).await
    }

    async fn run(&self, folder: &Path, arguments: &[&str], input: &str) -> Ran {
        self.database.command_in(folder, arguments, input).await
    }

    /// Returns the lines of the metrics for Prometheus; the app needs a `--metrics-listen`.
    pub async fn metrics(&self) -> Vec<String> {
        let address = self.metrics_address.expect("the metrics have a port");
        let answer = Answer::to(self.http.get(format!("http://{address}/metrics"))).await;
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

    /// Tells the service that it is about to stop.
    pub fn drain(&self) {
        self.service.drain();
    }

    /// Closes the service's connections to the database permanently.
    pub async fn lose_database(&self) {
        self.service.close().await;
    }

    /// Somebody without a credential.
    pub fn anonymous(&self) -> Caller<'_> {
        Caller {
            app: self,
            authorization: None,
        }
    }

    /// Somebody with an `Authorization` header of this value.
    pub fn with_authorization(&self, value: impl Into<String>) -> Caller<'_> {
        Caller {
            app: self,
            authorization: Some(value.into()),
        }
    }

    /// An application with an SDK key.
    pub fn sdk(&self, key: &str) -> Caller<'_> {
        self.with_authorization(format!("Bearer {key}"))
    }

    /// The first administrator, signed in.
    pub async fn admin(&self) -> Caller<'_> {
        self.with_authorization(self.token().await)
    }

    /// The value of an `Authorization` header by which the first administrator is signed in.
    pub async fn token(&self) -> String {
        let tokens = self.sign_in(EMAIL, PASSWORD).await.expect(StatusCode::OK);
        format!("Bearer {}", tokens.text("/access_token"))
    }

    /// Returns the answer to an attempt to sign in.
    pub async fn sign_in(&self, email: &str, password: &str) -> Answer {
        let credentials = json!({ "email": email, "password": password });
        self.anonymous().post("/auth/login", credentials).await
    }

    /// Somebody with an account and [`PASSWORD`], signed in.
    pub async fn signed_in(&self, email: &str) -> Caller<'_> {
        let tokens = self.sign_in(email, PASSWORD).await.expect(StatusCode::OK);
        self.with_authorization(format!("Bearer {}", tokens.text("/access_token")))
    }

    /// Creates a user with [`PASSWORD`] as the first administrator, and signs them in.
    pub async fn user(&self, email: &str, role: &str) -> Caller<'_> {
        self.admin().await.user(email, role).await;
        self.signed_in(email).await
    }

    /// The host and port of the service, for those who write to the socket themselves.
    pub fn address(&self) -> &str {
        self.base_url.trim_start_matches("http://")
    }
}

/// A clock that moves only when it is set.
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
