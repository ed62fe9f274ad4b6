//! Copying a flag's configuration from one environment to another.

use pennon_tests::{Caller, FlagEnvironment, TestApp, UNKNOWN_ID, equals, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

fn rule_for(priority: usize, country: &str) -> Value {
    rule(priority, equals("country", country))
}

/// The same flag in another environment, and that environment's SDK key.
struct Other {
    path: String,
    id: String,
    sdk_key: String,
}

/// Creates a flag with different configurations in `prod` and `staging`.
async fn two_configurations(admin: &Caller<'_>) -> (FlagEnvironment, Other) {
    let checkout = admin.flag_environment().await;
    let (id, sdk_key) = admin.environment("shop", "staging").await;
    let path = format!("/flags/{}/environments/{id}", checkout.flag);
    for (path, rules, percentage) in [
        (
            &checkout.path,
            [rule_for(1, "DE"), rule_for(2, "AT"), rule_for(4, "CH")],
            10,
        ),
        (
            &path,
            [rule_for(1, "DE"), rule_for(2, "FR"), rule_for(3, "IT")],
            20,
        ),
    ] {
        for rule in rules {
            admin.rule(path, rule).await;
        }
        admin.rollout(path, percentage).await;
    }
    let settings = json!({ "isEnabled": true, "ttlOverrideSeconds": 7 });
    let configured = admin.put(&path, settings).await;
    configured.expect(StatusCode::NO_CONTENT);
    (checkout, Other { path, id, sdk_key })
}

/// Returns the config document of an environment.
async fn served(app: &TestApp, key: &str) -> Value {
    let config = app.sdk(key).get("/sdk/v1/config").await;
    config.expect(StatusCode::OK).json()
}

#[tokio::test]
async fn a_dry_run_lists_the_differences_and_changes_nothing() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (checkout, other) = two_configurations(&admin).await;
    let before = (served(&app, &checkout.sdk_key).await, admin.audited().await);
    let path = format!("{}/copy-from/{}?dryRun=true", checkout.path, other.id);
    let rules = admin.get(&format!("{}/rules", checkout.path)).await.json();
    let answer = admin.request(Method::POST, &path);
    let answer = admin.send(answer).await.expect(StatusCode::OK).json();
    let differences = json!([
        {
            "action": "FLAG_ENVIRONMENT_UPDATED", "ruleId": null,
            "oldValue": { "isEnabled": false, "ttlOverrideSeconds": null },
            "newValue": { "isEnabled": true, "ttlOverrideSeconds": 7 },
        },
        {
            "action": "RULE_UPDATED", "ruleId": rules[1]["id"],
            "oldValue": rule_for(2, "AT"), "newValue": rule_for(2, "FR"),
        },
        {
            "action": "RULE_DELETED", "ruleId": rules[2]["id"],
            "oldValue": rule_for(4, "CH"), "newValue": null,
        },
        { "action": "RULE_CREATED", "ruleId": null, "oldValue": null, "newValue": rule_for(3, "IT") },
        {
            "action": "ROLLOUT_CONFIGURED", "ruleId": null,
            "oldValue": { "percentage": 10, "strategy": "per_user" },
            "newValue": { "percentage": 20, "strategy": "per_user" },
        },
    ]);
    assert_eq!(
        answer,
        json!({ "dryRun": true, "differences": differences })
    );
    let after = (served(&app, &checkout.sdk_key).await, admin.audited().await);
    assert_eq!(before, after);
}

#[tokio::test]
async fn after_a_copy_both_environments_serve_the_same_and_each_change_is_audited() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (checkout, other) = two_configurations(&admin).await;
    let path = format!("{}/copy-from/{}", checkout.path, other.id);
    let copied = admin.send(admin.request(Method::POST, &path)).await;
    let copied = copied.expect(StatusCode::OK).json();
    assert_eq!(copied["dryRun"], false);
    let actions: Vec<&Value> = copied["differences"]
        .as_array()
        .map(|differences| differences.iter().map(|one| &one["action"]).collect())
        .unwrap_or_default();
    let mut audited = admin.audited().await;
    audited.truncate(5);
    audited.reverse();
    assert_eq!(actions, audited.iter().collect::<Vec<_>>());
    assert_eq!(
        served(&app, &checkout.sdk_key).await,
        served(&app, &other.sdk_key).await
    );
    let again = admin.send(admin.request(Method::POST, &path)).await;
    assert_eq!(
        again.expect(StatusCode::OK).json()["differences"],
        json!([])
    );
    // A copy in the opposite direction deletes everything that the source does not have.
    let rollout = format!("{}/rollout", other.path);
    admin.delete(&rollout).await.expect(StatusCode::NO_CONTENT);
    admin.send(admin.request(Method::POST, &path)).await;
    assert_eq!(
        admin.audited().await[..2],
        ["ROLLOUT_DELETED", "ROLLOUT_DELETED"]
    );
    assert_eq!(
        served(&app, &checkout.sdk_key).await,
        served(&app, &other.sdk_key).await
    );
}

