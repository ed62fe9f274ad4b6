//! The log: its format as JSON, and a log that nothing reads.

use std::process::Stdio;
use std::time::Duration;

use pennon_tests::{Process, TestDatabase, binary, eventually, free_address};
use reqwest::{Client, Method, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::process::Command;
use tokio::time::timeout;

#[tokio::test]
async fn a_log_that_nobody_reads_does_not_stop_the_server() {
    let database = TestDatabase::in_file();
    let address = free_address();
    let mut child = Command::new(binary())
        .env("DATABASE_URL", database.url())
        .env("PENNON_LISTEN", address.to_string())
        .env("RUST_LOG", "trace")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the binary starts");
    // Keeps the pipe open, and reads nothing.
    let _unread = child.stderr.take();
    let client = Client::new();
    let health = async || {
        let request = client.get(format!("http://{address}/health"));
        let response = request.timeout(Duration::from_secs(5)).send().await;
        response.is_ok_and(|response| response.status() == StatusCode::OK)
    };
    eventually("the server responds", health).await;
    // A pipe holds 64 KiB, and each request logs more than a kilobyte.
    for _ in 0..200 {
        assert!(health().await);
    }
    let pid = child
        .id()
        .and_then(|pid| Pid::from_raw(pid.try_into().ok()?));
    kill_process(pid.expect("a process"), Signal::TERM).expect("it still runs");
    let ended = timeout(Duration::from_secs(10), child.wait()).await;
    assert!(ended.is_ok_and(|status| status.is_ok_and(|status| status.success())));
}

#[tokio::test]
async fn every_line_of_a_json_log_is_valid_and_has_the_request_id() {
    let database = TestDatabase::create().await;
    let settings = [
        ("PENNON_LOG_FORMAT", "json"),
        ("RUST_LOG", "info,pennon_server::http=debug"),
    ];
    let process = Process::start(&database, &settings).await;
    let key = process.admin().await.flag_environment().await.sdk_key;
    let sdk = process.sdk(&key);
    let request = sdk
        .request(Method::GET, "/sdk/v1/config?keys=secret")
        .header("x-request-id", "from-the-test")
        .header("x-pennon-client", "@pennon/core/0.1.0/secret");
    sdk.send(request).await.expect(StatusCode::OK);
    let ended = process.stop().await;
    let lines: Vec<Value> = ended
        .log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect();
    let mut messages = lines.iter().map(|line| &line["message"]);
    assert!(messages.any(|message| message == "stopping"));
    let answered = lines
        .iter()
        .find(|line| line["message"] == "answered" && line["span"]["id"] == "from-the-test");
    let answered = answered.expect("the request is in the log");
    assert_eq!(answered["status"], 200);
    assert_eq!(answered["span"]["path"], "/sdk/v1/config");
    assert!(answered["timestamp"].is_string() && answered["level"] == "DEBUG");
    assert!(!ended.log.contains(&key) && !ended.log.contains("secret"));
}
