//! Mixed load on a server: evaluation, administration, sign-ins and pages at the same time, with a record of each
//! exchange.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reqwest::header::{CONTENT_TYPE, COOKIE, ETAG, IF_NONE_MATCH, RETRY_AFTER, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::{EMAIL, PASSWORD, Process};

/// Operations that are served from memory, so an outage of the database must not affect them.
pub const FROM_MEMORY: [&str; 4] = ["evaluate", "batch", "config", "unchanged config"];

/// Operations that need the database.
const ADMINISTRATION: [&str; 5] = ["list", "create", "switch", "sign in", "page"];

/// Evaluation with an SDK key that does not exist or is not known yet.
pub const UNKNOWN_KEY: &str = "unknown key";

/// The minimum time between two requests of a task, which leaves processor time for other tests.
const INTERVAL: Duration = Duration::from_millis(10);

/// The time after which an operation that has not had the expected exchanges fails the test.
const UNTIL_TIMEOUT: Duration = Duration::from_mins(1);

/// A request and its response.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// One of [`operations`].
    pub operation: &'static str,
    /// The time at which the request was sent.
    pub sent: Instant,
    /// The time at which the response was complete.
    pub received: Instant,
    /// The status of the response.
    pub status: StatusCode,
    /// The header `Retry-After`. Empty if it is missing.
    pub retry_after: String,
    /// The key of the flag that a request creates.
    pub flag: String,
    /// The `detail` of a problem document. Empty for other responses.
    pub detail: String,
}

impl Exchange {
    /// Returns true if the server carried out the request, or refused it because of the request itself.
    pub fn succeeds(&self) -> bool {
        !self.status.is_server_error()
    }
}

/// Returns all operations of the load.
pub fn operations() -> impl Iterator<Item = &'static str> {
    FROM_MEMORY
        .into_iter()
        .chain(ADMINISTRATION)
        .chain([UNKNOWN_KEY])
}

/// Tasks that repeat all operations on one server.
pub struct Load {
    /// The client of all tasks.
    pub client: LoadClient,
    exchanges: Arc<Mutex<Vec<Exchange>>>,
    is_over: Arc<AtomicBool>,
    tasks: JoinSet<()>,
}

impl Load {
    async fn on(process: &Process) -> Self {
        let mut load = Self {
            client: LoadClient::prepared(process).await,
            exchanges: Arc::default(),
            is_over: Arc::default(),
            tasks: JoinSet::new(),
        };
        for operation in operations() {
            // More tasks create flags than the server has connections for writing.
            let tasks = if operation == "create" { 6 } else { 2 };
            for _ in 0..tasks {
                let (client, exchanges) = (load.client.clone(), Arc::clone(&load.exchanges));
                let is_over = Arc::clone(&load.is_over);
                load.tasks.spawn(async move {
                    let mut ticks = interval(INTERVAL);
                    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
                    while !is_over.load(Ordering::Relaxed) {
                        ticks.tick().await;
                        let exchange = client.exchange(operation).await;
                        exchanges.lock().expect("no thread panicked").push(exchange);
                    }
                });
            }
        }
        load
    }

    /// Starts the load, and waits until each operation has succeeded ten times.
    pub async fn steady(process: &Process) -> Self {
        let (load, started) = (Self::on(process).await, Instant::now());
        load.until("all operations succeed", started, 10, Exchange::succeeds)
            .await;
        load
    }

