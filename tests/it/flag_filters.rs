//! Filters of the list of flags by state and by use.

use pennon_tests::{Caller, TestApp, UNKNOWN_ID};
use reqwest::StatusCode;
use serde_json::{Value, json};

const DAY: i64 = 24 * 60 * 60;

/// Returns the listed flags.
async fn list(caller: &Caller<'_>, query: &str) -> Vec<Value> {
    let answer = caller.get(&format!("/flags?{query}")).await;
    let list = answer.expect(StatusCode::OK).json();
    let items = list["items"].as_array().cloned().unwrap_or_default();
    assert_eq!(list["pagination"]["total"], items.len(), "{query}");
    items
}

/// Returns the keys of the listed flags.
async fn keys(caller: &Caller<'_>, query: &str) -> Vec<String> {
    let flags = list(caller, query).await;
    let key = |flag: &Value| flag["key"].as_str().unwrap_or_default().to_owned();
    flags.iter().map(key).collect()
}

#[tokio::test]
async fn flags_are_filtered_by_state_and_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (staging, _) = admin.environment("shop", "staging").await;
    let (blog, _) = admin.environment("blog", "production").await;
    for key in ["off", "on", "partly"] {
        let flag = admin.flag(key).await;
        if key != "off" {
            admin.switch(&flag, &staging, true).await;
        }
        if key == "partly" {
            let path = format!("/flags/{flag}/environments/{staging}");
            admin.rollout(&path, 25).await;
        }
    }
    let shop = json!({ "key": "shop", "name": "Shop", "type": "boolean", "products": ["shop"] });
    admin.post("/flags", shop).await.expect(StatusCode::CREATED);
    let there = format!("environment={staging}&sort=key");
    for (query, expected) in [
        (format!("{there}&state=on"), vec!["on"]),
        (format!("{there}&state=off"), vec!["off", "shop"]),
        (format!("{there}&state=partly"), vec!["partly"]),
        (format!("{there}&state=off&q=O"), vec!["off", "shop"]),
        (format!("{there}&state=off&key=off"), vec!["off"]),
        (format!("environment={blog}&state=on"), vec![]),
        (
            format!("environment={blog}&sort=key"),
            vec!["off", "on", "partly"],
        ),
        // Two independent conditions.
        (
            format!("environment={blog}&product=shop&sort=key"),
            vec!["off", "on", "partly"],
        ),
        ("state=on".to_owned(), vec!["on"]),
        ("state=on&product=blog".to_owned(), vec![]),
        (
            "state=off&product=blog&sort=key".to_owned(),
            vec!["off", "on", "partly"],
        ),
        ("state=on&archived=true".to_owned(), vec![]),
    ] {
        assert_eq!(keys(&admin, &query).await, expected, "{query}");
    }
    let page = admin
        .get("/flags?state=off&sort=key&limit=1&page=2")
        .await
        .json();
    assert_eq!(page["items"][0]["key"], "on");
    assert_eq!(page["pagination"]["total"], 4);

    admin.revoke(&blog).await;
    for (query, faults) in [
        (format!("environment={blog}"), vec!["environment"]),
        (format!("environment={UNKNOWN_ID}"), vec!["environment"]),
        (
            "environment=prod&state=maybe&stale=yes&include=all&sort=luck".to_owned(),
            vec!["sort", "environment", "state", "stale", "include"],
        ),
    ] {
        let refused = admin.get(&format!("/flags?{query}")).await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(refused.faults(), faults, "{query}");
    }
}

#[tokio::test]
async fn stale_flags_and_the_last_evaluation_are_listed() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (staging, staging_key) = admin.environment("shop", "staging").await;
    let (production, key) = admin.environment("shop", "production").await;
    for key in ["never", "targeted", "unused"] {
        let flag = admin.flag(key).await;
        if key != "never" {
            admin.switch(&flag, &staging, true).await;
        }
    }
    assert!(keys(&admin, "stale=true").await.is_empty(), "all are new");
    app.advance(31 * DAY);
    let admin = app.admin().await;
    for (sdk_key, flag) in [
        (&key, "never"),
        (&staging_key, "targeted"),
        (&key, "targeted"),
    ] {
        let question = json!({ "flagKey": flag });
        let evaluated = app.sdk(sdk_key).post("/sdk/v1/evaluate", question).await;
        evaluated.expect(StatusCode::OK);
        app.flush_usage().await;
        app.advance(60);
    }
    assert_eq!(keys(&admin, "stale=true").await, ["unused", "never"]);
    assert_eq!(keys(&admin, "stale=false").await, ["targeted"]);
    assert_eq!(keys(&admin, "stale=true&state=on").await, ["unused"]);
    assert_eq!(
        keys(&admin, "stale=true&q=nev&archived=false").await,
        ["never"]
    );
    let there = format!("stale=true&environment={production}&state=on");
    assert!(keys(&admin, &there).await.is_empty());

    let plain = list(&admin, "sort=key").await;
    assert!(plain.iter().all(|flag| flag.get("usage").is_none()));
    let usage: Vec<Value> = list(&admin, "sort=key&include=usage").await;
    let usage: Vec<&Value> = usage.iter().map(|flag| &flag["usage"]).collect();
    let used = |time: &str, stale: Value| json!({ "lastEvaluatedAt": time, "stale": stale });
    let never = used("2026-04-01T09:30:00.000Z", json!("constant"));
    let unused = json!({ "lastEvaluatedAt": null, "stale": "unused" });
    let targeted = used("2026-04-01T09:32:00.000Z", json!(null));
    assert_eq!(usage, [&never, &targeted, &unused]);
    let there = format!("environment={staging}&include=usage&key=targeted");
    let usage = list(&admin, &there).await[0]["usage"].clone();
    assert_eq!(usage, used("2026-04-01T09:31:00.000Z", json!(null)));

    let oldest = keys(&admin, "sort=lastEvaluatedAt").await;
    assert_eq!(oldest, ["unused", "never", "targeted"]);
    let newest = keys(&admin, "sort=-lastEvaluatedAt&archived=false").await;
    assert_eq!(newest, ["targeted", "never", "unused"]);
    let there = format!("sort=-lastEvaluatedAt&stale=true&environment={production}");
    assert_eq!(keys(&admin, &there).await, ["never", "unused"]);
}
