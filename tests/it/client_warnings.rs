//! Warnings about features that clients in use cannot read.

use pennon_tests::{Browser, Caller, TestApp, rollout};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// A client version older than the first release. It cannot read any feature.
const OLD: &str = "@pennon/core/0.0.1";

/// Makes a client count as in use in the environment: it fetches the configuration in two different hours.
async fn in_use(app: &TestApp, sdk: &Caller<'_>, client: &str) {
    for _ in 0..2 {
        sdk.fetch_as(client).await;
        app.flush_usage().await;
        app.advance(3600);
    }
}

/// Returns the warnings in a response.
fn warnings(answer: &Value) -> Vec<&str> {
    let warnings = answer["warnings"].as_array().into_iter().flatten();
    warnings
        .map(|warning| warning["detail"].as_str().unwrap_or_default())
        .collect()
}

fn rule(priority: u32) -> Value {
    json!({
        "priority": priority, "logic": "or", "value": true, "conditions": [
            { "attribute": "age", "operator": ">=", "valueType": "number", "valueInt": 18 },
        ],
    })
}

#[tokio::test]
async fn saving_a_feature_that_a_client_in_use_cannot_read_warns() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    in_use(&app, &sdk, OLD).await;
    in_use(&app, &sdk, "@pennon/react/0.0.2-rc.1").await;
    for able in ["@pennon/core/0.1.0", "@pennon/core/99.0.0", "none"] {
        in_use(&app, &sdk, able).await;
    }
    let admin = app.admin().await;
    let created = admin
        .post(&format!("{}/rules", checkout.path), rule(1))
        .await;
    let created = created.expect(StatusCode::CREATED);
    let document =
        "the config document, the logic `or`, the operator `>=` and the value type `number`";
    let expected = format!(
        "Update `@pennon/react/0.0.2-rc.1` and `@pennon/core/0.0.1`, in use within the last 7 days: they cannot read {document}."
    );
    assert_eq!(warnings(&created.json()), [&*expected]);
    let clients = json!(["@pennon/react/0.0.2-rc.1", OLD]);
    assert_eq!(created.json()["warnings"][0]["clients"], clients);
    let path = format!("/rules/{}", created.text("/id"));
    let replaced = admin.put(&path, rule(2)).await.expect(StatusCode::OK);
    assert_eq!(warnings(&replaced.json()), [&*expected]);
    let rollout = json!({ "percentage": 10, "strategy": "per_tenant" });
    let rollout = admin
        .put(&format!("{}/rollout", checkout.path), rollout)
        .await;
    let rollout = rollout.expect(StatusCode::CREATED).json();
    let named = "the value type `number` and the rollout strategy `per_tenant`.";
    assert!(warnings(&rollout)[0].ends_with(named), "{rollout}");
    // Environments that the client does not use, and responses to GET, have no warnings.
    let (other, _) = admin.environment("shop", "other").await;
    let elsewhere = format!("/flags/{}/environments/{other}", checkout.flag);
    let created = admin.post(&format!("{elsewhere}/rules"), rule(1)).await;
    assert_eq!(
        created.expect(StatusCode::CREATED).json()["warnings"],
        Value::Null
    );
    let read = admin.get(&format!("{}/rollout", checkout.path)).await;
    assert_eq!(read.expect(StatusCode::OK).json()["warnings"], Value::Null);
    // A copy, and its dry run, warn about the clients of the target environment.
    for (to, from, warned) in [
        (&checkout.environment, &other, 1),
        (&other, &checkout.environment, 0),
    ] {
        for dry_run in [true, false] {
            let path = format!(
                "/flags/{}/environments/{to}/copy-from/{from}",
                checkout.flag
            );
            let path = format!("{path}?dryRun={dry_run}");
            let copied = admin.send(admin.request(Method::POST, &path)).await;
            let copied = copied.expect(StatusCode::OK).json();
            assert_eq!(warnings(&copied).len(), warned, "{copied}");
        }
    }
}

#[tokio::test]
async fn a_version_seen_in_two_hours_causes_warnings_for_7_days() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let warned = async || {
        let admin = app.admin().await;
        let path = format!("{}/rollout", checkout.path);
        let rollout = admin.put(&path, rollout(10)).await;
        assert!(rollout.status.is_success());
        warnings(&rollout.json()).len()
    };
    for _ in 0..3 {
        sdk.fetch_as(OLD).await;
    }
    app.flush_usage().await;
    assert_eq!(warned().await, 0);
    app.advance(3600);
    sdk.fetch_as("@pennon/core/0.0.2").await;
    app.flush_usage().await;
    assert_eq!(warned().await, 0, "two versions in one hour each");
    sdk.fetch_as(OLD).await;
    app.flush_usage().await;
    assert_eq!(warned().await, 1);
    app.advance(7 * 24 * 3600 - 3600);
    assert_eq!(warned().await, 1);
    app.advance(3600);
    assert_eq!(warned().await, 0);
}

