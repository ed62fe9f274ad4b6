//! Single and batch evaluation.

use pennon_tests::TestApp;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

#[tokio::test]
async fn a_switch_affects_the_next_evaluation() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    for enabled in [true, false, true] {
        admin.switch_to(&checkout, enabled).await;
        let answer = sdk.evaluate("checkout").await;
        let reason = if enabled {
            "flag_enabled"
        } else {
            "flag_disabled"
        };
        assert_eq!(
            answer.expect(StatusCode::OK).json(),
            json!({ "enabled": enabled, "reason": reason })
        );
    }
}

#[tokio::test]
async fn a_key_in_the_header_overrides_one_in_the_body() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, key) = admin.environment("shop", "prod").await;
    let (dev, dev_key) = admin.environment("shop", "dev").await;
    let flag = admin.flag("checkout").await;
    admin.switch(&flag, &dev, true).await;
    let body = json!({ "flagKey": "checkout", "sdkKey": key });
    app.anonymous()
        .post("/sdk/v1/evaluate", body.clone())
        .await
        .expect(StatusCode::OK);
    for header in ["Bearer pnk_wrong", "Bearer", "", "Basic YTpi", "Token x"] {
        let answer = app
            .with_authorization(header)
            .post("/sdk/v1/evaluate", body.clone())
            .await;
        answer.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    }
    for in_the_body in [dev_key.as_str(), "pnk_wrong"] {
        let question = json!({ "flagKey": "checkout", "sdkKey": in_the_body });
        let answer = app.sdk(&key).post("/sdk/v1/evaluate", question).await;
        let answer = answer.expect(StatusCode::OK);
        assert_eq!(answer.text("/reason"), "flag_disabled");
    }
    let without_header = json!({ "evaluations": [{ "flagKey": "checkout" }], "sdkKey": key });
    let answer = app
        .anonymous()
        .post("/sdk/v1/evaluate/batch", without_header)
        .await;
    answer.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
}

#[tokio::test]
async fn all_unusable_keys_get_identical_responses() {
    let app = TestApp::start().await;
    let token = app.admin().await;
    let mut answers = Vec::new();
    for header in [
        "",
        "Bearer",
        "Bearer pnk_",
        "Bearer pnk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "x",
    ] {
        let answer = app.with_authorization(header).get("/sdk/v1/config").await;
        answers.push(
            answer
                .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED")
                .bytes,
        );
    }
    answers.push(
        app.anonymous()
            .get("/sdk/v1/config")
            .await
            .expect(StatusCode::UNAUTHORIZED)
            .bytes,
    );
    answers.push(
        token
            .get("/sdk/v1/config")
            .await
            .expect(StatusCode::UNAUTHORIZED)
            .bytes,
    );
    for body in [
        json!({}),
        json!({ "sdkKey": 1, "flagKey": 2 }),
        json!({ "sdkKey": "pnk_x" }),
    ] {
        let answer = app.anonymous().post("/sdk/v1/evaluate", body).await;
        answers.push(answer.expect(StatusCode::UNAUTHORIZED).bytes);
    }
    let caller = app.anonymous();
    let empty = caller.request(Method::POST, "/sdk/v1/evaluate");
    let answer = caller.send(empty).await;
    answers.push(answer.expect(StatusCode::UNAUTHORIZED).bytes);
    answers.dedup();
    assert_eq!(answers.len(), 1);
}

#[tokio::test]
async fn an_unknown_flag_is_an_error_alone_and_off_in_a_batch() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let sdk = app.sdk(&checkout.sdk_key);
    for unknown in ["Checkout", "", " checkout", "../x", "\u{0}"] {
        let answer = sdk
            .post("/sdk/v1/evaluate", json!({ "flagKey": unknown }))
            .await;
        answer.expect_problem(StatusCode::NOT_FOUND, "FLAG_NOT_FOUND");
    }
    let items = json!([{ "flagKey": "nope" }, { "flagKey": "checkout", "context": null }]);
    let answer = sdk
        .post("/sdk/v1/evaluate/batch", json!({ "evaluations": items }))
        .await;
    assert_eq!(
        answer.expect(StatusCode::OK).json(),
        json!([
            { "enabled": false, "reason": "flag_disabled" },
            { "enabled": true, "reason": "flag_enabled" },
        ])
    );
}

