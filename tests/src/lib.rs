//! The service as its callers meet it: a [`TestApp`] on a real port, and [`Caller`]s who speak HTTP to it.
//!
//! Each app has a database of its own: a SQLite file, or a new database on the PostgreSQL server that
//! `PENNON_TEST_POSTGRES_URL` names. Its clock stands still until it is moved, and its ids and keys repeat.

#![expect(
    clippy::expect_used,
    reason = "a test that cannot go on must say where"
)]
#![expect(
    clippy::return_self_not_must_use,
    reason = "asking an answer for its status is checking it"
)]
#![expect(
    clippy::missing_panics_doc,
    reason = "everything here panics when a test must fail"
)]

mod binary;
mod database;
mod described;
mod lossy;
mod process;
mod proxy;
pub mod vectors;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use clap::Parser;
use pennon_core::model::time::Timestamp;
use pennon_server::{Clock, CommandLine, Entropy, FirstAdministrator, Listeners, Service, serve};
use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;

pub use crate::binary::{Ran, binary};
pub use crate::database::TestDatabase;
pub use crate::described::{description, resolved};
pub use crate::lossy::LossyWay;
pub use crate::process::{Ended, Process, free_address};
pub use crate::proxy::Proxy;
pub use crate::wire::{Wire, WireAnswer};

/// The first administrator of every app.
pub const EMAIL: &str = "ana@example.com";
/// The password of the first administrator.
pub const PASSWORD: &str = "correct horse battery staple";
/// When every app starts.
pub const START: &str = "2026-03-01T09:30:00.000Z";

/// A running service with an empty database.
pub struct TestApp {
    base_url: String,
    metrics_address: Option<SocketAddr>,
    clock: Arc<TestClock>,
    http: reqwest::Client,
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

    /// Starts a service on a database that is there.
    pub async fn on_database(url: &str) -> Self {
        Self::on(Arc::new(TestDatabase::at(url)), &[]).await
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
        let common = [
            "pennon",
            "--admin-email",
            EMAIL,
            "--admin-password",
            PASSWORD,
            "--database-url",
            database.url(),
            "--listen",
            "127.0.0.1:0",
        ];
        let CommandLine { settings, .. } =
            CommandLine::try_parse_from(common.iter().chain(arguments))
                .expect("the settings are valid");
        let clock = Arc::new(TestClock::starting());
        let entropy = Entropy::from_seed(database.next_seed());
        let listeners = Listeners::bind(&settings).await.expect("a port is free");
        let address = listeners.address().expect("the port is known");
        let (service, first) = Service::start(settings, clock.clone(), entropy)
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

    /// Whether this is the service that created the first administrator.
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
        tokio::spawn(self.service.clone().probe());
        tokio::spawn(self.service.clone().watch());
    }

    /// Tells those who look at the dashboard what changes, as a running server does.
    pub fn tell(&self) {
        tokio::spawn(self.service.clone().tell());
    }

    /// Follows what other services on the database announce, and does nothing at intervals. On SQLite, where nothing is
    /// announced, this is [`watch`](Self::watch).
    pub fn follow(&self) {
        if self.database.is_postgres() {
            tokio::spawn(self.service.clone().listen());
        } else {
            self.watch();
        }
    }

    /// Runs one statement behind the service's back.
    pub async fn tamper(&self, sql: &'static str) {
        self.database.execute(sql).await;
    }

    /// Brings usage to the database now, as a running server does once a minute.
    pub async fn bring_counts(&self) {
        assert!(self.try_to_bring_counts().await, "usage is kept");
    }

    /// The same, and whether that is known to have happened.
    pub async fn try_to_bring_counts(&self) -> bool {
        self.service.bring_counts().await.is_ok()
    }

    /// Runs the binary to its end on the app's database.
    pub async fn command(&self, arguments: &[&str]) -> Ran {
        self.command_with_input(arguments, "").await
    }

