//! Request bodies: their size, how long they may take, and what the server reads before it refuses a request.

use pennon_tests::{Browser, FlagEnvironment, TestApp, Wire};
use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::{EVALUATE, QUESTION, split_question};

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
            .request(Method::POST, path)
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
            .request(Method::POST, "/dashboard/login")
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
