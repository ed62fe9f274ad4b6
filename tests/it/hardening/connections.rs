//! Connections and request heads: how long the server waits for a peer, and how much it reads.

use std::time::Duration;

use pennon_tests::{TestApp, Wire, WireAnswer};
use serde_json::{Value, json};

#[tokio::test]
async fn a_connection_with_an_endless_head_is_closed() {
    let app = TestApp::start().await;
    let (mut silent, mut slow) = (Wire::to(app.address()).await, Wire::to(app.address()).await);
    slow.write("GET /health HTTP/1.1\r\nhost: pen").await;
    // From here on, the clock advances whenever all tasks are idle.
    tokio::time::pause();
    silent.expect_end().await;
    slow.expect_end().await;
}

#[tokio::test]
async fn an_idle_connection_stays_open_for_at_least_a_minute_and_is_then_closed() {
    let app = TestApp::start().await;
    let mut wire = Wire::to(app.address()).await;
    assert_eq!(wire.get("/health").await.status, 200);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(65)).await;
    assert_eq!(wire.get("/health").await.status, 200);
    wire.expect_end().await;
}

/// Fails the test unless a response is the connection's last one, and a problem document with this status and code.
fn expect_refusal(answer: &WireAnswer, status: u16, code: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(answer.is_last(), "{}", answer.head);
    for header in [
        "\r\ncontent-type: application/problem+json\r\n",
        "\r\nx-content-type-options: nosniff\r\n",
        "\r\ncache-control: no-store\r\n",
        "\r\naccess-control-allow-origin: *\r\n",
        "\r\naccess-control-expose-headers: age,etag,retry-after,x-request-id\r\n",
        "\r\nx-request-id: ",
        "\r\ndate: ",
    ] {
        assert!(answer.head.contains(header), "{}", answer.head);
    }
    let problem: Value = serde_json::from_str(&answer.body).expect("a problem");
    assert_eq!(
        (&problem["status"], &problem["code"]),
        (&json!(status), &json!(code))
    );
}

#[tokio::test]
async fn the_size_of_a_head_is_limited() {
    let app = TestApp::start().await;
    for long in [
        format!("GET /health?{} HTTP/1.1\r\n", "a".repeat(1_000_000)),
        format!(
            "GET /health HTTP/1.1\r\nx-long: {}\r\n",
            "a".repeat(1_000_000)
        ),
        format!("GET /health HTTP/1.1\r\n{}", "x-many: a\r\n".repeat(101)),
    ] {
        let mut wire = Wire::to(app.address()).await;
        wire.write(&format!("{long}host: pennon\r\n\r\n")).await;
        expect_refusal(&wire.answer().await, 431, "HEAD_TOO_LARGE");
        wire.expect_end().await;
    }
}

#[tokio::test]
async fn a_malformed_head_gets_the_headers_of_https_too() {
    let app = TestApp::with_settings(&["--public-url", "https://flags.example.com"]).await;
    let mut wire = Wire::to(app.address()).await;
    wire.write("GET /a b HTTP/1.1\r\nhost: pennon\r\n\r\n")
        .await;
    let answer = wire.answer().await;
    expect_refusal(&answer, 400, "MALFORMED_REQUEST");
    let expected = "\r\nstrict-transport-security: max-age=31536000\r\n";
    assert!(answer.head.contains(expected), "{}", answer.head);
}

#[tokio::test]
async fn a_malformed_head_gets_a_problem_document_on_new_and_used_connections() {
    let app = TestApp::start().await;
    for bad in [
        "GET /health HTTP/1.1\r\nno header\r\n\r\n",
        "GET /a b HTTP/1.1\r\nhost: pennon\r\n\r\n",
        "\0\r\n\r\n",
        "GET /health HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
    ] {
        let mut wire = Wire::to(app.address()).await;
        wire.write(bad).await;
        expect_refusal(&wire.answer().await, 400, "MALFORMED_REQUEST");
        wire.expect_end().await;
        let mut wire = Wire::to(app.address()).await;
        for (path, status) in [("/health", 200), ("/flags", 401), ("/dashboard", 303)] {
            assert_eq!(wire.get(path).await.status, status);
        }
        let good = "GET /health/live HTTP/1.1\r\nhost: pennon\r\n\r\n";
        wire.write(&format!("{good}{bad}")).await;
        assert_eq!(wire.answer().await.status, 200);
        expect_refusal(&wire.answer().await, 400, "MALFORMED_REQUEST");
        wire.expect_end().await;
    }
}
