//! Limits of connections and requests, beyond which the server refuses further ones.

use pennon_tests::{Answer, Browser, EMAIL, FlagEnvironment, PASSWORD, TestApp, Wire, eventually};
use reqwest::StatusCode;
use serde_json::json;
use tokio::task::JoinSet;

use super::{EVALUATE, QUESTION, split_question};

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
async fn a_browser_gets_a_page_for_a_request_over_the_limit() {
    let app = TestApp::with_settings(&["--max-in-flight", "1"]).await;
    let browser = Browser::new(&app);
    let page = refused_over_limit(&app, async || browser.get("/dashboard/login").await).await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(page.header("retry-after"), "1");
    let html = page.body();
    assert!(html.contains("Too many requests are in progress"), "{html}");
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
