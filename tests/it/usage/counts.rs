//! Counts of what the server itself has answered, by hour.

use pennon_tests::{Browser, FlagEnvironment, LossyProxy, START, TestApp, TestDatabase};
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{HOUR, evaluate, usage};

#[tokio::test]
async fn evaluations_are_counted_by_flag_environment_hour_and_reason() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let flag = format!("/flags/{}", checkout.flag);
    evaluate(&sdk, "checkout", 3).await;
    evaluate(&sdk, "nothing", 1).await;
    let batch = json!({ "evaluations": [{ "flagKey": "checkout" }, { "flagKey": "nothing" }] });
    sdk.post("/sdk/v1/evaluate/batch", batch).await;
    admin.switch_on(&checkout).await;
    sdk.post("/ofrep/v1/evaluate/flags/checkout", json!({}))
        .await;
    // A bulk request does not show which flags are used, and an explanation is not an evaluation. Neither is counted.
    sdk.post("/ofrep/v1/evaluate/flags", json!({})).await;
    sdk.post("/sdk/v1/explain", json!({ "flagKey": "checkout" }))
        .await;
    assert_eq!(usage(&admin, &flag).await["environments"], json!([]));
    app.flush_usage().await;
    let first_hour = json!({
        "hour": HOUR, "evaluations": { "flag_disabled": 4, "flag_enabled": 1 },
        "enabled": 1, "disabled": 4,
    });
    let expected = json!({
        "from": "2026-02-28T09:00:00.000Z", "to": START,
        "environments": [{
            "environmentId": checkout.environment, "product": "shop", "environment": "prod",
            "lastEvaluatedAt": START, "hours": [first_hour],
        }],
    });
    assert_eq!(usage(&admin, &flag).await, expected);
    // A second write adds nothing, and later counts are added.
    app.flush_usage().await;
    evaluate(&sdk, "checkout", 1).await;
    app.flush_usage().await;
    app.advance(3600);
    evaluate(&sdk, "checkout", 5).await;
    app.flush_usage().await;
    let admin = app.admin().await;
    let hours = usage(&admin, &flag).await["environments"][0].clone();
    let expected = json!([
        {
            "hour": HOUR, "evaluations": { "flag_disabled": 4, "flag_enabled": 2 },
            "enabled": 2, "disabled": 4,
        },
        {
            "hour": "2026-03-01T10:00:00.000Z", "evaluations": { "flag_enabled": 5 },
            "enabled": 5, "disabled": 0,
        },
    ]);
    assert_eq!(hours["hours"], expected);
    assert_eq!(hours["lastEvaluatedAt"], "2026-03-01T10:30:00.000Z");
}

#[tokio::test]
async fn polls_are_counted_as_first_current_or_outdated() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let environment = format!("/environments/{}", checkout.environment);
    let sdk = app.sdk(&checkout.sdk_key);
    let poll = async |tag: Option<&str>| {
        let mut request = sdk.request(Method::GET, "/sdk/v1/config");
        if let Some(tag) = tag {
            request = request.header("if-none-match", tag);
        }
        sdk.send(request).await.header("etag").to_owned()
    };
    let tag = poll(None).await;
    poll(Some(&tag)).await;
    poll(Some(&tag)).await;
    let bulk = async |tag: &str| {
        let request = sdk.request(Method::POST, "/ofrep/v1/evaluate/flags");
        let request = request.json(&json!({})).header("if-none-match", tag);
        sdk.send(request).await.header("etag").to_owned()
    };
    let results = bulk("\"none\"").await;
    bulk(&results).await;
    evaluate(&sdk, "checkout", 2).await;
    admin.switch_on(&checkout).await;
    poll(Some(&tag)).await;
    // A HEAD request fetches no configuration, so it is not counted.
    let headers = sdk.request(Method::HEAD, "/sdk/v1/config");
    sdk.send(headers).await.expect(StatusCode::OK);
    app.flush_usage().await;
    let expected = json!({
        "from": "2026-02-28T09:00:00.000Z", "to": START, "lastPolledAt": START,
        "hours": [{
            "hour": HOUR, "evaluations": 2, "polls": { "first": 1, "current": 3, "outdated": 2 },
        }],
    });
    assert_eq!(usage(&admin, &environment).await, expected);
}