    /// Waits until each operation that was sent after `since` has had `count` matching exchanges. On a busy machine,
    /// the slowest operation needs longer for them than other conditions of tests.
    pub async fn until(
        &self,
        what: &str,
        since: Instant,
        count: usize,
        matches: impl Fn(&Exchange) -> bool,
    ) {
        let deadline = Instant::now() + UNTIL_TIMEOUT;
        loop {
            let lacking = self.lacking(since, count, &matches);
            if lacking.is_empty() {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "never: {what}; missing: {lacking:?}"
            );
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Returns the operations that have had fewer than `count` matching exchanges.
    fn lacking(
        &self,
        since: Instant,
        count: usize,
        matches: impl Fn(&Exchange) -> bool,
    ) -> Vec<&'static str> {
        let exchanges = self.exchanges.lock().expect("no thread panicked");
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for exchange in exchanges.iter().filter(|exchange| exchange.sent > since) {
            if matches(exchange) {
                *counts.entry(exchange.operation).or_default() += 1;
            }
        }
        let lacks = |operation: &&str| counts.get(operation).is_none_or(|had| *had < count);
        operations().filter(lacks).collect()
    }

    /// Stops sending, waits for the responses in flight, and returns all exchanges.
    pub async fn stop(self) -> (LoadClient, Vec<Exchange>) {
        self.is_over.store(true, Ordering::Relaxed);
        self.tasks.join_all().await;
        let exchanges = self.exchanges.lock().expect("no thread panicked").clone();
        (self.client, exchanges)
    }
}

/// A client with an access token, a cookie of the dashboard, and an SDK key.
#[derive(Clone)]
pub struct LoadClient {
    http: Client,
    base_url: String,
    token: String,
    cookie: String,
    key: String,
    tag: String,
    /// The ID of the key's environment.
    environment: String,
    /// The ID of another environment.
    other: String,
    /// The ID of the flag that is switched, `checkout` at first.
    flag: String,
    created: Arc<AtomicUsize>,
}

impl LoadClient {
    /// Signs in, and creates an environment with a flag that is on.
    pub async fn prepared(process: &Process) -> Self {
        let http = Client::builder().redirect(Policy::none()).build();
        let mut client = Self {
            http: http.expect("the client is made"),
            base_url: process.base_url().to_owned(),
            token: process.access_token().await,
            cookie: String::new(),
            key: String::new(),
            tag: String::new(),
            environment: String::new(),
            other: String::new(),
            flag: String::new(),
            created: Arc::default(),
        };
        let signed_in = send(client.sign_in_to_dashboard()).await;
        let cookie = header(&signed_in, SET_COOKIE.as_str());
        client.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        let environment = json!({ "product": "shop", "name": "prod" });
        let environment = client.create("/environments", environment).await;
        let other = json!({ "product": "shop", "name": "other" });
        let other = client.create("/environments", other).await;
        client.environment = text(&environment, "id");
        client.other = text(&other, "id");
        client.key = text(&environment, "sdkKey");
        client = client.with_flag("checkout").await;
        client.tag = header(&send(client.request("config")).await, ETAG.as_str());
        client
    }

    /// Creates a flag, and returns the same client for this flag.
    pub async fn with_flag(&self, key: &str) -> Self {
        let flag = json!({ "key": key, "name": "x", "type": "boolean" });
        let flag = text(&self.create("/flags", flag).await, "id");
        Self {
            flag,
            ..self.clone()
        }
    }

    async fn create(&self, path: &str, body: Value) -> Value {
        let created = send(self.admin(Method::POST, path).json(&body)).await;
        assert_eq!(created.status(), StatusCode::CREATED);
        created.json().await.expect("JSON")
    }

    /// Sends one request, and waits for the whole response.
    pub async fn exchange(&self, operation: &'static str) -> Exchange {
        let exchange = self.try_exchange(operation).await;
        exchange.expect("the server answers")
    }

    /// Sends one request, and waits for the whole response. Fails if the connection fails.
    pub async fn try_exchange(&self, operation: &'static str) -> reqwest::Result<Exchange> {
        let number = self.created.fetch_add(1, Ordering::Relaxed);
        let flag = format!("flag_{number}");
        let request = match operation {
            "create" => {
                let body = json!({ "key": flag, "name": "x", "type": "boolean" });
                self.admin(Method::POST, "/flags").json(&body)
            }
            "switch" => self.switch(number.is_multiple_of(2)),
            other => self.request(other),
        };
        let sent = Instant::now();
        let response = request.send().await?;
        let status = response.status();
        let retry_after = header(&response, RETRY_AFTER.as_str());
        let body = response.bytes().await?;
        let received = Instant::now();
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Exchange {
            operation,
            sent,
            received,
            status,
            retry_after,
            flag,
            detail: problem["detail"].as_str().unwrap_or_default().to_owned(),
        })
    }

    /// Returns a request that enables or disables the flag in the environment of the SDK key.
    pub fn switch_evaluated(&self, is_enabled: bool) -> RequestBuilder {
        let body = json!({ "isEnabled": is_enabled });
        self.configuration(Method::PUT, &self.environment)
            .json(&body)
    }

    /// Returns true if the flag `checkout` is on, or `None` if the evaluation fails.
    pub async fn is_on(&self) -> Option<bool> {
        let response = self.request("evaluate").send().await.ok()?;
        let answer: Value = response.json().await.ok()?;
        answer["enabled"].as_bool()
    }

    /// Returns a request that enables or disables the flag in the other environment.
    fn switch(&self, is_enabled: bool) -> RequestBuilder {
        let body = json!({ "isEnabled": is_enabled });
        self.configuration(Method::PUT, &self.other).json(&body)
    }

    /// Returns a request that sets the flag's TTL in the other environment.
    pub fn set_ttl(&self, seconds: u64) -> RequestBuilder {
        let body = json!({ "ttlOverrideSeconds": seconds });
        self.configuration(Method::PUT, &self.other).json(&body)
    }

    /// Returns the flag's TTL in the other environment, or 0 if it has none.
    pub async fn ttl(&self) -> u64 {
        let response = send(self.configuration(Method::GET, &self.other)).await;
        assert_eq!(response.status(), StatusCode::OK);
        let configuration: Value = response.json().await.expect("JSON");
        configuration["ttlOverrideSeconds"].as_u64().unwrap_or(0)
    }

