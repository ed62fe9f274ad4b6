//! Counts of evaluations and polls.

use pennon_tests::{Browser, Caller, FlagEnvironment, LossyProxy, START, TestApp, TestDatabase};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// The hour in which every test service starts.
const HOUR: &str = "2026-03-01T09:00:00.000Z";

async fn evaluate(sdk: &Caller<'_>, key: &str, times: usize) {
    for _ in 0..times {
        sdk.evaluate(key).await;
    }
}

async fn usage(admin: &Caller<'_>, path: &str) -> Value {
    let answer = admin.get(&format!("{path}/usage")).await;
    answer.expect(StatusCode::OK).json()
}

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
            "hour": HOUR, "evaluations": 2, "polls": { "first": 1, "current": 2, "outdated": 1 },
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
async fn applications_can_report_local_evaluations() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let counts = json!([
        { "flagKey": "checkout", "reason": "rollout", "count": 1_000_000_000 },
        { "flagKey": "checkout", "reason": "rollout", "count": 1, "more": true },
        { "flagKey": "nothing", "reason": "rollout", "count": 7 },
    ]);
    let reported = sdk.post("/sdk/v1/usage", json!({ "counts": counts })).await;
    reported.expect(StatusCode::NO_CONTENT);
    app.flush_usage().await;
    let used = usage(&admin, &format!("/flags/{}", checkout.flag)).await;
    let hours = &used["environments"][0]["hours"];
    assert_eq!(hours[0]["evaluations"], json!({ "rollout": 1_000_000_001 }));
    let counts = json!([
        1,
        { "flagKey": 1, "reason": "x", "count": 0 },
        { "flagKey": "checkout", "reason": "rollout", "count": 0.5 },
        { "flagKey": "checkout", "reason": "rollout", "count": 1_000_000_001 },
        { "flagKey": "checkout" },
        { "flagKey": "checkout", "reason": "rollout", "enabled": "true", "count": 1 },
    ]);
    let refused = sdk.post("/sdk/v1/usage", json!({ "counts": counts })).await;
    let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    let expected = [
        "/counts/0",
        "/counts/1/flagKey",
        "/counts/1/reason",
        "/counts/1/count",
        "/counts/2/count",
        "/counts/3/count",
        "/counts/4/reason",
        "/counts/4/count",
        "/counts/5/enabled",
    ];
    assert_eq!(refused.faults(), expected);
    for bad in [json!({}), json!({ "counts": [] }), json!({ "counts": 1 })] {
        let refused = sdk.post("/sdk/v1/usage", bad).await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(refused.faults(), ["/counts"]);
    }
    let refused = app
        .anonymous()
        .post("/sdk/v1/usage", json!({ "counts": [] }))
        .await;
    refused.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
}

#[tokio::test]
async fn a_report_with_an_id_counts_once_across_all_instances() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let other = app.beside().await;
    let (here, there) = (app.sdk(&checkout.sdk_key), other.sdk(&checkout.sdk_key));
    let report = async |sdk: &Caller<'_>, id: &str, count: u32| {
        let counts = json!([{ "flagKey": "checkout", "reason": "rollout", "count": count }]);
        let report = json!({ "id": id, "counts": counts });
        let reported = sdk.post("/sdk/v1/usage", report).await;
        reported.expect(StatusCode::NO_CONTENT);
    };
    let counted = async || {
        let used = usage(&admin, &format!("/flags/{}", checkout.flag)).await;
        used["environments"][0]["hours"][0]["evaluations"]["rollout"].clone()
    };
    let (first, second) = (
        "6f1c2a52-0f0b-4f0e-9d5e-3b1c7a9e2d41",
        "6F1C2A52-0F0B-4F0E-9D5E-3B1C7A9E2D42",
    );
    // Twice to one instance and once to another, before either has written its counts.
    report(&here, first, 1).await;
    report(&here, first, 1).await;
    report(&there, first, 1).await;
    report(&there, second, 10).await;
    app.flush_usage().await;
    other.flush_usage().await;
    assert_eq!(counted().await, 11);
    // Once more after it was counted, together with counts without an ID.
    report(&there, first, 1).await;
    let counts = json!([{ "flagKey": "checkout", "reason": "rollout", "count": 100 }]);
    here.post("/sdk/v1/usage", json!({ "id": null, "counts": counts }))
        .await
        .expect(StatusCode::NO_CONTENT);
    app.flush_usage().await;
    other.flush_usage().await;
    assert_eq!(counted().await, 111);
}

