//! The OpenFeature Remote Evaluation Protocol.

use pennon_tests::{Answer, Caller, FlagEnvironment, TestApp, equals, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const ONE: &str = "/ofrep/v1/evaluate/flags/checkout";
const ALL: &str = "/ofrep/v1/evaluate/flags";

/// Creates a flag that is on in one country and for a percentage of users. Returns the flag and the rule's ID.
async fn targeted(admin: &Caller<'_>) -> (FlagEnvironment, String) {
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let rule = admin
        .rule(&checkout.path, rule(1, equals("country", "DE")))
        .await;
    admin.rollout(&checkout.path, 64).await;
    (checkout, rule)
}

async fn evaluate(caller: &Caller<'_>, context: Value) -> Value {
    let answer = caller.post(ONE, json!({ "context": context })).await;
    answer.expect(StatusCode::OK).json()
}

#[tokio::test]
async fn responses_have_the_standard_reason_and_pennons_reason() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (checkout, rule) = targeted(&admin).await;
    let sdk = app.sdk(&checkout.sdk_key);
    let matched = json!({
        "key": "checkout", "value": true, "variant": "on", "reason": "TARGETING_MATCH",
        "metadata": { "reason": "targeting_rule" },
    });
    assert_eq!(evaluate(&sdk, json!({ "country": "DE" })).await, matched);
    let split = |value: bool| {
        let variant = if value { "on" } else { "off" };
        json!({
            "key": "checkout", "value": value, "variant": variant, "reason": "SPLIT",
            "metadata": { "reason": "rollout" },
        })
    };
    // The bucket of "ada" is 63, that of "linus" 72.
    for (context, value) in [
        (json!({ "targetingKey": "ada" }), true),
        (json!({ "userId": "ada" }), true),
        (json!({ "targetingKey": "ada", "userId": "linus" }), false),
        (json!({}), false),
    ] {
        assert_eq!(evaluate(&sdk, context).await, split(value));
    }
    let rollout = admin.delete(&format!("{}/rollout", checkout.path)).await;
    rollout.expect(StatusCode::NO_CONTENT);
    let nobody = sdk.post(ONE, json!({})).await.expect(StatusCode::OK).json();
    // The flag has a rule that did not match. Other contexts may match it, so the result must not be cached as static.
    assert_eq!(nobody["reason"], "DEFAULT");
    assert_eq!(nobody["metadata"], json!({ "reason": "flag_enabled" }));
    let without = admin.delete(&format!("/rules/{rule}")).await;
    without.expect(StatusCode::NO_CONTENT);
    let everybody = json!({
        "key": "checkout", "value": true, "variant": "on", "reason": "STATIC",
        "metadata": { "reason": "flag_enabled" },
    });
    assert_eq!(evaluate(&sdk, json!({ "country": "DE" })).await, everybody);
    let all = sdk.post(ALL, json!({})).await.expect(StatusCode::OK).json();
    assert_eq!(all["flags"], json!([everybody]));
    admin.switch_off(&checkout).await;
    let off = json!({
        "key": "checkout", "value": false, "variant": "off", "reason": "STATIC",
        "metadata": { "reason": "flag_disabled" },
    });
    assert_eq!(evaluate(&sdk, json!({ "country": "DE" })).await, off);
    admin.archive(&checkout.flag).await;
    let archived = evaluate(&sdk, json!({})).await;
    assert_eq!(archived["value"], false);
    assert_eq!(archived["reason"], "STATIC");
    assert_eq!(archived["metadata"], json!({ "reason": "flag_archived" }));
}

#[tokio::test]
async fn a_providers_context_becomes_built_in_and_custom_attributes() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let conditions = json!([
        { "attribute": "email", "operator": "==", "valueType": "string", "valueString": "a@b.c" },
        { "attribute": "tenantId", "operator": "==", "valueType": "string", "valueString": "t" },
        { "attribute": "seats", "operator": ">", "valueType": "number", "valueInt": 2 },
        { "attribute": "beta", "operator": "==", "valueType": "boolean", "valueBool": true },
        { "attribute": "plan", "operator": "==", "valueType": "string", "valueString": "pro" },
    ]);
    let rule = json!({ "priority": 1, "logic": "and", "value": false, "conditions": conditions });
    admin.rule(&checkout.path, rule).await;
    let sdk = app.sdk(&checkout.sdk_key);
    let context = json!({
        "targetingKey": "ada", "email": "a@b.c", "tenantId": "t", "seats": 2.5, "beta": true,
        "customAttributes": { "plan": "pro", "nested": {} },
        "list": [1], "structure": { "a": 1 }, "nothing": null,
    });
    assert_eq!(evaluate(&sdk, context).await["reason"], "TARGETING_MATCH");
    // A custom attribute does not replace a built-in one.
    let shadow = json!({ "seats": 3, "beta": true, "customAttributes": { "email": "a@b.c" } });
    assert_eq!(evaluate(&sdk, shadow).await["reason"], "DEFAULT");
}

