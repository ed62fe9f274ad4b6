//! Everybody who asks at the same time, and what they were answered.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pennon_tests::{EMAIL, PASSWORD, Process, eventually};
use reqwest::header::{CONTENT_TYPE, COOKIE, ETAG, IF_NONE_MATCH, RETRY_AFTER, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

/// What is answered from memory, and must be as if nothing had happened.
pub(crate) const WARM: [&str; 4] = ["evaluate", "batch", "config", "unchanged config"];

/// What cannot be done without the database.
const ADMINISTRATION: [&str; 5] = ["list", "create", "switch", "sign in", "page"];

/// Evaluating with a key that is wrong, unless it is in the database and has not been heard of.
pub(crate) const UNKNOWN_KEY: &str = "unknown key";

/// What somebody was answered.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) what: &'static str,
    pub(crate) asked: Instant,
    pub(crate) at: Instant,
    pub(crate) status: StatusCode,
    pub(crate) retry_after: String,
    /// The key of the flag that was to be created.
    pub(crate) flag: String,
    /// What a problem says.
    pub(crate) detail: String,
}

/// How often everybody asks at most, so that other tests can run as well.
const PACE: Duration = Duration::from_millis(10);

/// Many who ask again and again.
pub(crate) struct Load {
    pub(crate) caller: Caller,
    answers: Arc<Mutex<Vec<Answered>>>,
    is_over: Arc<AtomicBool>,
    asking: JoinSet<()>,
}

impl Load {
    pub(crate) async fn on(process: &Process) -> Self {
        let mut load = Self {
            caller: Caller::prepared(process).await,
            answers: Arc::default(),
            is_over: Arc::default(),
            asking: JoinSet::new(),
        };
        for what in kinds() {
            // More create something than there are connections to write on.
            for _ in 0..if what == "create" { 6 } else { 2 } {
                let (caller, answers) = (load.caller.clone(), Arc::clone(&load.answers));
                let is_over = Arc::clone(&load.is_over);
                load.asking.spawn(async move {
                    let mut pace = interval(PACE);
                    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
                    while !is_over.load(Ordering::Relaxed) {
                        pace.tick().await;
                        let answered = caller.ask(what).await;
                        answers.lock().expect("nobody panicked").push(answered);
                    }
                });
            }
        }
        load
    }

    /// Waits until everything that was asked after a moment has so often been answered like this.
    pub(crate) async fn until(
        &self,
        what: &str,
        since: Instant,
        often: usize,
        like_this: impl Fn(&Answered) -> bool,
    ) {
        eventually(what, async || {
            let answers = self.answers.lock().expect("nobody panicked");
            let mut counts: HashMap<&str, usize> = HashMap::new();
            for answered in answers.iter().filter(|answered| answered.asked > since) {
                if like_this(answered) {
                    *counts.entry(answered.what).or_default() += 1;
                }
            }
            kinds().all(|kind| counts.get(kind).is_some_and(|count| *count >= often))
        })
        .await;
    }

    /// Lets everybody be answered, and ask no more.
    pub(crate) async fn stop(self) -> (Caller, Vec<Answered>) {
        self.is_over.store(true, Ordering::Relaxed);
        self.asking.join_all().await;
        let answers = self.answers.lock().expect("nobody panicked").clone();
        (self.caller, answers)
    }
}

/// Everything that is asked.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    WARM.into_iter().chain(ADMINISTRATION).chain([UNKNOWN_KEY])
}

/// Somebody who has all credentials.
#[derive(Clone)]
pub(crate) struct Caller {
    http: Client,
    base_url: String,
    token: String,
    cookie: String,
    key: String,
    tag: String,
    /// The flag `checkout` in another environment than the key's.
    pair: String,
    created: Arc<AtomicUsize>,
}