#[tokio::test]
async fn report_ids_are_remembered_for_an_hour_per_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let path = "/environments";
    let other = json!({ "product": "shop", "name": "other" });
    let other = admin.post(path, other).await.expect(StatusCode::CREATED);
    let report = json!({
        "id": "6f1c2a52-0f0b-4f0e-9d5e-3b1c7a9e2d41",
        "counts": [{ "flagKey": "checkout", "reason": "rollout", "count": 1 }],
    });
    let counted = async |sdk_key: &str| {
        let reported = app.sdk(sdk_key).post("/sdk/v1/usage", report.clone()).await;
        reported.expect(StatusCode::NO_CONTENT);
        app.flush_usage().await;
        let admin = app.admin().await;
        let used = usage(&admin, &format!("/flags/{}", checkout.flag)).await;
        let used = used["environments"].as_array().cloned().unwrap_or_default();
        let hours = used.iter().filter_map(|each| each["hours"].as_array());
        let counts = hours.flatten().map(|hour| &hour["evaluations"]["rollout"]);
        counts.filter_map(Value::as_u64).sum::<u64>()
    };
    assert_eq!(counted(&checkout.sdk_key).await, 1);
    assert_eq!(counted(&other.text("/sdkKey")).await, 2);
    app.advance(3599);
    assert_eq!(counted(&checkout.sdk_key).await, 2);
    // The IDs are deleted together with other old rows, at the first write in the next hour.
    app.advance(3600);
    app.flush_usage().await;
    assert_eq!(counted(&checkout.sdk_key).await, 3);
}

#[tokio::test]
async fn reported_evaluations_are_part_of_the_count_and_shown_apart() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let flag = format!("/flags/{}", checkout.flag);
    evaluate(&sdk, "checkout", 3).await;
    app.flush_usage().await;
    let hour = usage(&admin, &flag).await["environments"][0]["hours"][0].clone();
    assert_eq!(
        hour,
        json!({ "hour": HOUR, "evaluations": { "flag_disabled": 3 }, "enabled": 0, "disabled": 3 })
    );
    let counts = json!([
        { "flagKey": "checkout", "reason": "flag_disabled", "count": 4 },
        { "flagKey": "checkout", "reason": "rollout", "count": 5 },
    ]);
    for id in [json!(null), json!("6f1c2a52-0f0b-4f0e-9d5e-3b1c7a9e2d41")] {
        let reported = sdk.post("/sdk/v1/usage", json!({ "id": id, "counts": counts }));
        reported.await.expect(StatusCode::NO_CONTENT);
    }
    app.flush_usage().await;
    let hour = usage(&admin, &flag).await["environments"][0]["hours"][0].clone();
    let expected = json!({
        "hour": HOUR,
        "evaluations": { "flag_disabled": 11, "rollout": 10 },
        "reported": { "flag_disabled": 8, "rollout": 10 },
        "enabled": 0,
        "disabled": 11,
    });
    assert_eq!(hour, expected);
    let environment = format!("/environments/{}", checkout.environment);
    let expected = json!([{
        "hour": HOUR, "evaluations": 21, "reported": 18,
        "polls": { "first": 0, "current": 0, "outdated": 0 },
    }]);
    assert_eq!(usage(&admin, &environment).await["hours"], expected);
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
async fn the_reports_of_an_hour_are_limited_by_flag_and_environment_across_all_instances() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let flag = json!({ "key": "banner", "name": "Banner", "type": "boolean" });
    let banner = admin.post("/flags", flag).await.expect(StatusCode::CREATED);
    let other = app.beside().await;
    let report = async |app: &TestApp, key: &str, reason: &str, count: u32| {
        let counts = json!([{ "flagKey": key, "reason": reason, "count": count }]);
        let sdk = app.sdk(&checkout.sdk_key);
        let reported = sdk.post("/sdk/v1/usage", json!({ "counts": counts })).await;
        reported.expect(StatusCode::NO_CONTENT);
        app.flush_usage().await;
    };
    report(&app, "checkout", "rollout", 1_000_000_000).await;
    report(&other, "checkout", "flag_enabled", 900_000_000).await;
    report(&app, "checkout", "rollout", 200_000_000).await;
    report(&other, "checkout", "flag_disabled", 1).await;
    report(&app, "banner", "rollout", 7).await;
    evaluate(&app.sdk(&checkout.sdk_key), "checkout", 2).await;
    app.flush_usage().await;
    let hours = async |flag: &str| {
        let admin = app.admin().await;
        usage(&admin, &format!("/flags/{flag}")).await["environments"][0]["hours"].clone()
    };
    let evaluations = json!({
        "flag_enabled": 900_000_000, "rollout": 1_100_000_000, "flag_disabled": 2,
    });
    let first = hours(&checkout.flag).await[0].clone();
    assert_eq!(first["evaluations"], evaluations);
    let reported = json!({ "flag_enabled": 900_000_000, "rollout": 1_100_000_000 });
    assert_eq!(first["reported"], reported);
    let banner = hours(&banner.text("/id")).await;
    assert_eq!(banner[0]["evaluations"], json!({ "rollout": 7 }));
    app.advance(3600);
    report(&app, "checkout", "rollout", 5).await;
    let next = hours(&checkout.flag).await[1].clone();
    assert_eq!(next["reported"], json!({ "rollout": 5 }));
}