#[tokio::test]
async fn instances_share_hourly_counts_and_a_new_key_continues_them() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        flag,
        environment,
        sdk_key,
        ..
    } = admin.flag_environment().await;
    let other = app.beside().await;
    evaluate(&app.sdk(&sdk_key), "checkout", 2).await;
    evaluate(&other.sdk(&sdk_key), "checkout", 3).await;
    other.flush_usage().await;
    let (new, new_key) = admin.rotate_key(&environment).await;
    evaluate(&app.sdk(&new_key), "checkout", 4).await;
    app.flush_usage().await;
    // Sorts after the old environment with the old name.
    let renamed = format!("/environments/{new}");
    let renamed = admin.patch(&renamed, json!({ "name": "zone" })).await;
    renamed.expect(StatusCode::OK);
    let used = usage(&admin, &format!("/flags/{flag}")).await;
    let environments = used["environments"].as_array().cloned().unwrap_or_default();
    assert_eq!(environments.len(), 1);
    assert_eq!(environments[0]["environmentId"], new);
    assert_eq!(
        environments[0]["hours"][0]["evaluations"],
        json!({ "flag_disabled": 9 })
    );
    for id in [environment, new] {
        let used = usage(&admin, &format!("/environments/{id}")).await;
        assert_eq!(used["hours"][0]["evaluations"], 9);
    }
}

#[tokio::test]
async fn evaluations_are_counted_by_result_as_far_as_it_is_known() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    admin.switch_on(&checkout).await;
    admin.rollout(&checkout.path, 100).await;
    for context in [json!({ "userId": "ada" }), json!({ "userId": "max" })] {
        let question = json!({ "flagKey": "checkout", "context": context });
        sdk.post("/sdk/v1/evaluate", question).await;
    }
    // Without a user, the rollout excludes the subject.
    evaluate(&sdk, "checkout", 3).await;
    let counts = json!([
        { "flagKey": "checkout", "reason": "rollout", "enabled": true, "count": 10 },
        { "flagKey": "checkout", "reason": "rollout", "enabled": false, "count": 20 },
        { "flagKey": "checkout", "reason": "targeting_rule", "enabled": true, "count": 100 },
        // Without a result, or with one that contradicts the reason.
        { "flagKey": "checkout", "reason": "rollout", "count": 1000 },
        { "flagKey": "checkout", "reason": "flag_enabled", "enabled": false, "count": 10_000 },
    ]);
    for id in [json!(null), json!("6f1c2a52-0f0b-4f0e-9d5e-3b1c7a9e2d41")] {
        let reported = sdk.post("/sdk/v1/usage", json!({ "id": id, "counts": counts }));
        reported.await.expect(StatusCode::NO_CONTENT);
    }
    app.flush_usage().await;
    let expected = json!({
        "hour": HOUR,
        "evaluations": { "rollout": 2065, "targeting_rule": 200, "flag_enabled": 20_000 },
        "reported": { "rollout": 2060, "targeting_rule": 200, "flag_enabled": 20_000 },
        "enabled": 20_222,
        "disabled": 43,
    });
    let used = usage(&admin, &format!("/flags/{}", checkout.flag)).await;
    assert_eq!(used["environments"][0]["hours"][0], expected);

    let browser = Browser::signed_in(&app).await;
    let page = browser.page("/dashboard/flags/checkout/usage").await;
    for text in [
        "On: 20,222\nOff: 43\nResult unknown: 2,000\nReported by clients: 22,260",
        "result-unknown",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[tokio::test]
async fn a_period_is_at_most_31_days_and_begins_before_its_end() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    evaluate(&app.sdk(&checkout.sdk_key), "checkout", 1).await;
    app.flush_usage().await;
    let flag = format!("/flags/{}/usage", checkout.flag);
    let hours = async |query: &str| {
        let used = admin.get(&format!("{flag}?{query}")).await;
        let used = used.expect(StatusCode::OK).json();
        used["environments"][0]["hours"].as_array().map(Vec::len)
    };
    assert_eq!(
        hours("from=2026-03-01T09:59:59.999Z&to=2026-03-01T10:00:00Z").await,
        Some(1)
    );
    assert_eq!(
        hours("from=2026-03-01T10:00:00Z&to=2026-03-01T10:00:00Z").await,
        Some(0)
    );
    assert_eq!(hours("to=2026-03-01T08:59:59.999Z").await, Some(0));
    assert_eq!(hours("from=2026-01-29T09:30:00Z").await, Some(1));
    for query in ["from=2026-01-29T09:29:59Z", "from=2026-03-02T00:00:00Z"] {
        let refused = admin.get(&format!("{flag}?{query}")).await;
        refused.expect_faults(&["from"]);
    }
    let unknown = admin
        .get(&format!("/flags/{}/usage", checkout.environment))
        .await;
    unknown.expect_problem(StatusCode::NOT_FOUND, "FLAG_NOT_FOUND");
    let unknown = admin
        .get(&format!("/environments/{}/usage", checkout.flag))
        .await;
    unknown.expect_problem(StatusCode::NOT_FOUND, "ENVIRONMENT_NOT_FOUND");
}