impl Caller {
    /// Signs in, and creates an environment with a flag that is on.
    pub(crate) async fn prepared(process: &Process) -> Self {
        let http = Client::builder().redirect(Policy::none()).build();
        let mut caller = Self {
            http: http.expect("the client is made"),
            base_url: process.base_url(),
            token: process.signed_in().await,
            cookie: String::new(),
            key: String::new(),
            tag: String::new(),
            pair: String::new(),
            created: Arc::default(),
        };
        let signed_in = sent(caller.sign_in_to_dashboard()).await;
        let cookie = header(&signed_in, SET_COOKIE.as_str());
        caller.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        let environment = json!({ "product": "shop", "name": "prod" });
        let environment = caller.create("/environments", environment).await;
        let other = json!({ "product": "shop", "name": "other" });
        let other = caller.create("/environments", other).await;
        let flag = json!({ "key": "checkout", "name": "x", "type": "boolean" });
        let flag = caller.create("/flags", flag).await;
        let id = |object: &Value| object["id"].as_str().unwrap_or_default().to_owned();
        caller.pair = format!("/flags/{}/environments/{}", id(&flag), id(&other));
        caller.key = environment["sdkKey"].as_str().expect("a key").to_owned();
        caller.tag = header(&sent(caller.request("config")).await, ETAG.as_str());
        caller
    }

    async fn create(&self, path: &str, body: Value) -> Value {
        let created = sent(self.admin(Method::POST, path).json(&body)).await;
        assert_eq!(created.status(), StatusCode::CREATED);
        created.json().await.expect("JSON")
    }

    pub(crate) async fn ask(&self, what: &'static str) -> Answered {
        let number = self.created.fetch_add(1, Ordering::Relaxed);
        let flag = format!("flag_{number}");
        let request = match what {
            "create" => {
                let body = json!({ "key": flag, "name": "x", "type": "boolean" });
                self.admin(Method::POST, "/flags").json(&body)
            }
            "switch" => {
                let body = json!({ "isEnabled": number.is_multiple_of(2) });
                self.admin(Method::PUT, &self.pair).json(&body)
            }
            other => self.request(other),
        };
        let asked = Instant::now();
        let response = sent(request).await;
        let status = response.status();
        let retry_after = header(&response, RETRY_AFTER.as_str());
        let body = response.bytes().await.expect("the answer is complete");
        let at = Instant::now();
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        Answered {
            what,
            asked,
            at,
            status,
            retry_after,
            flag,
            detail: problem["detail"].as_str().unwrap_or_default().to_owned(),
        }
    }

    /// A request that is the same each time.
    fn request(&self, what: &str) -> RequestBuilder {
        let question = json!({ "flagKey": "checkout", "context": { "userId": "u1" } });
        match what {
            "evaluate" => self.sdk("/evaluate", &self.key).json(&question),
            "batch" => {
                let questions = json!({ "evaluations": vec![question; 20] });
                self.sdk("/evaluate/batch", &self.key).json(&questions)
            }
            // Filtered, because flags are created all the while.
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
            other => unreachable!("nobody asks for {other}"),
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

    pub(crate) async fn health(&self, path: &str) -> (StatusCode, String) {
        let response = sent(self.http.get(format!("{}{path}", self.base_url))).await;
        let status = response.status();
        let health: Value = response.json().await.expect("JSON");
        let text = health["status"].as_str().unwrap_or_default();
        (status, text.to_owned())
    }

    /// The keys of all flags.
    pub(crate) async fn created_flags(&self) -> BTreeSet<String> {
        let flags = self.all("/flags?limit=100").await;
        texts(&flags, "key").collect()
    }

    /// The keys of all flags whose creation is on record.
    pub(crate) async fn flags_with_an_audit_entry(&self) -> BTreeSet<String> {
        let mut entries = self.all("/audit?limit=100").await;
        entries.retain(|entry| entry["action"] == "FLAG_CREATED");
        texts(&entries, "flagKey").collect()
    }

    /// All items of a list, page by page.
    async fn all(&self, path: &str) -> Vec<Value> {
        let mut all = Vec::new();
        for page in 1.. {
            let path = format!("{path}&page={page}");
            let response = sent(self.admin(Method::GET, &path)).await;
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

async fn sent(request: RequestBuilder) -> Response {
    request.send().await.expect("the service answers")
}

fn header(response: &Response, name: &str) -> String {
    let value = response.headers().get(name);
    let text = value.and_then(|value| value.to_str().ok());
    text.unwrap_or_default().to_owned()
}