#[tokio::test]
async fn an_import_prints_warnings_about_clients_in_use() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.environment("shop", "other").await;
    let environment = |name: &str| {
        json!({
            "product": "shop", "environment": name, "isEnabled": true, "ttlOverrideSeconds": null,
            "rules": [rule(1)], "rollout": null,
        })
    };
    let document = json!({ "formatVersion": 1, "flags": [{
        "key": "checkout", "name": "checkout", "description": null, "type": "boolean", "archived": false,
        "environments": [environment("other"), environment("prod")],
    }] });
    // The command uses the system clock, which is behind the test clock.
    app.advance(50 * 365 * 24 * 3600);
    in_use(&app, &app.sdk(&checkout.sdk_key), OLD).await;
    for arguments in [&["import", "-", "--dry-run"][..], &["import", "-"]] {
        let ran = app
            .command_with_input(arguments, &document.to_string())
            .await;
        let printed = ran.stderr.clone();
        ran.expect_success();
        let expected = "warning: shop/prod: Update `@pennon/core/0.0.1`, in use within the last 7 days: it cannot read the \
                        config document, the logic `or`, the operator `>=` and the value type `number`.";
        assert!(printed.contains(expected), "{printed}");
        assert!(!printed.contains("shop/other"), "{printed}");
    }
    let again = app
        .command_with_input(&["import", "-"], &document.to_string())
        .await;
    assert!(!again.stderr.contains("warning"), "{}", again.stderr);
}

#[tokio::test]
async fn a_plan_names_a_client_once_for_flags_with_the_same_features() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, key) = admin.environment("shop", "prod").await;
    let flags = [admin.flag("a").await, admin.flag("b").await];
    in_use(&app, &app.sdk(&key), OLD).await;
    let enable = json!({ "action": "enable", "environmentId": environment, "flagIds": flags });
    let admin = app.admin().await;
    let planned = admin.post("/flags/bulk?dryRun=true", enable).await;
    let planned = planned.expect(StatusCode::OK).json();
    assert_eq!(planned["changes"].as_array().map(Vec::len), Some(2));
    let expected = format!(
        "Update `{OLD}`, in use within the last 7 days: it cannot read the config document."
    );
    assert_eq!(warnings(&planned), [&*expected]);
}

#[tokio::test]
async fn the_dashboard_warns_about_clients_in_use_before_saving() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let (other, _) = admin.environment("shop", "other").await;
    let elsewhere = format!("/flags/{}/environments/{other}", checkout.flag);
    admin.rule(&elsewhere, rule(1)).await;
    let created = admin.rule(&checkout.path, rule(1)).await;
    let deleted = admin.delete(&format!("/rules/{created}")).await;
    deleted.expect(StatusCode::NO_CONTENT);
    let entries = admin.get("/audit").await.json();
    let deletion = entries["items"][0]["id"].as_str().unwrap_or_default();
    let preview = json!({
        "flag": checkout.flag, "environment": checkout.environment, "change": "NewRule",
        "fields": "value=true&logic=and&attribute=age&operator=%3E&valueType=number&operand=18",
    });
    let copy = format!(
        "/dashboard/flags/checkout?environment={other}&edit=copy&to={}",
        checkout.environment
    );
    let revert = format!("/dashboard/audit/{deletion}");
    let shown = async || {
        let browser = Browser::signed_in(&app).await;
        let preview = browser.call("preview", &preview).await;
        let pages = [
            preview,
            browser.get(&copy).await,
            browser.get(&revert).await,
        ];
        pages.map(|page| page.expect(StatusCode::OK).body())
    };
    let warns = |page: &String| {
        page.contains("<code>@pennon/core/0.0.1</code>") && page.contains("it cannot read")
    };
    let before = shown().await;
    assert_eq!(before.each_ref().map(warns), [false; 3], "{before:?}");
    in_use(&app, &app.sdk(&checkout.sdk_key), OLD).await;
    let after = shown().await;
    assert_eq!(after.each_ref().map(warns), [true; 3], "{after:?}");
    assert!(after[0].contains("<code>&gt;</code>"), "{}", after[0]);
}
