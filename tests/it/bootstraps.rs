//! The flags that pages start with.

use pennon_tests::{Caller, FlagEnvironment, TestApp, equals};
use reqwest::header::{CONTENT_TYPE, IF_NONE_MATCH, ORIGIN};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// Adds a rule for Germany and a rollout to a flag that is on, and creates an archived flag and one that is off.
async fn add_targeting(admin: &Caller<'_>, FlagEnvironment { path, .. }: &FlagEnvironment) {
    let rule = json!({ "priority": 1, "logic": "and", "value": false, "conditions": [equals("country", "DE")] });
    admin.rule(path, rule).await;
    admin.rollout(path, 100).await;
    let archived = admin.flag("archived").await;
    admin.archive(&archived).await;
    admin.flag("off").await;
}

#[tokio::test]
async fn a_bootstrap_has_evaluations_without_and_with_the_context() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    add_targeting(&admin, &checkout).await;
    let sdk = app.sdk(&checkout.sdk_key);
    for (context, enabled, reason) in [
        (json!({ "country": "DE" }), false, "targeting_rule"),
        (json!({ "userId": "ada" }), true, "rollout"),
        (json!({}), false, "rollout"),
    ] {
        let answer = sdk.post("/sdk/v1/bootstrap", json!({ "context": context }));
        let expected = json!({
            "version": 1,
            // Without a context, a rollout is skipped.
            "flags": [
                { "key": "checkout", "enabled": true, "reason": "flag_enabled", "targeted": true },
                { "key": "off", "enabled": false, "reason": "flag_disabled", "targeted": false },
            ],
            "subject": {
                "context": context,
                "flags": [{ "key": "checkout", "enabled": enabled, "reason": reason }],
            },
        });
        assert_eq!(answer.await.expect(StatusCode::OK).json(), expected);
    }
}

#[tokio::test]
async fn a_bootstrap_repeats_the_attributes_that_evaluation_reads() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let ask = async |body: Value| sdk.post("/sdk/v1/bootstrap", body).await;
    let context = json!({
        "userId": "ada", "tenantId": "acme", "email": "ada@example.com", "country": "DE",
        "customAttributes": { "plan": "premium", "seats": 4.5, "beta": true },
    });
    let whole = ask(json!({ "context": context })).await;
    let whole = whole.expect(StatusCode::OK).json();
    assert_eq!(whole["subject"]["context"], context);
    let more = json!({ "userId": null, "other": 1, "customAttributes": { "a": null, "b": "é" } });
    let more = ask(json!({ "context": more })).await.json();
    let read = json!({ "customAttributes": { "b": "é" } });
    assert_eq!(more["subject"]["context"], read);
    for absent in [
        json!({}),
        json!({ "context": null }),
        json!({ "context": {} }),
    ] {
        assert_eq!(ask(absent).await.json()["subject"]["context"], json!({}));
    }
    let wrong = json!({ "userId": 1, "customAttributes": { "a": [] } });
    let refused = ask(json!({ "context": wrong })).await;
    let faults = ["/context/userId", "/context/customAttributes/a"];
    refused.expect_faults(&faults);
}

#[tokio::test]
async fn a_bootstrap_is_sent_again_only_after_a_change() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let body = json!({ "context": { "userId": "ada" } });
    let first = sdk.post("/sdk/v1/bootstrap", body.clone()).await;
    let tag = first.expect(StatusCode::OK).header("etag").to_owned();
    let again = async || {
        let request = sdk.request(Method::POST, "/sdk/v1/bootstrap").json(&body);
        sdk.send(request.header(IF_NONE_MATCH, &tag)).await
    };
    let same = again().await.expect(StatusCode::NOT_MODIFIED);
    assert_eq!(same.header("cache-control"), "private, no-cache");
    admin.switch_on(&checkout).await;
    again().await.expect(StatusCode::OK);
}

#[tokio::test]
async fn only_a_key_that_reveals_rules_gives_access_to_a_bootstrap() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let body = json!({ "context": { "userId": "ada" } });
    for (name, client_rules) in [("web", "full"), ("hidden", "answers")] {
        let environment = json!({
            "product": "Shop", "name": name, "visibility": "public", "clientRules": client_rules,
        });
        let environment = admin.post("/environments", environment).await;
        let key = environment.expect(StatusCode::CREATED).text("/sdkKey");
        let by_header = app.sdk(&key).post("/sdk/v1/bootstrap", body.clone()).await;
        let caller = app.anonymous();
        let page = caller.request(Method::POST, &format!("/sdk/v1/public/{key}/bootstrap"));
        let page = page
            .header(CONTENT_TYPE, "text/plain;charset=UTF-8")
            .header(ORIGIN, "https://shop.example.com")
            .body(body.to_string());
        let page = caller.send(page).await;
        assert_eq!(page.header("cache-control"), "no-store");
        assert_eq!(page.header("access-control-allow-origin"), "*");
        if client_rules == "full" {
            assert_eq!(page.expect(StatusCode::OK).bytes, by_header.bytes);
        } else {
            for refused in [page, by_header] {
                refused.expect_problem(StatusCode::FORBIDDEN, "CONFIG_NOT_PUBLIC");
            }
        }
    }
}

#[tokio::test]
async fn a_request_for_a_bootstrap_counts_as_a_fetch_of_its_client() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let request = sdk.request(Method::POST, "/sdk/v1/bootstrap");
    let request = request.header("x-pennon-client", "@pennon/core/0.1.0");
    let answer = sdk.send(request.json(&json!({}))).await;
    answer.expect(StatusCode::OK);
    app.flush_usage().await;
    let clients = format!("/environments/{}/clients", checkout.environment);
    let clients = admin.get(&clients).await.json().to_string();
    assert!(clients.contains("@pennon/core"), "{clients}");
}
