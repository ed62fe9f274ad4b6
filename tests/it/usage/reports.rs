//! Evaluations within applications, which their clients report.

use pennon_tests::{Browser, Caller, TestApp};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{HOUR, evaluate, usage};

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
    refused.expect_faults(&expected);
    for bad in [json!({}), json!({ "counts": [] }), json!({ "counts": 1 })] {
        let refused = sdk.post("/sdk/v1/usage", bad).await;
        refused.expect_faults(&["/counts"]);
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
        refused.expect_faults(&["/id"]);
    }
}

#[tokio::test]
async fn reports_about_the_same_flags_are_written_in_one_transaction() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    for flag in 1..112 {
        admin.flag(&format!("f{flag}")).await;
    }
    // Nine outcomes of each flag are as many counts as a report and a transaction have.
    let outcomes = [
        ("flag_enabled", json!(true)),
        ("flag_disabled", json!(false)),
        ("flag_archived", json!(false)),
        ("targeting_rule", json!(true)),
        ("targeting_rule", json!(false)),
        ("targeting_rule", json!(null)),
        ("rollout", json!(true)),
        ("rollout", json!(false)),
        ("rollout", json!(null)),
    ];
    let keys = (1..112).map(|flag| format!("f{flag}"));
    let keys = std::iter::once("checkout".to_owned()).chain(keys);
    let counts = keys.flat_map(|key| {
        let outcomes = outcomes.clone();
        outcomes.map(|(reason, enabled)| {
            let mut count = json!({ "flagKey": key, "reason": reason, "count": 1 });
            if !enabled.is_null() {
                count["enabled"] = enabled;
            }
            count
        })
    });
    let counts: Vec<Value> = counts.take(1_000).collect();
    let sdk = app.sdk(&checkout.sdk_key);
    for report in 1..=3 {
        let id = format!("00000000-0000-4000-8000-{report:012}");
        let report = json!({ "id": id, "counts": counts });
        let reported = sdk.post("/sdk/v1/usage", report).await;
        reported.expect(StatusCode::NO_CONTENT);
    }
    app.flush_usage().await;
    let transactions = app
        .database()
        .count("select count(*) from usage_batches")
        .await;
    assert_eq!(transactions, 1);
    let used = usage(&admin, &format!("/flags/{}", checkout.flag)).await;
    let rollout = &used["environments"][0]["hours"][0]["evaluations"]["rollout"];
    assert_eq!(*rollout, json!(9));
}
