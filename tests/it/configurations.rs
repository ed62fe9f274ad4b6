//! Configurations of flags in environments.

use pennon_tests::{FlagEnvironment, TestApp, UNKNOWN_ID};
use reqwest::StatusCode;
use serde_json::json;

#[tokio::test]
async fn absent_members_keep_their_value_and_null_removes_the_override() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let path = admin.flag_environment().await.path;
    for (body, enabled, ttl) in [
        (
            json!({ "isEnabled": true, "ttlOverrideSeconds": 31_536_000 }),
            true,
            json!(31_536_000),
        ),
        (json!({ "isEnabled": false }), false, json!(31_536_000)),
        (json!({ "ttlOverrideSeconds": 1 }), false, json!(1)),
        (json!({}), false, json!(1)),
        (json!({ "ttlOverrideSeconds": null }), false, json!(null)),
    ] {
        let answer = admin.put(&path, body).await.expect(StatusCode::NO_CONTENT);
        assert!(answer.bytes.is_empty());
        let configuration = admin.get(&path).await.json();
        assert_eq!(configuration["isEnabled"], enabled);
        assert_eq!(configuration["ttlOverrideSeconds"], ttl);
    }
}

#[tokio::test]
async fn a_change_without_effect_is_not_audited() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    for body in [
        json!({}),
        json!({ "isEnabled": false }),
        json!({ "ttlOverrideSeconds": null }),
    ] {
        admin
            .put(&checkout.path, body)
            .await
            .expect(StatusCode::NO_CONTENT);
    }
    admin.switch_on(&checkout).await;
    admin.switch_on(&checkout).await;
    assert_eq!(
        admin.audited().await,
        [
            "FLAG_ENVIRONMENT_UPDATED",
            "FLAG_CREATED",
            "ENVIRONMENT_CREATED"
        ]
    );
}

#[tokio::test]
async fn every_invalid_member_is_reported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let path = admin.flag_environment().await.path;
    for ttl in [
        json!(0),
        json!(-1),
        json!(31_536_001),
        json!(1.5),
        json!("60"),
        json!(1e300),
    ] {
        let body = json!({ "isEnabled": null, "ttlOverrideSeconds": ttl, "enabled": true });
        let answer = admin
            .put(&path, body)
            .await
            .expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(
            answer.faults(),
            ["/isEnabled", "/ttlOverrideSeconds", "/enabled"]
        );
    }
}

#[tokio::test]
async fn a_missing_flag_or_environment_is_named_before_the_body_is_read() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        flag, environment, ..
    } = admin.flag_environment().await;
    for (path, code) in [
        (
            format!("/flags/{UNKNOWN_ID}/environments/{environment}"),
            "FLAG_NOT_FOUND",
        ),
        (
            format!("/flags/x/environments/{environment}"),
            "FLAG_NOT_FOUND",
        ),
        (
            format!("/flags/{flag}/environments/{UNKNOWN_ID}"),
            "ENVIRONMENT_NOT_FOUND",
        ),
        (
            format!("/flags/{flag}/environments/{flag}"),
            "ENVIRONMENT_NOT_FOUND",
        ),
    ] {
        admin
            .get(&path)
            .await
            .expect_problem(StatusCode::NOT_FOUND, code);
        admin
            .put(&path, json!("not even an object"))
            .await
            .expect_problem(StatusCode::NOT_FOUND, code);
        admin
            .get(&format!("{path}/rules"))
            .await
            .expect_problem(StatusCode::NOT_FOUND, code);
        admin
            .post(&format!("{path}/rules"), json!(0))
            .await
            .expect_problem(StatusCode::NOT_FOUND, code);
        admin
            .get(&format!("{path}/rollout"))
            .await
            .expect_problem(StatusCode::NOT_FOUND, code);
        admin
            .put(&format!("{path}/rollout"), json!(0))
            .await
            .expect_problem(StatusCode::NOT_FOUND, code);
    }
}
