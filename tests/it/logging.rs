//! The log while nothing reads it.

use std::process::Stdio;
use std::time::Duration;

use pennon_tests::{TestDatabase, binary, eventually, free_address};
use reqwest::{Client, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
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
