//! The stream of live evaluations, for editors who watch.

use std::time::Duration;

use pennon_tests::{Browser, PageStream, TestApp, UNKNOWN_ID};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::time::timeout;

/// The time limit for an expected change.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Returns the address of the stream of an environment.
fn address(environment: &str) -> String {
    format!("/dashboard/events/evaluations?environment={environment}")
}

/// Returns a context in which every value, and the name of every custom attribute, contains `secret` or is 47114711.
fn context() -> Value {
    json!({
        "userId": "secret-user",
        "email": "ada@secret.example",
        "country": "secretland",
        "customAttributes": { "secretPlan": "secret-plan", "secretLevel": 47_114_711, "secret": true },
    })
}

/// Checks that a stream has contained nothing of that context.
fn assert_secret(stream: &PageStream, path: &str) {
    for value in ["secret", "47114711"] {
        assert!(!stream.received.contains(value), "{path}");
    }
}

/// Evaluates a flag for a context.
async fn evaluate(app: &TestApp, key: &str, flag: &str, context: &Value) {
    let question = json!({ "flagKey": flag, "context": context });
    let answer = app.sdk(key).post("/sdk/v1/evaluate", question).await;
    answer.expect(StatusCode::OK);
}

/// Waits until a new stream gets this status.
async fn until_status(browser: &Browser<'_>, path: &str, status: StatusCode) {
    let reached = timeout(TIMEOUT, async {
        while browser.listen(path).await.status() != status {}
    });
    assert!(reached.await.is_ok(), "the status is never {status}");
}

#[tokio::test]
async fn an_editor_gets_every_remote_evaluation_without_a_value() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    app.user("eve@example.com", "editor").await;
    let browser = Browser::signed_in_as(&app, "eve@example.com").await;
    let mut stream = PageStream::open_at(&browser, &address(&checkout.environment)).await;
    let sdk = app.sdk(&checkout.sdk_key);
    let question = json!({ "flagKey": "checkout", "context": context() });
    for (path, question) in [
        ("/sdk/v1/evaluate", question.clone()),
        (
            "/sdk/v1/evaluate/batch",
            json!({ "evaluations": [question] }),
        ),
        ("/sdk/v1/explain", question.clone()),
        ("/sdk/v1/evaluate/all", question.clone()),
        ("/sdk/v1/bootstrap", question.clone()),
    ] {
        sdk.post(path, question).await.expect(StatusCode::OK);
        let expected = "\"flag\":\"checkout\",\"enabled\":true,\"reason\":\"flag_enabled\",\
             \"attributes\":[\"userId\",\"email\",\"country\"],\"customAttributes\":3}],\"skipped\":0}";
        stream.until(expected).await;
        assert_secret(&stream, path);
        stream.received.clear();
    }
    // OpenFeature's context is flat: the targeting key is the user, and all other members are attributes.
    let flat =
        json!({ "targetingKey": "secret-user", "country": "secretland", "secretPlan": "secret" });
    for path in [
        "/ofrep/v1/evaluate/flags/checkout",
        "/ofrep/v1/evaluate/flags",
    ] {
        let answer = sdk.post(path, json!({ "context": flat })).await;
        answer.expect(StatusCode::OK);
        stream
            .until("\"attributes\":[\"userId\",\"country\"],\"customAttributes\":1")
            .await;
        assert_secret(&stream, path);
        stream.received.clear();
    }
}

#[tokio::test]
async fn requests_for_flags_that_do_not_exist_are_left_out() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let browser = Browser::signed_in(&app).await;
    let mut stream = PageStream::open_at(&browser, &address(&checkout.environment)).await;
    let question = json!({ "flagKey": "secret", "context": context() });
    let sdk = app.sdk(&checkout.sdk_key);
    let answer = sdk.post("/sdk/v1/evaluate", question.clone()).await;
    answer.expect(StatusCode::NOT_FOUND);
    let batch = json!({ "evaluations": [question] });
    let answer = sdk.post("/sdk/v1/evaluate/batch", batch).await;
    answer.expect(StatusCode::OK);
    evaluate(&app, &checkout.sdk_key, "checkout", &Value::Null).await;
    stream
        .until("\"attributes\":[],\"customAttributes\":0")
        .await;
    assert_secret(&stream, "/sdk/v1/evaluate");
}

#[tokio::test]
async fn a_watch_can_be_limited_to_a_flag_and_has_one_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.flag("banner").await;
    let (_, other_key) = admin.environment("shop", "staging").await;
    let browser = Browser::signed_in(&app).await;
    let path = format!("{}&flag=banner", address(&checkout.environment));
    let mut stream = PageStream::open_at(&browser, &path).await;
    evaluate(&app, &checkout.sdk_key, "checkout", &Value::Null).await;
    evaluate(&app, &other_key, "banner", &context()).await;
    evaluate(&app, &checkout.sdk_key, "banner", &Value::Null).await;
    stream.until("\"flag\":\"banner\"").await;
    assert!(!stream.received.contains("checkout"));
    assert!(!stream.received.contains("userId"));
}

