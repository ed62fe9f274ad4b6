//! Explanations of evaluations.

use pennon_tests::{Caller, FlagEnvironment, TestApp};
use reqwest::StatusCode;
use serde_json::{Value, json};

fn condition(attribute: &str, operator: &str, value: i64) -> Value {
    json!({ "attribute": attribute, "operator": operator, "valueType": "number", "valueInt": value })
}

/// Creates a flag that is on, with two rules and a rollout. Returns the flag and the IDs of its rules.
async fn targeted(admin: &Caller<'_>) -> (FlagEnvironment, Vec<Value>) {
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    for (priority, conditions) in [
        (
            8,
            json!([condition("seats", ">=", 10), condition("age", "!=", 3)]),
        ),
        (
            2,
            json!([condition("seats", "<", 2), condition("country", "==", 1)]),
        ),
    ] {
        let rule = json!({
            "priority": priority, "logic": "and", "value": false, "conditions": conditions,
        });
        admin.rule(&checkout.path, rule).await;
    }
    admin.rollout(&checkout.path, 50).await;
    let rules = admin.get(&format!("{}/rules", checkout.path)).await.json();
    let ids = rules.as_array().cloned().unwrap_or_default();
    let ids = ids.iter().map(|rule| rule["id"].clone()).collect();
    (checkout, ids)
}

#[tokio::test]
async fn applications_and_administrators_get_the_same_explanation() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (checkout, ids) = targeted(&admin).await;
    let context = json!({ "userId": "ada", "country": "DE", "customAttributes": { "seats": 12 } });
    let mut low = condition("seats", "<", 2);
    low["actual"] = json!(12.0);
    low["outcome"] = json!("did_not_hold");
    let mut country = condition("country", "==", 1);
    country["actual"] = json!("DE");
    country["outcome"] = json!("other_type");
    let mut high = condition("seats", ">=", 10);
    high["actual"] = json!(12.0);
    high["outcome"] = json!("held");
    let mut age = condition("age", "!=", 3);
    age["actual"] = json!(null);
    age["outcome"] = json!("missing");
    // FNV-1a of "ada" is 943263163.
    let expected = json!({
        "enabled": false, "reason": "rollout",
        "rules": [
            {
                "id": ids[0], "priority": 2, "logic": "and", "value": false, "matched": false,
                "conditions": [low, country],
            },
            {
                "id": ids[1], "priority": 8, "logic": "and", "value": false, "matched": false,
                "conditions": [high, age],
            },
        ],
        "rollout": { "strategy": "per_user", "percentage": 50, "bucket": 63 },
    });
    let question = json!({ "flagKey": "checkout", "context": context });
    let explanation = app
        .sdk(&checkout.sdk_key)
        .post("/sdk/v1/explain", question)
        .await;
    assert_eq!(explanation.expect(StatusCode::OK).json(), expected);
    let path = format!("{}/explain", checkout.path);
    let explanation = admin.post(&path, json!({ "context": context })).await;
    assert_eq!(explanation.expect(StatusCode::OK).json(), expected);
    let matching = json!({ "customAttributes": { "seats": 10, "age": 4 } });
    let explanation = admin
        .post(&path, json!({ "context": matching }))
        .await
        .json();
    assert_eq!(explanation["reason"], "targeting_rule");
    assert_eq!(explanation["rules"][1]["matched"], true);
    assert_eq!(explanation["rollout"], json!(null));
}

#[tokio::test]
async fn long_values_are_cut_because_each_condition_repeats_them() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (checkout, _) = targeted(&admin).await;
    let path = format!("{}/explain", checkout.path);
    let actual = async |country: &str| {
        let question = json!({ "context": { "country": country } });
        let explanation = admin.post(&path, question).await.expect(StatusCode::OK);
        explanation.text("/rules/0/conditions/1/actual")
    };
    let longest = "a".repeat(1024);
    assert_eq!(actual(&longest).await, longest);
    let cut = actual(&format!("a{}", "é".repeat(600))).await;
    assert_eq!(cut, format!("a{}…", "é".repeat(511)));
}

#[tokio::test]
async fn empty_contexts_and_disabled_or_archived_flags_are_explained() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (checkout, _) = targeted(&admin).await;
    let path = format!("{}/explain", checkout.path);
    for nobody in [
        json!({}),
        json!({ "context": null }),
        json!({ "context": {} }),
    ] {
        let explanation = admin
            .post(&path, nobody)
            .await
            .expect(StatusCode::OK)
            .json();
        assert_eq!(explanation["rollout"]["bucket"], json!(null));
        assert_eq!(explanation["enabled"], false);
    }
    admin.switch_off(&checkout).await;
    let explanation = admin.post(&path, json!({})).await.json();
    let off = json!({ "enabled": false, "reason": "flag_disabled", "rules": [], "rollout": null });
    assert_eq!(explanation, off);
    admin.archive(&checkout.flag).await;
    let explanation = admin.post(&path, json!({})).await.json();
    assert_eq!(explanation["reason"], "flag_archived");
}

#[tokio::test]
async fn an_explanation_is_refused_for_the_same_reasons_as_an_evaluation() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let unknown = sdk
        .post("/sdk/v1/explain", json!({ "flagKey": "nothing" }))
        .await;
    unknown.expect_problem(StatusCode::NOT_FOUND, "FLAG_NOT_FOUND");
    let key_in_body = json!({ "flagKey": "checkout", "sdkKey": checkout.sdk_key });
    let refused = app.anonymous().post("/sdk/v1/explain", key_in_body).await;
    refused.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    let path = format!("{}/explain", checkout.path);
    let bad = json!({ "context": { "email": "x", "userId": 1 }, "flagKey": "checkout" });
    let refused = admin.post(&path, bad).await;
    refused.expect_faults(&["/context/userId", "/context/email", "/flagKey"]);
    let nowhere = format!(
        "/flags/{}/environments/{}/explain",
        checkout.flag, checkout.flag
    );
    let refused = admin.post(&nowhere, json!({ "x": 1 })).await;
    refused.expect_problem(StatusCode::NOT_FOUND, "ENVIRONMENT_NOT_FOUND");
    let refused = sdk.post(&path, json!({})).await;
    refused.expect_problem(StatusCode::FORBIDDEN, "WRONG_CREDENTIAL");
    // An explanation changes nothing, so the audit log has no entry for it.
    assert_eq!(
        admin.audited().await,
        ["FLAG_CREATED", "ENVIRONMENT_CREATED"]
    );
}