#[tokio::test]
async fn a_missing_member_is_called_required_and_a_wrong_one_gets_its_type() {
    let app = TestApp::start().await;
    let (_, key) = app.admin().await.environment("shop", "prod").await;
    let sdk = app.sdk(&key);
    for (path, body, detail) in [
        ("evaluate", json!({}), "is required"),
        ("evaluate", json!({ "flagKey": 1 }), "must be a string"),
        ("evaluate/batch", json!({}), "is required"),
        (
            "evaluate/batch",
            json!({ "evaluations": 1 }),
            "must be an array",
        ),
        (
            "evaluate/batch",
            json!({ "evaluations": [{}] }),
            "is required",
        ),
        (
            "usage",
            json!({ "counts": [{ "reason": "flag_enabled", "enabled": true, "count": 1 }] }),
            "is required",
        ),
    ] {
        let answer = sdk.post(&format!("/sdk/v1/{path}"), body).await;
        let answer = answer.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(answer.text("/errors/0/detail"), detail, "{path}");
    }
}

#[tokio::test]
async fn a_batch_has_one_to_a_hundred_items() {
    let app = TestApp::start().await;
    let (_, key) = app.admin().await.environment("shop", "prod").await;
    let sdk = app.sdk(&key);
    let batch = async |count: usize| {
        let items = vec![json!({ "flagKey": "x" }); count];
        sdk.post("/sdk/v1/evaluate/batch", json!({ "evaluations": items }))
            .await
    };
    for count in [0, 101] {
        let answer = batch(count)
            .await
            .expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(answer.faults(), ["/evaluations"]);
    }
    let answers = batch(100).await.expect(StatusCode::OK).json();
    assert_eq!(answers.as_array().map(Vec::len), Some(100));
}

#[tokio::test]
async fn every_fault_in_a_context_is_reported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, key) = admin.environment("shop", "prod").await;
    admin.flag("checkout").await;
    let sdk = app.sdk(&key);
    let context = json!({
        "userId": 1, "tenantId": true, "email": "not an address", "country": [], "age": {},
        "customAttributes": { "a": [], "b~/": {}, "c": null, "d": 1.5 },
    });
    let answer = sdk
        .post(
            "/sdk/v1/evaluate",
            json!({ "flagKey": "checkout", "context": context.clone() }),
        )
        .await;
    let faults = [
        "userId",
        "tenantId",
        "country",
        "email",
        "customAttributes/a",
        "customAttributes/b~0~1",
    ];
    let answer = answer.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    assert_eq!(
        answer.faults(),
        faults.map(|name| format!("/context/{name}"))
    );
    let items = json!([{ "flagKey": "checkout" }, { "flagKey": 1, "context": [] }, 2]);
    let answer = sdk
        .post("/sdk/v1/evaluate/batch", json!({ "evaluations": items }))
        .await;
    answer.expect_faults(&[
        "/evaluations/1/context",
        "/evaluations/1/flagKey",
        "/evaluations/2",
    ]);
}

#[tokio::test]
async fn unknown_members_are_ignored() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, key) = admin.environment("shop", "prod").await;
    admin.flag("checkout").await;
    let body =
        json!({ "flagKey": "checkout", "trace": 1, "context": { "plan": [], "email": null } });
    app.sdk(&key)
        .post("/sdk/v1/evaluate", body)
        .await
        .expect(StatusCode::OK);
}

#[tokio::test]
async fn pages_from_any_origin_may_call() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let preflight = anonymous
        .request(Method::OPTIONS, "/sdk/v1/evaluate")
        .header("origin", "https://shop.example.com")
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,content-type,x-pennon-client",
        );
    let answer = anonymous.send(preflight).await.expect(StatusCode::OK);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    let allowed = answer.header("access-control-allow-headers");
    for header in ["authorization", "content-type", "x-pennon-client"] {
        assert!(allowed.contains(header), "{allowed}");
    }
    assert_eq!(answer.header("access-control-max-age"), "86400");
    let refused = anonymous.post("/sdk/v1/evaluate", json!({})).await;
    assert_eq!(refused.header("access-control-allow-origin"), "*");
    assert!(
        refused
            .header("access-control-expose-headers")
            .contains("etag")
    );
    for path in ["/sdk/v1/nope", "//sdk/v1/config"] {
        let readable = anonymous.get(path).await;
        assert_eq!(readable.header("access-control-allow-origin"), "*");
    }
    assert_eq!(
        anonymous
            .get("/flags")
            .await
            .header("access-control-allow-origin"),
        ""
    );
}

#[tokio::test]
async fn a_key_works_only_for_its_own_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (prod, prod_key) = admin.environment("shop", "prod").await;
    let (_, stage_key) = admin.environment("shop", "stage").await;
    let flag = admin.flag("checkout").await;
    admin.switch(&flag, &prod, true).await;
    for (key, enabled) in [(prod_key, true), (stage_key, false)] {
        let answer = app.sdk(&key).evaluate("checkout").await;
        let json: Value = answer.expect(StatusCode::OK).json();
        assert_eq!(json["enabled"], enabled);
    }
}