#[tokio::test]
async fn reports_with_the_key_of_a_public_environment_count_tenfold() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let web = json!({ "product": "shop", "name": "web", "visibility": "public" });
    let web = admin.post("/environments", web).await;
    let web = web.expect(StatusCode::CREATED);
    let flag = json!({ "key": "banner", "name": "Banner", "type": "boolean", "public": true });
    let flag = admin.post("/flags", flag).await.expect(StatusCode::CREATED);
    let sdk = app.sdk(&web.text("/sdkKey"));
    let counts = json!([{ "flagKey": "banner", "reason": "rollout", "count": 3 }]);
    for id in [json!(null), json!("6f1c2a52-0f0b-4f0e-9d5e-3b1c7a9e2d41")] {
        let reported = sdk.post("/sdk/v1/usage", json!({ "id": id, "counts": counts }));
        reported.await.expect(StatusCode::NO_CONTENT);
    }
    evaluate(&sdk, "banner", 1).await;
    app.flush_usage().await;
    let used = usage(&admin, &format!("/flags/{}", flag.text("/id"))).await;
    let hour = &used["environments"][0]["hours"][0];
    assert_eq!(hour["reported"], json!({ "rollout": 60 }));
    assert_eq!(
        hour["evaluations"],
        json!({ "flag_disabled": 1, "rollout": 60 })
    );
}

#[tokio::test]
async fn the_chart_shows_reported_evaluations_apart() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let page = async || {
        app.flush_usage().await;
        let browser = Browser::signed_in(&app).await;
        browser
            .page("/dashboard/flags/checkout/usage?by=reason")
            .await
    };
    evaluate(&sdk, "checkout", 3).await;
    let before = page().await;
    assert!(before.contains("\"3 evaluations in the last 24 hours\""));
    assert!(!before.contains("Reported by clients"));
    let counts = json!([{ "flagKey": "checkout", "reason": "flag_disabled", "count": 9 }]);
    let reported = sdk.post("/sdk/v1/usage", json!({ "counts": counts })).await;
    reported.expect(StatusCode::NO_CONTENT);
    let after = page().await;
    for text in [
        "\"12 evaluations in the last 24 hours, 9 of them reported by clients\"",
        "reason-disabled chart-reported",
        "Off: 12\nReported by clients: 9",
    ] {
        assert!(after.contains(text), "{text}: {after}");
    }
}

#[tokio::test]
async fn a_report_id_must_be_a_uuid() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let counts = json!([{ "flagKey": "checkout", "reason": "rollout", "count": 1 }]);
    for id in [
        json!(1),
        json!(""),
        json!("6f1c2a520f0b4f0e9d5e3b1c7a9e2d41"),
        json!("6f1c2a52-0f0b-4f0e-9d5e-3b1c7a9e2d4g"),
        json!("{6f1c2a52-0f0b-4f0e-9d5e-3b1c7a9e2d41}"),
        json!(["6f1c2a52-0f0b-4f0e-9d5e-3b1c7a9e2d41"]),
    ] {
        let refused = sdk.post("/sdk/v1/usage", json!({ "id": id, "counts": counts }));
        let refused = refused.await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(refused.faults(), ["/id"]);
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
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(refused.faults(), ["from"]);
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
    let database = TestDatabase::create().await;
    if !database.is_postgres() {
        // On SQLite, a commit has no network response that can get lost.
        return;
    }
    let (scheme_and_user, rest) = database.url().split_once('@').expect("a user");
    let (server, name) = rest.split_once('/').expect("a name");
    let proxy = LossyProxy::to(server).await;
    let url = format!("{scheme_and_user}@{}/{name}", proxy.address());
    let app = TestApp::on_database(&url).await;
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