    fn configuration(&self, method: Method, environment: &str) -> RequestBuilder {
        let path = format!("/flags/{}/environments/{environment}", self.flag);
        self.admin(method, &path)
    }

    /// Returns the SDK key.
    pub fn sdk_key(&self) -> &str {
        &self.key
    }

    /// Returns the same client with another access token.
    pub fn with_token(&self, token: &str) -> Self {
        Self {
            token: token.to_owned(),
            ..self.clone()
        }
    }

    /// Returns the same client for another process on the same database.
    pub fn of(&self, process: &Process) -> Self {
        Self {
            base_url: process.base_url().to_owned(),
            ..self.clone()
        }
    }

    /// Returns the request of an operation that always sends the same one.
    fn request(&self, operation: &str) -> RequestBuilder {
        let question = json!({ "flagKey": "checkout", "context": { "userId": "u1" } });
        match operation {
            "evaluate" => self.sdk("/evaluate", &self.key).json(&question),
            "batch" => {
                let questions = json!({ "evaluations": vec![question; 20] });
                self.sdk("/evaluate/batch", &self.key).json(&questions)
            }
            // The document is filtered, because the load constantly creates flags.
            "config" => self.config(),
            "unchanged config" => self.config().header(IF_NONE_MATCH, &self.tag),
            "list" => self.admin(Method::GET, "/flags"),
            "sign in" => {
                let credentials = json!({ "email": EMAIL, "password": PASSWORD });
                let url = format!("{}/auth/login", self.base_url);
                self.http.post(url).json(&credentials)
            }
            "page" => {
                let url = format!("{}/dashboard/flags", self.base_url);
                self.http.get(url).header(COOKIE, &self.cookie)
            }
            UNKNOWN_KEY => self.sdk("/evaluate", "pnk_that_may_be_new").json(&question),
            other => unreachable!("{other} is no operation"),
        }
    }

    fn admin(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.base_url);
        self.http.request(method, url).bearer_auth(&self.token)
    }

    fn sdk(&self, path: &str, key: &str) -> RequestBuilder {
        let url = format!("{}/sdk/v1{path}", self.base_url);
        self.http.post(url).bearer_auth(key)
    }

    fn config(&self) -> RequestBuilder {
        let url = format!("{}/sdk/v1/config?keys[]=checkout", self.base_url);
        self.http.get(url).bearer_auth(&self.key)
    }

    fn sign_in_to_dashboard(&self) -> RequestBuilder {
        let url = format!("{}/dashboard/login", self.base_url);
        let form = "sign-in-email=ana%40example.com&sign-in-password=correct+horse+battery+staple";
        self.http
            .post(url)
            .header("sec-fetch-site", "same-origin")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form)
    }

    /// Returns the HTTP status of a health check and the `status` in its body.
    pub async fn health(&self, path: &str) -> (StatusCode, String) {
        let response = send(self.http.get(format!("{}{path}", self.base_url))).await;
        let status = response.status();
        let health: Value = response.json().await.expect("JSON");
        let text = health["status"].as_str().unwrap_or_default();
        (status, text.to_owned())
    }

    /// Returns the keys of all flags.
    pub async fn created_flags(&self) -> BTreeSet<String> {
        let flags = self.all("/flags?limit=100").await;
        texts(&flags, "key").collect()
    }

    /// Returns the keys of all flags whose creation has an audit entry.
    pub async fn flags_with_an_audit_entry(&self) -> BTreeSet<String> {
        let mut entries = self.all("/audit?limit=100").await;
        entries.retain(|entry| entry["action"] == "FLAG_CREATED");
        texts(&entries, "flagKey").collect()
    }

    /// Reads all pages of a list, and returns its items.
    async fn all(&self, path: &str) -> Vec<Value> {
        let mut all = Vec::new();
        for page in 1.. {
            let path = format!("{path}&page={page}");
            let response = send(self.admin(Method::GET, &path)).await;
            assert_eq!(response.status(), StatusCode::OK);
            let list: Value = response.json().await.expect("JSON");
            let items = list["items"].as_array().expect("items");
            if items.is_empty() {
                break;
            }
            all.extend_from_slice(items);
        }
        all
    }
}

fn texts(objects: &[Value], member: &str) -> impl Iterator<Item = String> {
    let text = move |object: &Value| object[member].as_str().unwrap_or_default().to_owned();
    objects.iter().map(text)
}

fn text(object: &Value, member: &str) -> String {
    let text = object[member].as_str();
    text.expect("the member of the response").to_owned()
}

async fn send(request: RequestBuilder) -> Response {
    request.send().await.expect("the server answers")
}

fn header(response: &Response, name: &str) -> String {
    let value = response.headers().get(name);
    let text = value.and_then(|value| value.to_str().ok());
    text.unwrap_or_default().to_owned()
}