fn assert_refused(answer: Answer, status: StatusCode, code: &str, key: Option<&str>) {
    let refused = answer.expect(status).json();
    assert_eq!(refused["errorCode"], code);
    assert_eq!(refused["key"].as_str(), key);
    assert_eq!(refused["metadata"], json!({}));
    assert!(
        refused["errorDetails"]
            .as_str()
            .is_some_and(|details| !details.is_empty())
    );
}

#[tokio::test]
async fn errors_use_the_codes_of_the_protocol() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let sdk = app.sdk(&admin.flag_environment().await.sdk_key);
    for (flag, key) in [
        ("nothing", "nothing"),
        ("%00", "\0"),
        ("a%2Fb", "a/b"),
        ("a/b", "a/b"),
        ("checkout/", "checkout/"),
        ("", ""),
        ("/", "/"),
        // A key that is not UTF-8 is also unknown. The response contains it as it was sent.
        ("%F0", "%F0"),
        ("a/%F0", "a/%F0"),
    ] {
        let unknown = sdk.post(&format!("{ALL}/{flag}"), json!({})).await;
        assert_refused(unknown, StatusCode::NOT_FOUND, "FLAG_NOT_FOUND", Some(key));
    }
    for (path, key) in [(ONE, Some("checkout")), (ALL, None)] {
        for context in [
            json!("x"),
            json!({ "userId": 1 }),
            json!({ "email": "x" }),
            json!({ "targetingKey": 1, "userId": "ada" }),
            json!([]),
        ] {
            let bad = sdk.post(path, json!({ "context": context })).await;
            assert_refused(bad, StatusCode::BAD_REQUEST, "INVALID_CONTEXT", key);
        }
        for text in ["", "{", "[]", "1"] {
            let bad = sdk.request(Method::POST, path).body(text);
            let bad = sdk
                .send(bad.header("content-type", "application/json"))
                .await;
            assert_refused(bad, StatusCode::BAD_REQUEST, "PARSE_ERROR", key);
        }
        let plain = sdk.request(Method::POST, path).body("{}");
        let plain = sdk.send(plain.header("content-type", "text/plain")).await;
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        let plain = plain.expect_problem(status, "UNSUPPORTED_MEDIA_TYPE");
        assert_refused(plain, status, "GENERAL", key);
        let large = json!({ "context": { "text": "x".repeat(64 * 1024) } });
        let large = sdk.post(path, large).await;
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        let large = large.expect_problem(status, "BODY_TOO_LARGE");
        assert_refused(large, status, "GENERAL", key);
    }
    // A slash at the end belongs to a flag key, but not to other paths.
    let all = sdk.post(&format!("/{ALL}"), json!({})).await;
    assert_eq!(all.expect(StatusCode::OK).text("/flags/0/key"), "checkout");
    let wrong = sdk.get(ONE).await;
    wrong.expect_problem(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED");
    let nowhere = sdk.post("/ofrep/v1/nothing", json!({})).await;
    nowhere.expect_problem(StatusCode::NOT_FOUND, "NO_SUCH_PATH");
}

#[tokio::test]
async fn a_rate_limited_provider_learns_which_flag_it_asked_for() {
    let app = TestApp::with_settings(&["--rate-limit-evaluate", "1"]).await;
    let sdk_key = app.admin().await.flag_environment().await.sdk_key;
    let sdk = app.sdk(&sdk_key);
    sdk.post(ONE, json!({})).await.expect(StatusCode::OK);
    for (path, key) in [(ONE, Some("checkout")), (ALL, None)] {
        let refused = sdk.post(path, json!({})).await;
        assert_refused(refused, StatusCode::TOO_MANY_REQUESTS, "GENERAL", key);
    }
}

