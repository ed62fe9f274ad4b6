//! Previews of changes.

use pennon_tests::{TestApp, equals};
use reqwest::StatusCode;
use serde_json::{Value, json};

fn rule(priority: u32, country: &str, value: bool) -> Value {
    json!({
        "priority": priority, "logic": "and", "value": value,
        "conditions": [equals("country", country)],
    })
}

#[tokio::test]
async fn a_preview_shows_who_is_affected_and_changes_nothing() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let rules = format!("{}/rules", checkout.path);
    let created = admin.post(&rules, rule(1, "DE", false)).await;
    created.expect(StatusCode::CREATED);
    let served = app
        .sdk(&checkout.sdk_key)
        .get("/sdk/v1/config")
        .await
        .json();
    let audited = admin.audited().await;

    let viewer = app.user("vic@example.com", "viewer").await;
    let preview = format!("{}/preview", checkout.path);
    let proposal = json!({
        "rules": [rule(1, "DE", true)],
        "rollout": { "percentage": 0, "strategy": "per_user" },
        "contexts": [{ "country": "DE" }, { "country": "FR" }, { "country": "DE", "userId": "ada" }, null],
    });
    let previewed = viewer.post(&preview, proposal).await;
    let previewed = previewed.expect(StatusCode::OK).json();
    let results = |before: &str, now: bool, after: &str, then: bool| {
        json!({
            "before": { "enabled": now, "reason": before },
            "after": { "enabled": then, "reason": after },
        })
    };
    let german = results("targeting_rule", false, "targeting_rule", true);
    let other = results("flag_enabled", true, "rollout", false);
    assert_eq!(
        previewed,
        json!({
            "affected": 4, "turnedOn": 2, "turnedOff": 2, "mayTurnOn": true,
            "contexts": [german, other, german, other],
            "differences": [
                {
                    "action": "RULE_UPDATED", "ruleId": previewed["differences"][0]["ruleId"],
                    "oldValue": rule(1, "DE", false), "newValue": rule(1, "DE", true),
                },
                {
                    "action": "ROLLOUT_CONFIGURED", "ruleId": null, "oldValue": null,
                    "newValue": { "percentage": 0, "strategy": "per_user" },
                },
            ],
            "findings": [],
        })
    );
    let after = app
        .sdk(&checkout.sdk_key)
        .get("/sdk/v1/config")
        .await
        .json();
    assert_eq!(after, served);
    let audited_after = admin.audited().await;
    assert_eq!(audited_after, audited);
    app.flush_usage().await;
    let usage = admin.get(&format!("/flags/{}/usage", checkout.flag)).await;
    assert_eq!(usage.json()["environments"], json!([]));
}

#[tokio::test]
async fn a_preview_of_nothing_finds_mistakes_in_the_current_configuration() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let mut never = rule(3, "FR", true);
    let more = rule(1, "IT", true)["conditions"][0].clone();
    never["conditions"]
        .as_array_mut()
        .expect("conditions")
        .push(more);
    for rule in [rule(1, "DE", true), rule(2, "DE", false), never] {
        admin.rule(&checkout.path, rule).await;
    }
    let preview = format!("{}/preview", checkout.path);
    let previewed = admin.post(&preview, json!({})).await;
    let previewed = previewed.expect(StatusCode::OK).json();
    assert_eq!(previewed["differences"], json!([]));
    assert_eq!(previewed["mayTurnOn"], false);
    assert_eq!(previewed["affected"], 0);
    assert_eq!(
        previewed["findings"],
        json!([
            {
                "kind": "rule_never_reached", "rule": 2, "condition": null,
                "detail": "The rule with the priority 2 has no effect: the rule with the priority 1 decides for every context that it matches.",
            },
            {
                "kind": "rule_never_matches", "rule": 3, "condition": null,
                "detail": "The rule with the priority 3 matches nobody: its conditions contradict each other or can never hold.",
            },
            {
                "kind": "constant", "rule": null, "condition": null,
                "detail": "Once enabled, the flag is on for everyone: its rules and its rollout make no difference.",
            },
        ])
    );
    let proposal = json!({ "isEnabled": true, "rules": [], "rollout": null, "contexts": [{}] });
    let previewed = admin.post(&preview, proposal).await.expect(StatusCode::OK);
    let previewed = previewed.json();
    assert_eq!(previewed["findings"], json!([]));
    assert_eq!(previewed["mayTurnOn"], true);
    assert_eq!(previewed["turnedOn"], 1);
}

#[tokio::test]
async fn all_faults_of_a_proposal_are_reported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let preview = format!("{}/preview", checkout.path);
    let faulty = json!({
        "isEnabled": 1, "ttlOverrideSeconds": 0, "rules": [{ "priority": 1 }], "rollout": {},
        "contexts": [{}, { "email": "x" }, []], "more": 1,
    });
    let refused = admin.post(&preview, faulty).await;
    refused.expect_faults(&[
        "/isEnabled",
        "/ttlOverrideSeconds",
        "/rules/0/logic",
        "/rules/0/value",
        "/rules/0/conditions",
        "/rollout/percentage",
        "/rollout/strategy",
        "/contexts/1/email",
        "/contexts/2",
        "/more",
    ]);
    let same = json!({ "rules": [rule(1, "DE", true), rule(2, "FR", true), rule(1, "IT", true)] });
    let refused = admin.post(&preview, same).await;
    refused.expect_faults(&["/rules/2/priority"]);
    let many = json!({ "contexts": vec![json!({}); 1_001] });
    let refused = admin.post(&preview, many).await;
    refused.expect_faults(&["/contexts"]);
    let nowhere = format!(
        "/flags/{}/environments/{}/preview",
        checkout.flag, checkout.flag
    );
    let refused = admin.post(&nowhere, json!({ "x": 1 })).await;
    refused.expect_problem(StatusCode::NOT_FOUND, "ENVIRONMENT_NOT_FOUND");
}

#[tokio::test]
async fn archived_flags_and_outdated_clients_are_previewed() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    for _ in 0..2 {
        let sdk = app.sdk(&checkout.sdk_key);
        let request = sdk.request(reqwest::Method::GET, "/sdk/v1/config");
        let request = request.header("x-pennon-client", "@pennon/core/0.0.1");
        sdk.send(request).await.expect(StatusCode::OK);
        app.flush_usage().await;
        app.advance(3_600);
    }
    let admin = app.admin().await;
    let preview = format!("{}/preview", checkout.path);
    let proposal = json!({ "isEnabled": true, "rules": [rule(1, "DE", true)], "contexts": [{}] });
    let previewed = admin.post(&preview, proposal.clone()).await.json();
    assert_eq!(
        previewed["warnings"][0]["clients"],
        json!(["@pennon/core/0.0.1"])
    );
    admin.archive(&checkout.flag).await;
    let previewed = admin.post(&preview, proposal).await;
    let previewed = previewed.expect(StatusCode::OK).json();
    assert_eq!(previewed["contexts"][0]["after"]["reason"], "flag_archived");
    assert_eq!(previewed["mayTurnOn"], false);
}
