//! What goes on without the database, and what does not.

use pennon_tests::{Pair, TestApp, eventually};
use reqwest::StatusCode;
use serde_json::json;

#[tokio::test]
async fn evaluation_goes_on_without_the_database_and_administration_says_when_to_come_back() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let Pair {
        flag,
        environment,
        sdk_key,
        ..
    } = admin.pair().await;
    admin.switch(&flag, &environment, true).await;
    let sdk = app.sdk(&sdk_key);
    let tag = sdk
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::OK)
        .header("etag")
        .to_owned();
    app.watch();
    app.lose_database().await;
    eventually("health is degraded", async || {
        app.anonymous()
            .get("/health")
            .await
            .expect(StatusCode::OK)
            .text("/status")
            == "degraded"
    })
    .await;
    app.anonymous()
        .get("/health/ready")
        .await
        .expect(StatusCode::OK);

    let answer = sdk
        .post("/sdk/v1/evaluate", json!({ "flagKey": "checkout" }))
        .await;
    assert_eq!(answer.expect(StatusCode::OK).json()["enabled"], true);
    let document = sdk.get("/sdk/v1/config").await.expect(StatusCode::OK);
    assert_eq!(document.header("etag"), tag);

    for answer in [
        admin.get("/flags").await,
        admin.post("/flags", json!({})).await,
        app.sdk("pnk_that_may_be_new").get("/sdk/v1/config").await,
    ] {
        let answer = answer.expect_problem(StatusCode::SERVICE_UNAVAILABLE, "DATABASE_UNAVAILABLE");
        assert_eq!(answer.header("retry-after"), "5");
    }
    app.sdk("")
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_broken_row_disables_its_flag_and_nothing_else() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let Pair {
        flag,
        environment,
        sdk_key,
        path,
    } = admin.pair().await;
    admin.switch(&flag, &environment, true).await;
    let rule = json!({
        "priority": 1, "logic": "and", "value": true,
        "conditions": [{ "attribute": "vip", "operator": "==", "valueType": "boolean", "valueBool": true }],
    });
    admin
        .post(&format!("{path}/rules"), rule)
        .await
        .expect(StatusCode::CREATED);
    let (other, other_key) = admin.environment("shop", "other").await;
    app.tamper(r#"update rules set conditions = '{"broken": true}'"#)
        .await;

    admin
        .put(&path, json!({ "ttlOverrideSeconds": 5 }))
        .await
        .expect(StatusCode::NO_CONTENT);
    let answer = app
        .sdk(&sdk_key)
        .post("/sdk/v1/evaluate", json!({ "flagKey": "checkout" }))
        .await;
    assert_eq!(
        answer.expect(StatusCode::OK).json()["reason"],
        "flag_disabled"
    );
    let revoke = format!("/environments/{other}/revoke");
    admin.post(&revoke, json!({})).await.expect(StatusCode::OK);
    app.sdk(&other_key)
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::UNAUTHORIZED);
    let restarted = app.beside().await;
    restarted
        .sdk(&sdk_key)
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::OK);
}