#[tokio::test]
async fn a_bearer_key_overrides_an_api_key_header() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let key = admin.flag_environment().await.sdk_key;
    let send = async |authorization: Option<&str>, api_keys: &[&str]| {
        let anonymous = app.anonymous();
        let mut request = anonymous.request(Method::POST, ONE).json(&json!({}));
        for key in api_keys {
            request = request.header("x-api-key", *key);
        }
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        anonymous.send(request).await
    };
    let bearer = format!("Bearer {key}");
    for (authorization, api_keys) in [
        (Some(&*bearer), &[][..]),
        (Some(&*bearer), &["pnk_bad"]),
        (None, &[&*key]),
    ] {
        send(authorization, api_keys).await.expect(StatusCode::OK);
    }
    let uniform = app.anonymous().post(ALL, json!({})).await;
    let outside = app.anonymous().get("/sdk/v1/config").await.json();
    for (member, value) in outside.as_object().expect("a problem") {
        assert_eq!(uniform.json()[member], *value);
    }
    let uniform = uniform.bytes;
    for (authorization, api_keys) in [
        (None, &[][..]),
        (None, &["pnk_bad"]),
        (None, &[&*key, &*key]),
        (Some("Bearer pnk_bad"), &[&*key]),
        (Some("Basic x"), &[&*key]),
        (Some(""), &[&*key]),
    ] {
        let refused = send(authorization, api_keys).await;
        let refused = refused.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
        assert_eq!(refused.bytes, uniform);
        assert_refused(refused, StatusCode::UNAUTHORIZED, "GENERAL", None);
    }
}

#[tokio::test]
async fn the_bulk_etag_depends_on_flags_and_context() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (checkout, _) = targeted(&admin).await;
    let (_, other_key) = admin.environment("shop", "empty").await;
    let archived = admin.flag("archived").await;
    admin.archive(&archived).await;
    admin.flag("a.flag").await;
    let sdk = app.sdk(&checkout.sdk_key);
    let ada = json!({ "context": { "targetingKey": "ada" } });
    let answer = sdk.post(ALL, ada.clone()).await.expect(StatusCode::OK);
    let flags = answer.json();
    let keys: Vec<&Value> = flags["flags"]
        .as_array()
        .map(|flags| flags.iter().map(|flag| &flag["key"]).collect())
        .unwrap_or_default();
    assert_eq!(keys, ["a.flag", "checkout"]);
    let alone = evaluate(&sdk, json!({ "targetingKey": "ada" })).await;
    assert_eq!(flags["flags"][1], alone);
    let tag = answer.header("etag").to_owned();
    let again = async |caller: &Caller<'_>, body: &Value| {
        let request = caller.request(Method::POST, ALL).json(body);
        caller.send(request.header("if-none-match", &tag)).await
    };
    let unchanged = again(&sdk, &ada).await.expect(StatusCode::NOT_MODIFIED);
    assert!(unchanged.bytes.is_empty());
    assert_eq!(unchanged.header("etag"), tag);
    // The tag changes with the context, the environment, and the state of a flag.
    let linus = json!({ "context": { "targetingKey": "linus" } });
    again(&sdk, &linus).await.expect(StatusCode::OK);
    again(&app.sdk(&other_key), &ada)
        .await
        .expect(StatusCode::OK);
    again(&app.sdk("pnk_bad"), &ada)
        .await
        .expect(StatusCode::UNAUTHORIZED);
    admin.switch_off(&checkout).await;
    let changed = again(&sdk, &ada).await.expect(StatusCode::OK);
    assert_ne!(changed.header("etag"), tag);
    admin.switch_on(&checkout).await;
    again(&sdk, &ada).await.expect(StatusCode::NOT_MODIFIED);
}

#[tokio::test]
async fn pages_from_any_origin_may_send_the_headers_of_providers() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let preflight = anonymous
        .request(Method::OPTIONS, ALL)
        .header("origin", "https://shop.example.com")
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "content-type,x-api-key,if-none-match",
        );
    let preflight = anonymous.send(preflight).await.expect(StatusCode::OK);
    assert_eq!(preflight.header("access-control-allow-origin"), "*");
    let allowed = preflight.header("access-control-allow-headers");
    for header in [
        "content-type",
        "x-api-key",
        "if-none-match",
        "authorization",
    ] {
        assert!(allowed.contains(header), "{allowed}");
    }
    let refused = anonymous.post(ALL, json!({})).await;
    assert_eq!(refused.header("access-control-allow-origin"), "*");
    assert!(
        refused
            .header("access-control-expose-headers")
            .contains("etag")
    );
}
