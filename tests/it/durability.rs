//! What was answered with success is still there after the process was killed.

use std::process::{Child, Command, Stdio};

use pennon_tests::{EMAIL, PASSWORD, TestDatabase, binary, eventually};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

/// The real binary on a database of its own, killed when dropped.
struct Process {
    child: Child,
    base_url: String,
}

impl Process {
    async fn start(database: &TestDatabase) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let address = port.expect("a port is free").to_string();
        let child = Command::new(binary())
            .env("PENNON_LISTEN", &address)
            .env("DATABASE_URL", database.url())
            .env("PENNON_ADMIN_EMAIL", EMAIL)
            .env("PENNON_ADMIN_PASSWORD", PASSWORD)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let process = Self {
            child,
            base_url: format!("http://{address}"),
        };
        process.wait_until_it_answers().await;
        process
    }

    async fn wait_until_it_answers(&self) {
        let url = format!("{}/health", self.base_url);
        eventually("the binary answers", async || {
            reqwest::get(&url).await.is_ok()
        })
        .await;
    }

    async fn signed_in(&self) -> String {
        let credentials = json!({ "email": EMAIL, "password": PASSWORD });
        let answer = Client::new()
            .post(format!("{}/auth/login", self.base_url))
            .json(&credentials)
            .send()
            .await;
        let tokens: Value = answer.expect("an answer").json().await.expect("tokens");
        tokens["access_token"]
            .as_str()
            .expect("an access token")
            .to_owned()
    }

    /// SIGKILL: no handler of the process runs.
    fn kill(mut self) {
        self.child.kill().expect("the process is killed");
        self.child.wait().expect("the process has ended");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _already_ended = self.child.kill();
        let _already_waited = self.child.wait();
    }
}

#[tokio::test]
async fn a_kill_right_after_a_success_loses_nothing() {
    let database = TestDatabase::create().await;
    let mut keys = Vec::new();
    for round in 0..3 {
        let process = Process::start(&database).await;
        let token = process.signed_in().await;
        let key = format!("flag_{round}");
        let created = Client::new()
            .post(format!("{}/flags", process.base_url))
            .bearer_auth(token)
            .json(&json!({ "key": key, "name": "survivor", "type": "boolean" }))
            .send()
            .await
            .expect("an answer");
        assert_eq!(created.status(), StatusCode::CREATED);
        process.kill();
        keys.insert(0, key);
    }
    let process = Process::start(&database).await;
    let flags = Client::new()
        .get(format!("{}/flags", process.base_url))
        .bearer_auth(process.signed_in().await)
        .send()
        .await
        .expect("an answer");
    let flags: Value = flags.json().await.expect("a list");
    let found: Vec<&str> = flags["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|flag| flag["key"].as_str())
        .collect();
    assert_eq!(found, keys);
}