    /// The same, with something to read.
    pub async fn command_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let (url, input) = (self.database.url().to_owned(), input.to_owned());
        let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
        tokio::task::spawn_blocking(move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            binary::run(&url, &arguments, &input)
        })
        .await
        .expect("the command ends")
    }

    /// What Prometheus is told, line by line; the app needs a `--metrics-listen`.
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

    /// Whether the database is a file.
    pub fn is_on_file(&self) -> bool {
        self.database.url().starts_with("sqlite:")
    }

    /// Tells the service that it is about to stop.
    pub fn drain(&self) {
        self.service.drain();
    }

    /// Takes the database away, for good.
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

    /// What somebody is answered who tries to sign in.
    pub async fn sign_in(&self, email: &str, password: &str) -> Answer {
        let credentials = json!({ "email": email, "password": password });
        self.anonymous().post("/auth/login", credentials).await
    }

    /// Somebody with an account and [`PASSWORD`], signed in.
    pub async fn signed_in(&self, email: &str) -> Caller<'_> {
        let tokens = self.sign_in(email, PASSWORD).await.expect(StatusCode::OK);
        self.with_authorization(format!("Bearer {}", tokens.text("/access_token")))
    }

    /// A new user with [`PASSWORD`], signed in, whom the first administrator has created.
    pub async fn user(&self, email: &str, role: &str) -> Caller<'_> {
        self.admin().await.user(email, role).await;
        self.signed_in(email).await
    }

    /// The host and port of the service, for those who write to the socket themselves.
    pub fn address(&self) -> &str {
        self.base_url.trim_start_matches("http://")
    }
}

/// Waits until something is so that another task or process brings about, and fails the test if it never is.
pub async fn eventually(what: &str, is_so: impl AsyncFn() -> bool) {
    for _ in 0..400 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("never: {what}");
}

/// A clock that stands still.
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

/// Somebody who calls the service.
#[derive(Clone)]
pub struct Caller<'a> {
    app: &'a TestApp,
    authorization: Option<String>,
}

impl Caller<'_> {
    /// `GET`
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    /// `POST` of a JSON body.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::POST, path).json(&body))
            .await
    }

    /// `PUT` of a JSON body.
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PUT, path).json(&body)).await
    }

    /// `PATCH` with a JSON body.
    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PATCH, path).json(&body))
            .await
    }

    /// `DELETE`
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// A request to fill in, for what the other methods do not do.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self
            .app
            .http
            .request(method, format!("{}{path}", self.app.base_url));
        match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        }
    }

    /// Sends a request and reads the whole answer.
    pub async fn send(&self, request: RequestBuilder) -> Answer {
        Answer::to(request).await
    }

    /// Creates an environment and answers its id and SDK key.
    pub async fn environment(&self, product: &str, name: &str) -> (String, String) {
        let body = json!({ "product": product, "name": name });
        let created = self
            .post("/environments", body)
            .await
            .expect(StatusCode::CREATED);
        (created.text("/id"), created.text("/sdkKey"))
    }

    /// Creates a boolean flag and answers its id.
    pub async fn flag(&self, key: &str) -> String {
        let body = json!({ "key": key, "name": key, "type": "boolean" });
        self.post("/flags", body)
            .await
            .expect(StatusCode::CREATED)
            .text("/id")
    }

    /// Creates a flag `checkout` and an environment `shop`/`prod`, and answers the path of the two.
    pub async fn pair(&self) -> Pair {
        let (environment, sdk_key) = self.environment("shop", "prod").await;
        let flag = self.flag("checkout").await;
        let path = format!("/flags/{flag}/environments/{environment}");
        Pair {
            flag,
            environment,
            sdk_key,
            path,
        }
    }

    /// Switches a flag in an environment.
    pub async fn switch(&self, flag: &str, environment: &str, enabled: bool) {
        let path = format!("/flags/{flag}/environments/{environment}");
        self.put(&path, json!({ "isEnabled": enabled }))
            .await
            .expect(StatusCode::NO_CONTENT);
    }

    /// Creates a user with [`PASSWORD`] and answers the id.
    pub async fn user(&self, email: &str, role: &str) -> String {
        let body = json!({ "email": email, "password": PASSWORD, "role": role });
        self.post("/users", body)
            .await
            .expect(StatusCode::CREATED)
            .text("/id")
    }

    /// Creates a personal access token of one's own and answers its id and the token itself.
    pub async fn personal_token(&self, name: &str, role: &str) -> (String, String) {
        let body = json!({ "name": name, "role": role });
        let created = self
            .post("/users/me/tokens", body)
            .await
            .expect(StatusCode::CREATED);
        (created.text("/id"), created.text("/token"))
    }

    /// The actions of the newest audit entries, newest first.
    pub async fn audited(&self) -> Vec<String> {
        self.audited_by("/audit?limit=100").await
    }

    /// The same, with what is about accounts.
    pub async fn audited_with_accounts(&self) -> Vec<String> {
        self.audited_by("/audit?limit=100&include=accounts").await
    }

    async fn audited_by(&self, path: &str) -> Vec<String> {
        let answer = self.get(path).await.expect(StatusCode::OK);
        let json = answer.json();
        let entries = json["items"].as_array().expect("a list has items");
        entries
            .iter()
            .map(|entry| entry["action"].as_str().unwrap_or_default().to_owned())
            .collect()
    }
}

