//! Rate limits of environments.

use pennon_tests::{Answer, Caller, FlagEnvironment, TestApp};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const CONFIG: &str = "/sdk/v1/config";

async fn limited() -> TestApp {
    TestApp::with_settings(&["--rate-limit-evaluate", "2"]).await
}

/// Returns the requests that make the server evaluate.
fn questions() -> [(&'static str, Value); 5] {
    let question = json!({ "flagKey": "checkout" });
    let many: Vec<_> = (0..100).map(|_| &question).collect();
    [
        ("/sdk/v1/evaluate", question.clone()),
        ("/sdk/v1/evaluate/batch", json!({ "evaluations": many })),
        ("/sdk/v1/explain", question.clone()),
        ("/ofrep/v1/evaluate/flags/checkout", json!({})),
        ("/ofrep/v1/evaluate/flags", json!({})),
    ]
}

#[track_caller]
fn assert_refused(answer: Answer) {
    let refused = answer.expect_problem(StatusCode::TOO_MANY_REQUESTS, "TOO_MANY_REQUESTS");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(refused.header("access-control-allow-origin"), "*");
    let exposed = refused.header("access-control-expose-headers");
    assert!(exposed.contains("retry-after"), "{exposed}");
}

/// Sends requests until one is refused, and returns the number of admitted ones.
async fn exhaust(sdk: &Caller<'_>, path: &str, body: &Value) -> usize {
    for admitted in 0..100 {
        let answer = sdk.post(path, body.clone()).await;
        if answer.status != StatusCode::OK {
            assert_refused(answer);
            return admitted;
        }
    }
    panic!("{path} has no rate limit");
}

#[tokio::test]
async fn each_request_counts_once_and_the_limit_refills_every_second() {
    let app = limited().await;
    let FlagEnvironment { sdk_key, .. } = app.admin().await.flag_environment().await;
    let sdk = app.sdk(&sdk_key);
    for (path, body) in questions() {
        assert_eq!(exhaust(&sdk, path, &body).await, 2, "{path}");
        // All of these requests share the limit.
        for (path, body) in questions() {
            let answer = sdk.post(path, body).await;
            let says_so_to_providers = answer.json()["errorCode"] == "GENERAL";
            assert_eq!(says_so_to_providers, path.starts_with("/ofrep/"));
            assert_refused(answer);
        }
        app.advance(1);
    }
    let in_body = json!({ "flagKey": "checkout", "sdkKey": sdk_key });
    let anonymous = app.anonymous();
    assert_eq!(exhaust(&anonymous, "/sdk/v1/evaluate", &in_body).await, 2);
}

#[tokio::test]
async fn clients_with_local_evaluation_have_a_separate_limit() {
    let app = limited().await;
    let FlagEnvironment { sdk_key, .. } = app.admin().await.flag_environment().await;
    let sdk = app.sdk(&sdk_key);
    let (path, body) = &questions()[0];
    exhaust(&sdk, path, body).await;
    let first = sdk.get(CONFIG).await.expect(StatusCode::OK);
    let again = sdk
        .request(Method::GET, CONFIG)
        .header("if-none-match", first.header("etag"));
    sdk.send(again).await.expect(StatusCode::NOT_MODIFIED);
    for path in [CONFIG, "/sdk/v1/stream"] {
        assert_refused(sdk.get(path).await);
    }
    let counts = json!({ "counts": [{ "flagKey": "checkout", "reason": "rollout", "count": 1 }] });
    assert_refused(sdk.post("/sdk/v1/usage", counts).await);
    app.advance(1);
    sdk.get(CONFIG).await.expect(StatusCode::OK);
}

#[tokio::test]
async fn each_environment_has_its_own_limit() {
    let app = limited().await;
    let admin = app.admin().await;
    let FlagEnvironment { sdk_key, .. } = admin.flag_environment().await;
    let (_, other_key) = admin.environment("shop", "staging").await;
    let (path, body) = &questions()[0];
    exhaust(&app.sdk(&sdk_key), path, body).await;
    assert_eq!(exhaust(&app.sdk(&other_key), path, body).await, 2);
    // A change creates a new snapshot but does not reset the limit.
    admin.flag("another").await;
    assert_refused(app.sdk(&sdk_key).post(path, body.clone()).await);
    // An unusable key is refused as such, not because of the limit.
    let unknown = app.sdk("pnk_unknown").post(path, body.clone()).await;
    unknown.expect(StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn without_the_setting_there_is_no_limit() {
    let app = TestApp::start().await;
    let FlagEnvironment { sdk_key, .. } = app.admin().await.flag_environment().await;
    let sdk = app.sdk(&sdk_key);
    for _ in 0..50 {
        for (path, body) in questions() {
            sdk.post(path, body).await.expect(StatusCode::OK);
        }
        sdk.get(CONFIG).await.expect(StatusCode::OK);
    }
}