#[tokio::test]
async fn hourly_counts_are_deleted_after_31_days_and_the_last_evaluation_is_kept() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    evaluate(&sdk, "checkout", 1).await;
    sdk.get("/sdk/v1/config").await;
    app.flush_usage().await;
    for days in [31, 1] {
        app.advance(days * 24 * 3600);
        app.flush_usage().await;
    }
    let admin = app.admin().await;
    let period = format!("?from={HOUR}&to=2026-03-02T00:00:00Z");
    let used = admin
        .get(&format!("/flags/{}/usage{period}", checkout.flag))
        .await
        .json();
    assert_eq!(used["environments"][0]["hours"], json!([]));
    assert_eq!(used["environments"][0]["lastEvaluatedAt"], START);
    let path = format!("/environments/{}/usage{period}", checkout.environment);
    let used = admin.get(&path).await.json();
    assert_eq!(used["hours"], json!([]));
    assert_eq!(used["lastPolledAt"], START);
}

#[tokio::test]
async fn counts_are_not_added_twice_after_an_unconfirmed_commit() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        // On SQLite, a commit has no network response that can get lost.
        return;
    };
    let proxy = LossyProxy::before(&database).await;
    let app = TestApp::over(proxy.database(&database)).await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    evaluate(&sdk, "checkout", 3).await;
    proxy.lose_next_commit();
    assert!(!app.try_flush_usage().await);
    evaluate(&sdk, "checkout", 2).await;
    app.flush_usage().await;
    let flag = usage(&admin, &format!("/flags/{}", checkout.flag)).await;
    let hours = &flag["environments"][0]["hours"];
    let expected = json!([
        { "hour": HOUR, "evaluations": { "flag_disabled": 5 }, "enabled": 0, "disabled": 5 },
    ]);
    assert_eq!(*hours, expected);
}

#[tokio::test]
async fn the_chart_and_the_table_agree_in_every_time_zone() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    sdk.evaluate("checkout").await;
    app.flush_usage().await;
    app.advance(23 * 60 * 60);
    sdk.evaluate("checkout").await;
    app.flush_usage().await;

    // At half past eight in UTC, an hour begins in Kolkata.
    for zone in ["UTC", "Asia/Kolkata", "Asia/Kathmandu"] {
        let mut browser = Browser::signed_in(&app).await;
        browser.cookie = format!("{}; pennon_zone={zone}", browser.cookie);
        for (period, evaluations) in [("24h", "2 evaluations"), ("7d", "2 evaluations")] {
            let path = format!("/dashboard/flags/checkout/usage?period={period}");
            let page = browser.page(&path).await;
            assert!(page.contains(evaluations), "{zone}, {period}");
            assert_eq!(page.matches("<td>2</td>").count(), 2, "{zone}, {period}");
        }
    }
}