/// A flag in an environment.
pub struct Pair {
    /// The id of the flag, whose key is `checkout`.
    pub flag: String,
    /// The id of the environment, `prod` of the product `shop`.
    pub environment: String,
    /// The environment's SDK key.
    pub sdk_key: String,
    /// `/flags/{flag}/environments/{environment}`
    pub path: String,
}

/// What the service answered.
pub struct Answer {
    /// The status code.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// The answer to a request. It must be one that the API's description knows.
    pub async fn to(request: RequestBuilder) -> Self {
        let (http, request) = request.build_split();
        let request = request.expect("the request is valid");
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let response = http.execute(request).await.expect("the service answers");
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.expect("the answer is complete");
        let answer = Self {
            status,
            headers,
            bytes: bytes.to_vec(),
        };
        described::check(&method, &path, status, &answer.problem_code());
        answer
    }

    /// Fails the test unless the status is this one.
    #[track_caller]
    pub fn expect(self, status: StatusCode) -> Self {
        assert_eq!(
            self.status,
            status,
            "{}",
            String::from_utf8_lossy(&self.bytes)
        );
        self
    }

    /// Fails the test unless this is a problem document with the status and the code.
    #[track_caller]
    pub fn expect_problem(self, status: StatusCode, code: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(answer.header("content-type"), "application/problem+json");
        assert_eq!(answer.text("/code"), code);
        assert_eq!(answer.json()["status"], status.as_u16());
        answer
    }

    /// The code, if this is a problem document.
    pub fn problem_code(&self) -> String {
        let problem: Option<Value> = match self.header("content-type") {
            "application/problem+json" => serde_json::from_slice(&self.bytes).ok(),
            _ => None,
        };
        let code = problem
            .as_ref()
            .and_then(|problem| problem["code"].as_str());
        code.unwrap_or_default().to_owned()
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).expect("the body is JSON")
    }

    /// The text at a place of the body.
    #[track_caller]
    pub fn text(&self, pointer: &str) -> String {
        let json = self.json();
        let value = json.pointer(pointer).and_then(Value::as_str);
        value
            .unwrap_or_else(|| panic!("no text at {pointer} of {json}"))
            .to_owned()
    }

    /// A header's value, empty if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// The pointers or parameter names that an invalid input was refused for.
    #[track_caller]
    pub fn faults(&self) -> Vec<String> {
        let json = self.json();
        let errors = json["errors"]
            .as_array()
            .expect("the problem names its errors");
        let place = |error: &Value| {
            error["pointer"]
                .as_str()
                .or(error["parameter"].as_str())
                .map(str::to_owned)
        };
        errors.iter().filter_map(place).collect()
    }
}