#[tokio::test]
async fn evaluations_beyond_the_limit_are_counted() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    for number in 1..30 {
        admin.flag(&format!("flag_{number}")).await;
    }
    let browser = Browser::signed_in(&app).await;
    let mut stream = PageStream::open_at(&browser, &address(&checkout.environment)).await;
    let sdk = app.sdk(&checkout.sdk_key);
    let answer = sdk.post("/sdk/v1/evaluate/all", json!({})).await;
    answer.expect(StatusCode::OK);
    stream.until("\"skipped\":10}").await;
    assert_eq!(stream.received.matches("\"reason\":").count(), 20);
    stream.received.clear();
    evaluate(&app, &checkout.sdk_key, "checkout", &Value::Null).await;
    stream.until("\"skipped\":0}").await;
}

#[tokio::test]
async fn only_editors_of_an_active_environment_may_watch() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let (other, _) = admin.environment("shop", "staging").await;
    app.user("vic@example.com", "viewer").await;
    let eve = admin.user("eve@example.com", "viewer").await;
    let grants = json!({ "grants": [{ "environmentId": other, "role": "editor" }] });
    let given = admin.patch(&format!("/users/{eve}"), grants).await;
    given.expect(StatusCode::OK);
    let viewer = Browser::signed_in_as(&app, "vic@example.com").await;
    let editor = Browser::signed_in_as(&app, "eve@example.com").await;
    for (browser, environment, status) in [
        (
            &Browser::new(&app),
            &*checkout.environment,
            StatusCode::UNAUTHORIZED,
        ),
        (&viewer, &checkout.environment, StatusCode::FORBIDDEN),
        (&editor, &checkout.environment, StatusCode::FORBIDDEN),
        (&editor, &other, StatusCode::OK),
        (&editor, UNKNOWN_ID, StatusCode::NOT_FOUND),
        (&editor, "", StatusCode::NOT_FOUND),
    ] {
        let response = browser.listen(&address(environment)).await;
        assert_eq!(response.status(), status, "{environment}");
    }
    admin.revoke(&other).await;
    let response = editor.listen(&address(&other)).await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_ninth_watcher_is_refused_until_another_one_stops() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let browser = Browser::signed_in(&app).await;
    let path = address(&checkout.environment);
    let mut streams = Vec::new();
    for _ in 0..8 {
        streams.push(PageStream::open_at(&browser, &path).await);
    }
    let refused = browser.listen(&path).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    let text = refused.text().await.expect("a text");
    assert!(text.starts_with("Eight pages show live evaluations"));
    drop(streams.pop());
    until_status(&browser, &path, StatusCode::OK).await;
}

#[tokio::test]
async fn a_watch_ends_after_ten_minutes() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let browser = Browser::signed_in(&app).await;
    let mut stream = PageStream::open_at(&browser, &address(&checkout.environment)).await;
    app.advance(599);
    evaluate(&app, &checkout.sdk_key, "checkout", &Value::Null).await;
    stream.until("\"at\":\"2026-03-01T09:39:59").await;
    assert!(!stream.received.contains("event: ended"));
    app.advance(1);
    stream.until("event: ended").await;
    stream.until_the_end().await;
}

#[tokio::test]
async fn a_watch_ends_with_the_session_the_rights_the_environment_and_the_server() {
    let app = TestApp::start().await;
    app.run_change_feed();
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let (staging, _) = admin.environment("shop", "staging").await;
    let eve = admin.user("eve@example.com", "editor").await;
    let editor = Browser::signed_in_as(&app, "eve@example.com").await;
    let browser = Browser::signed_in(&app).await;
    let leaving = Browser::signed_in(&app).await;
    let path = address(&checkout.environment);

    let mut stream = PageStream::open_at(&leaving, &path).await;
    leaving.post("/dashboard/api/sign-out", "").await;
    stream.until_the_end().await;

    let granted = json!({ "grants": [{ "product": "shop", "role": "admin" }] });
    for change in [granted, json!({ "role": "viewer" })] {
        let mut stream = PageStream::open_at(&editor, &path).await;
        let changed = admin.patch(&format!("/users/{eve}"), change).await;
        changed.expect(StatusCode::OK);
        stream.until_the_end().await;
    }

    let mut stream = PageStream::open_at(&browser, &path).await;
    admin.rotate_key(&checkout.environment).await;
    stream.until_the_end().await;

    let mut stream = PageStream::open_at(&browser, &address(&staging)).await;
    app.drain();
    stream.until_the_end().await;
    assert!(!stream.received.contains("event: ended"));
}