#[tokio::test]
async fn a_part_of_a_configuration_can_be_copied_alone() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (checkout, other) = two_configurations(&admin).await;
    for (part, expected) in [
        ("switch", vec!["FLAG_ENVIRONMENT_UPDATED"]),
        ("ttl", vec!["FLAG_ENVIRONMENT_UPDATED"]),
        ("rollout", vec!["ROLLOUT_CONFIGURED"]),
        (
            "rules",
            vec!["RULE_UPDATED", "RULE_DELETED", "RULE_CREATED"],
        ),
    ] {
        let path = format!("{}/copy-from/{}?part={part}", checkout.path, other.id);
        let before = served(&app, &checkout.sdk_key).await;
        let copied = admin.send(admin.request(Method::POST, &path)).await;
        let copied = copied.expect(StatusCode::OK).json();
        let differences = copied["differences"].as_array().expect("a list").iter();
        let actions: Vec<&Value> = differences.map(|one| &one["action"]).collect();
        assert_eq!(actions, expected, "{part}");
        let after = served(&app, &checkout.sdk_key).await;
        let member = match part {
            "switch" => "enabled",
            "ttl" => "ttlOverrideSeconds",
            part => part,
        };
        for (name, value) in after["flags"][0].as_object().expect("a flag") {
            let is_same = before["flags"][0][name] == *value;
            assert_eq!(is_same, name != member, "{part}: {name}");
        }
    }
    assert_eq!(
        served(&app, &checkout.sdk_key).await["flags"],
        served(&app, &other.sdk_key).await["flags"]
    );
    let path = format!("{}/copy-from/{}?part=all", checkout.path, other.id);
    let refused = admin.send(admin.request(Method::POST, &path)).await;
    refused.expect(StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_copy_needs_two_existing_environments_and_a_writable_target() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (checkout, other) = two_configurations(&admin).await;
    let post = async |path: String| admin.send(admin.request(Method::POST, &path)).await;
    let copy = |from: &str| format!("{}/copy-from/{from}", checkout.path);
    for unknown in ["x", UNKNOWN_ID] {
        let refused = post(copy(unknown)).await;
        refused.expect_problem(StatusCode::NOT_FOUND, "ENVIRONMENT_NOT_FOUND");
    }
    let seen = admin.get(&format!("{}/rules", checkout.path)).await;
    admin.switch_on(&checkout).await;
    let stale = admin.request(Method::POST, &copy(&other.id));
    let stale = stale.header("if-match", seen.header("etag"));
    let refused = admin.send(stale).await;
    refused.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
    let refused = post(copy(&other.id) + "?dryRun=yes").await;
    refused.expect_faults(&["dryRun"]);
    // A copy onto itself changes nothing.
    let same = post(copy(&checkout.environment))
        .await
        .expect(StatusCode::OK);
    assert_eq!(same.json()["differences"], json!([]));
    // A revoked environment can be the source of a copy, but not the target.
    let revoke = format!("/environments/{}/revoke", other.id);
    post(revoke).await.expect(StatusCode::OK);
    let refused = post(format!("{}/copy-from/{}", other.path, checkout.environment)).await;
    refused.expect_problem(StatusCode::CONFLICT, "ENVIRONMENT_REVOKED");
    post(copy(&other.id)).await.expect(StatusCode::OK);
    admin.switch_off(&checkout).await;
    admin.archive(&checkout.flag).await;
    let refused = post(copy(&other.id)).await;
    refused.expect_problem(StatusCode::CONFLICT, "FLAG_ARCHIVED");
}
