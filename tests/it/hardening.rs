//! Protection against peers that are slow, many or malformed, and graceful shutdown.

use std::time::Duration;

use pennon_tests::{
    Answer, Browser, EMAIL, FlagEnvironment, PASSWORD, Process, TestApp, TestDatabase, Wire,
    WireAnswer, eventually,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;

const EVALUATE: &str = "/sdk/v1/evaluate";
const QUESTION: &str = r#"{"flagKey":"checkout"}"#;

/// Returns the two parts of an evaluation request's body.
fn split_question() -> (&'static str, &'static str) {
    QUESTION.split_at(5)
}

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

#[tokio::test]
async fn a_body_that_arrives_too_slowly_is_refused() {
    let app = TestApp::start().await;
    let FlagEnvironment { sdk_key, .. } = app.admin().await.flag_environment().await;
    let (part, _) = split_question();
    let mut wire = Wire::to(app.address()).await;
    wire.begin_post(EVALUATE, &sdk_key, QUESTION.len(), part)
        .await;
    tokio::time::pause();
    let answer = wire.answer().await;
    assert_eq!(answer.status, 408);
    assert!(answer.is_last(), "{}", answer.head);
    let problem: Value = serde_json::from_str(&answer.body).expect("a problem");
    assert_eq!(problem["code"], "REQUEST_TIMEOUT");
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

#[tokio::test]
async fn a_request_refused_before_its_body_gets_a_response_and_keeps_the_connection() {
    let app = TestApp::start().await;
    let mut wire = Wire::to(app.address()).await;
    for path in ["/sdk/v1/evaluate", "/flags", "/nowhere"] {
        wire.begin_post(path, "nobody's", 22, "").await;
        let refused = wire.answer().await;
        assert!((401..=404).contains(&refused.status), "{refused:?}");
        assert!(!refused.is_last(), "{refused:?}");
        wire.write(&"x".repeat(22)).await;
    }
    assert_eq!(wire.get("/health/live").await.status, 200);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_whether_or_not_it_declares_its_length() {
    let app = TestApp::start().await;
    let FlagEnvironment { sdk_key, .. } = app.admin().await.flag_environment().await;
    let mut wire = Wire::to(app.address()).await;
    wire.begin_post(EVALUATE, &sdk_key, 10_000_000, "").await;
    assert_eq!(wire.answer().await.status, 413);
    let mut wire = Wire::to(app.address()).await;
    wire.write(&format!(
        "POST {EVALUATE} HTTP/1.1\r\nhost: pennon\r\nauthorization: Bearer {sdk_key}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    ))
    .await;
    let chunk = " ".repeat(0x8000);
    for _ in 0..2 {
        wire.write(&format!("8000\r\n{chunk}\r\n")).await;
    }
    wire.write("1\r\n \r\n").await;
    assert_eq!(wire.answer().await.status, 413);
}

#[tokio::test]
async fn dashboard_forms_that_are_too_large_are_refused_unread() {
    let app = TestApp::start().await;
    let form = "a".repeat(300_000);
    for path in [
        "/dashboard/login",
        "/dashboard/api/sign-in",
        "/dashboard/api/set-enabled",
    ] {
        let request = app
            .anonymous()
            .request(reqwest::Method::POST, path)
            .header("sec-fetch-site", "same-origin")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form.clone());
        app.anonymous()
            .send(request)
            .await
            .expect(StatusCode::PAYLOAD_TOO_LARGE);
    }
}

#[tokio::test]
async fn forms_without_a_session_have_a_lower_limit() {
    let app = TestApp::start().await;
    for (length, status) in [
        (64 * 1024, StatusCode::UNAUTHORIZED),
        (64 * 1024 + 1, StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let request = app
            .anonymous()
            .request(reqwest::Method::POST, "/dashboard/login")
            .header("sec-fetch-site", "same-origin")
            .header("content-type", "application/x-www-form-urlencoded")
            .body("a".repeat(length));
        app.anonymous().send(request).await.expect(status);
    }
}

#[tokio::test]
async fn the_sign_in_page_keeps_a_long_form_but_not_one_of_countless_fields() {
    let app = TestApp::start().await;
    for (fields, is_kept) in [(1_000, true), (1_001, false)] {
        let form = vec!["a=1"; fields].join("&");
        let answer = Browser::new(&app).post("/dashboard/login", &form).await;
        let page = answer.expect(StatusCode::UNAUTHORIZED).body();
        assert_eq!(page.matches("type=\"hidden\"").count() == fields, is_kept);
        assert_eq!(page.contains("too large to be kept"), !is_kept);
    }
}

#[tokio::test]
async fn pages_that_are_not_read_use_the_limit_of_unauthenticated_callers() {
    let app = TestApp::start().await;
    // The page is six times as large, so that it does not fit into the buffers of the operating system.
    let form = format!("a={}", "\"".repeat(60_000));
    let mut unread = Vec::new();
    for _ in 0..60 {
        let mut wire = Wire::with_small_buffer(app.address()).await;
        wire.write(&format!(
            "POST /dashboard/login HTTP/1.1\r\nhost: pennon\r\nsec-fetch-site: same-origin\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
            form.len()
        ))
        .await;
        unread.push(wire);
    }
    eventually("the limit is reached", async || {
        let answer = Browser::new(&app).post("/dashboard/login", &form).await;
        answer.status == StatusCode::SERVICE_UNAVAILABLE
    })
    .await;
    drop(unread);
    eventually("the limit is free again", async || {
        let answer = Browser::new(&app).post("/dashboard/login", &form).await;
        answer.status == StatusCode::UNAUTHORIZED
    })
    .await;
}

#[tokio::test]
async fn the_list_of_errors_is_limited() {
    let app = TestApp::start().await;
    let (_, key) = app.admin().await.environment("shop", "prod").await;
    for name in ["", "x".repeat(1_000).as_str()] {
        let attributes: Vec<_> = (0..50).map(|at| format!("\"{name}{at}\":[]")).collect();
        let attributes = format!("{{{}}}", attributes.join(","));
        let one = format!(
            "{{\"flagKey\":\"checkout\",\"context\":{{\"customAttributes\":{attributes}}}}}"
        );
        let body = format!("{{\"evaluations\":[{}]}}", vec![one; 10].join(","));
        let caller = app.sdk(&key);
        let request = caller.request(Method::POST, "/sdk/v1/evaluate/batch");
        let request = request
            .header("content-type", "application/json")
            .body(body);
        let refused = caller.send(request).await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        let reported = refused.faults().len();
        assert!(reported > 50 && reported <= 100, "{reported}");
        assert!(refused.bytes.len() < 128 * 1024);
    }
}

#[tokio::test]
async fn bodies_without_credentials_share_a_limit_that_spares_sign_ins() {
    const LENGTH: usize = 64 * 1024;
    let app = TestApp::start().await;
    let mut held = JoinSet::new();
    // One more than the limit. Each request withholds its last byte.
    for _ in 0..=256 {
        let mut wire = Wire::to(app.address()).await;
        wire.write(&format!(
            "POST {EVALUATE} HTTP/1.1\r\nhost: pennon\r\ncontent-type: application/json\r\n\
             content-length: {LENGTH}\r\n\r\n{}",
            "x".repeat(LENGTH - 1)
        ))
        .await;
        held.spawn(async move { (wire.answer().await, wire) });
    }
    let (refused, _wire) = held
        .join_next()
        .await
        .expect("an answer")
        .expect("an answer");
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.body.contains("OVERLOADED") && refused.head.contains("\r\nretry-after: 1\r\n"));
    app.sign_in(EMAIL, PASSWORD).await.expect(StatusCode::OK);
    held.shutdown().await;
    let large = json!({ "flagKey": "x".repeat(LENGTH / 2) });
    eventually("large bodies are accepted again", async || {
        let answer = app.anonymous().post(EVALUATE, large.clone()).await;
        answer.status == StatusCode::UNAUTHORIZED
    })
    .await;
}

#[tokio::test]
async fn connections_over_the_limit_are_refused_but_health_responds() {
    let app = TestApp::with_settings(&["--max-connections", "2"]).await;
    let mut first = Wire::to(app.address()).await;
    let mut second = Wire::to(app.address()).await;
    for wire in [&mut first, &mut second] {
        assert_eq!(wire.get("/flags").await.status, 401);
    }
    for _ in 0..100 {
        let mut refused = Wire::to(app.address()).await;
        let answer = refused.get("/sdk/v1/config").await;
        assert_eq!(answer.status, 503);
        assert!(answer.is_last() && answer.body.contains("OVERLOADED"));
        assert!(answer.head.contains("\r\nretry-after: 1\r\n"));
        assert!(answer.head.contains("\r\naccess-control-allow-origin: *"));
        refused.expect_end().await;
        let mut supervisor = Wire::to(app.address()).await;
        let answer = supervisor.get("/health").await;
        assert!(answer.status == 200 && answer.is_last(), "{}", answer.head);
    }
    assert_eq!(first.get("/flags").await.status, 401);
    drop(second);
    eventually("another connection is accepted", async || {
        let mut third = Wire::to(app.address()).await;
        third.get("/flags").await.status == 401
    })
    .await;
}

#[tokio::test]
async fn silent_connections_over_the_limit_are_soon_closed() {
    let app = TestApp::with_settings(&["--max-connections", "1"]).await;
    let mut only = Wire::to(app.address()).await;
    assert_eq!(only.get("/health").await.status, 200);
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(Wire::to(app.address()).await);
    }
    let mut supervisor = Wire::to(app.address()).await;
    tokio::time::pause();
    assert_eq!(supervisor.get("/health").await.status, 200);
    assert_eq!(only.get("/health").await.status, 200);
}

/// Returns the response to a request while another request uses up the in-flight limit.
async fn refused_over_limit(app: &TestApp, ask: impl AsyncFn() -> Answer) -> Answer {
    // Verifying a password is slow.
    let busy = async {
        loop {
            app.sign_in(EMAIL, PASSWORD).await;
        }
    };
    let refused = async {
        for _ in 0..100_000 {
            let answer = ask().await;
            if answer.status == StatusCode::SERVICE_UNAVAILABLE {
                return answer;
            }
        }
        panic!("no request is refused");
    };
    tokio::select! {
        answer = refused => answer,
        never = busy => never,
    }
}

#[tokio::test]
async fn requests_over_the_limit_are_refused_at_once_but_health_responds() {
    let app = TestApp::with_settings(&["--max-in-flight", "1"]).await;
    let FlagEnvironment { sdk_key, .. } = app.admin().await.flag_environment().await;
    let (sdk, anonymous) = (app.sdk(&sdk_key), app.anonymous());
    let refused = refused_over_limit(&app, async || {
        for path in ["/health", "/health/live", "/health/ready"] {
            anonymous.get(path).await.expect(StatusCode::OK);
        }
        sdk.get("/sdk/v1/config").await
    })
    .await
    .expect_problem(StatusCode::SERVICE_UNAVAILABLE, "OVERLOADED");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(refused.header("access-control-allow-origin"), "*");
    assert_eq!(refused.header("x-content-type-options"), "nosniff");
    assert!(!refused.header("x-request-id").is_empty());
    let admin = refused_over_limit(&app, async || anonymous.get("/flags").await).await;
    let admin = admin.expect_problem(StatusCode::SERVICE_UNAVAILABLE, "OVERLOADED");
    assert_eq!(admin.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn slow_senders_do_not_use_up_the_in_flight_limit() {
    let app = TestApp::with_settings(&["--max-in-flight", "2"]).await;
    let FlagEnvironment { sdk_key, .. } = app.admin().await.flag_environment().await;
    let (part, rest) = split_question();
    let mut slow = Vec::new();
    for _ in 0..10 {
        let mut wire = Wire::to(app.address()).await;
        wire.begin_post(EVALUATE, &sdk_key, QUESTION.len(), part)
            .await;
        slow.push(wire);
        let response = app.sdk(&sdk_key).get("/sdk/v1/config").await;
        response.expect(StatusCode::OK);
    }
    for mut wire in slow {
        wire.write(rest).await;
        assert_eq!(wire.answer().await.status, 200);
    }
}

#[tokio::test]
async fn idle_connections_do_not_delay_shutdown() {
    let database = TestDatabase::create().await;
    let process = Process::start(&database, &[]).await;
    let mut idle = Vec::new();
    for _ in 0..60 {
        let mut wire = Wire::to(process.address()).await;
        assert_eq!(wire.get("/health").await.status, 200);
        idle.push(wire);
    }
    // A connection that has never sent a request.
    idle.push(Wire::to(process.address()).await);
    let ended = process.stop().await;
    assert!(ended.status.success(), "{}", ended.log);
    assert!(ended.after < Duration::from_secs(3), "{:?}", ended.after);
    for wire in &mut idle {
        wire.expect_end().await;
    }
}

#[tokio::test]
async fn half_sent_requests_do_not_delay_shutdown() {
    let database = TestDatabase::create().await;
    let process = Process::start(&database, &[]).await;
    let key = process.admin().await.flag_environment().await.sdk_key;
    let (part, _) = split_question();
    let mut halves = Vec::new();
    for is_used in [false, true] {
        for is_head in [false, true] {
            let mut wire = Wire::to(process.address()).await;
            if is_used {
                assert_eq!(wire.get("/health").await.status, 200);
            }
            if is_head {
                wire.write("GET /health HTTP/1.1\r\nhost: pen").await;
            } else {
                wire.begin_post(EVALUATE, &key, QUESTION.len(), part).await;
            }
            halves.push(wire);
        }
    }
    let mut idle = Wire::to(process.address()).await;
    assert_eq!(idle.get("/health").await.status, 200);
    let ended = process.stop().await;
    assert!(ended.status.success(), "{}", ended.log);
    assert!(ended.after < Duration::from_secs(3), "{:?}", ended.after);
    assert!(!ended.log.contains("did not end in time"), "{}", ended.log);
    for wire in halves.iter_mut().chain([&mut idle]) {
        wire.expect_end().await;
    }
}

#[tokio::test]
async fn requests_in_flight_complete_during_shutdown() {
    let database = TestDatabase::create().await;
    let process = Process::start(&database, &[]).await;
    let key = process.admin().await.flag_environment().await.sdk_key;
    let address = process.address();
    let (part, rest) = split_question();
    let mut slow = Vec::new();
    for _ in 0..20 {
        let mut wire = Wire::to(address).await;
        wire.begin_post(EVALUATE, &key, QUESTION.len(), part).await;
        slow.push(wire);
    }
    // Each task sends requests on one connection, each as soon as the previous response has arrived.
    let mut busy = JoinSet::new();
    for _ in 0..50 {
        let key = key.clone();
        busy.spawn(async move {
            let mut wire = Wire::to(address).await;
            let mut answers = 0;
            loop {
                wire.begin_post(EVALUATE, &key, QUESTION.len(), QUESTION)
                    .await;
                let answer = wire.answer().await;
                assert_eq!(answer.status, 200, "{answer:?}");
                answers += 1;
                if answer.is_last() {
                    return answers;
                }
            }
        });
    }
    eventually("all tasks are busy", async || {
        let mut probe = Wire::to(address).await;
        probe.get("/health").await.status == 200
    })
    .await;
    process.terminate();
    eventually("readiness reports the shutdown", async || {
        let mut probe = Wire::to(address).await;
        let answer = probe.get("/health/ready").await;
        assert_eq!(answer.is_last(), answer.status == 503);
        answer.is_last()
    })
    .await;
    for answers in busy.join_all().await {
        assert!(answers > 0);
    }
    for mut wire in slow {
        wire.write(rest).await;
        let answer = wire.answer().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.is_last(), "{}", answer.head);
        wire.expect_end().await;
    }
    let ended = process.ended().await;
    assert!(ended.status.success(), "{}", ended.log);
    assert!(!ended.log.contains("did not end in time"), "{}", ended.log);
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
