//! Conventions of every path: bodies, errors, headers, health.

use pennon_tests::{Caller, FlagEnvironment, TestApp, UNKNOWN_ID};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::description::operations;

#[tokio::test]
async fn a_body_must_be_a_json_object_that_is_declared_as_json() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, key) = admin.environment("shop", "prod").await;
    let sdk = app.sdk(&key);
    for (caller, path) in [
        (&admin, "/flags"),
        (&sdk, "/sdk/v1/evaluate"),
        (&sdk, "/sdk/v1/evaluate/batch"),
    ] {
        let post = async |content_type: &str, body: Vec<u8>| {
            let request = caller
                .request(Method::POST, path)
                .header("content-type", content_type)
                .body(body);
            caller.send(request).await
        };
        for body in ["", "{", "[]", "null", "\"x\"", "{} {}", "{\"a\":1e999}"] {
            let answer = post("application/json", body.into()).await;
            answer.expect_problem(StatusCode::BAD_REQUEST, "MALFORMED_BODY");
        }
        let answer = post("application/json", b"{\"key\":\"\xff\"}".to_vec()).await;
        answer.expect_problem(StatusCode::BAD_REQUEST, "MALFORMED_BODY");
        let deep = "[".repeat(100_000);
        post("application/json", deep[..60_000].into())
            .await
            .expect(StatusCode::BAD_REQUEST);
        for content_type in ["text/plain", "application/x-www-form-urlencoded", ""] {
            let answer = post(content_type, b"{}".to_vec()).await;
            answer.expect_problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE");
        }
        let request = caller.request(Method::POST, path);
        let request = request.header("content-encoding", "gzip").json(&json!({}));
        let answer = caller.send(request).await;
        let answer =
            answer.expect_problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE");
        assert_eq!(answer.header("accept-encoding"), "identity");
        let answer = post("Application/JSON; charset=utf-8", b"{}".to_vec()).await;
        answer.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    }
}

#[tokio::test]
async fn every_repeated_member_is_reported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment { sdk_key, path, .. } = admin.flag_environment().await;
    let send = async |caller: &Caller<'_>, path: &str, body: &'static str| {
        let request = caller.request(Method::POST, path);
        let request = request.header("content-type", "application/json");
        caller.send(request.body(body)).await
    };
    let flag = r#"{"key":"a","key":"b","key":"c","name":"A","type":"boolean","~/":1}"#;
    let rule = r#"{"priority":1,"priority":1,"logic":"and","value":true,"conditions":[
        {"attribute":"a","operator":"==","valueType":"string","valueString":"x","valueString":"y"}]}"#;
    let subject = r#"{"context":{"userId":"ada","userId":"eve","customAttributes":{"a":1,"a":1}}}"#;
    for (path, body, expected) in [
        ("/flags", flag, &["/key", "/~0~1"][..]),
        (
            &format!("{path}/rules"),
            rule,
            &["/priority", "/conditions/0/valueString"],
        ),
        (
            &format!("{path}/explain"),
            subject,
            &["/context/userId", "/context/customAttributes/a"],
        ),
        (
            "/auth/login",
            r#"{"email":"a","email":"a"}"#,
            &["/email", "/password"],
        ),
    ] {
        let refused = send(&admin, path, body).await;
        refused.expect_faults(expected);
    }
    // Evaluation ignores repeated members, because clients of all versions must work.
    let question = r#"{"flagKey":"x","flagKey":"checkout","context":{"userId":"a","userId":"b"}}"#;
    let answer = send(&app.sdk(&sdk_key), "/sdk/v1/evaluate", question).await;
    answer.expect(StatusCode::OK);
}

#[tokio::test]
async fn the_response_to_many_repeated_members_is_short() {
    let app = TestApp::start().await;
    let name = "n".repeat(100_000);
    let body = format!(
        "{{\"{name}\":{{{}\"a\":1}}}}",
        "\"a\":1,\"b\":1,".repeat(10_000)
    );
    let admin = app.admin().await;
    let request = admin.request(Method::POST, "/flags");
    let request = request
        .header("content-type", "application/json")
        .body(body);
    let refused = admin.send(request).await;
    let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    assert!(refused.bytes.len() < 500_000, "{}", refused.bytes.len());
}

#[tokio::test]
async fn body_sizes_are_limited() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, key) = admin.environment("shop", "prod").await;
    let sdk = app.sdk(&key);
    for (caller, path, limit) in [
        (&admin, "/flags", 1024 * 1024),
        (&sdk, "/sdk/v1/evaluate", 64 * 1024),
        (&sdk, "/sdk/v1/evaluate/batch", 1024 * 1024),
        (&app.anonymous(), "/auth/login", 8 * 1024),
        (&app.anonymous(), "/auth/refresh", 8 * 1024),
    ] {
        let padded = |bytes: usize| json!({ "x": "x".repeat(bytes - 8) });
        caller
            .post(path, padded(limit))
            .await
            .expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        let answer = caller.post(path, padded(limit + 1)).await;
        answer.expect_problem(StatusCode::PAYLOAD_TOO_LARGE, "BODY_TOO_LARGE");
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_get_problem_documents() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    for path in ["/nope", "/flags/a/b", "/sdk/v1/nope", "/sdk/v2/evaluate"] {
        anonymous
            .get(path)
            .await
            .expect_problem(StatusCode::NOT_FOUND, "NO_SUCH_PATH");
    }
    for (method, path, allowed) in [
        (Method::DELETE, "/flags", "GET,HEAD,POST"),
        (Method::GET, "/auth/login", "POST"),
        (Method::GET, "/sdk/v1/evaluate", "POST"),
        (Method::POST, "/sdk/v1/config", "GET,HEAD"),
    ] {
        let answer = anonymous.send(anonymous.request(method, path)).await;
        let answer = answer.expect_problem(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED");
        assert_eq!(answer.header("allow"), allowed);
    }
}

#[tokio::test]
async fn every_response_forbids_sniffing_and_admin_responses_are_not_stored() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for path in ["/health", "/flags", "/nope", "/sdk/v1/config"] {
        assert_eq!(
            admin.get(path).await.header("x-content-type-options"),
            "nosniff",
            "{path}"
        );
    }
    for path in ["/flags", "/environments", "/audit"] {
        assert_eq!(
            admin.get(path).await.header("cache-control"),
            "no-store",
            "{path}"
        );
    }
}

#[tokio::test]
async fn every_response_has_hsts_if_the_public_url_is_https() {
    let app = TestApp::with_settings(&["--public-url", "https://flags.example.com"]).await;
    for path in [
        "/health",
        "/flags",
        "/sdk/v1/config",
        "/dashboard/login",
        "/nowhere",
    ] {
        let answer = app.anonymous().get(path).await;
        assert_eq!(
            answer.header("strict-transport-security"),
            "max-age=31536000",
            "{path}"
        );
    }
    let app = TestApp::with_settings(&["--public-url", "http://flags.example.com"]).await;
    let answer = app.anonymous().get("/dashboard/login").await;
    assert_eq!(answer.header("strict-transport-security"), "");
}

#[tokio::test]
async fn health_reports_the_state_of_the_server() {
    let app = TestApp::start().await;
    for path in ["/health", "/health/live", "/health/ready"] {
        let answer = app.anonymous().get(path).await.expect(StatusCode::OK);
        assert_eq!(answer.text("/status"), "ok");
        assert_eq!(answer.text("/database/status"), "up");
        assert!(!answer.text("/version").is_empty());
    }
}

#[tokio::test]
async fn the_root_redirects_to_the_dashboard() {
    let app = TestApp::start().await;
    let answer = app.anonymous().get("/").await.expect(StatusCode::SEE_OTHER);
    assert_eq!(answer.header("location"), "/dashboard");
}

#[tokio::test]
async fn a_trailing_slash_is_ignored() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (id, key) = admin.environment("shop", "prod").await;
    for path in [
        "/flags/".to_owned(),
        format!("/environments/{id}/"),
        "/audit/?limit=1".to_owned(),
    ] {
        admin.get(&path).await.expect(StatusCode::OK);
    }
    app.sdk(&key)
        .get("/sdk/v1/config/")
        .await
        .expect(StatusCode::OK);
    app.anonymous().get("/health/").await.expect(StatusCode::OK);
}

#[tokio::test]
async fn every_response_has_the_callers_request_id_or_a_new_one() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let with_id = async |id: &str| {
        let request = anonymous
            .request(Method::GET, "/health")
            .header("x-request-id", id);
        anonymous
            .send(request)
            .await
            .header("x-request-id")
            .to_owned()
    };
    for given in ["deploy-42", "01a1:b_c.d/e+f=", &"x".repeat(128)] {
        assert_eq!(with_id(given).await, given);
    }
    for indecent in ["", "a b", "<script>", &"x".repeat(129)] {
        let id = with_id(indecent).await;
        assert_ne!(id, indecent);
        assert_eq!(id.len(), 36);
    }
    for path in ["/flags", "/nope", "/sdk/v1/config", "/dashboard/flags"] {
        assert_eq!(
            anonymous.get(path).await.header("x-request-id").len(),
            36,
            "{path}"
        );
    }
}

#[tokio::test]
async fn unknown_query_parameters_are_refused_on_every_path() {
    // Applications may have another version than the server, so it ignores their unknown parameters. Health checks and
    // the description of the API ignore the whole query.
    const OPEN: [&str; 4] = ["/sdk/", "/ofrep/", "/health", "/openapi.json"];
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let existing = admin.flag_environment().await;
    let entry = admin.get("/audit").await.text("/items/0/id");
    for (method, path, _) in operations() {
        if OPEN.iter().any(|start| path.starts_with(start)) {
            continue;
        }
        let path = filled(path, &existing, &entry);
        let request = admin.request(method.clone(), &format!("{path}?dry_run=1"));
        let refused = admin.send(request).await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(refused.faults(), ["dry_run"], "{method} {path}");
    }
    assert_eq!(
        admin.audited().await,
        ["FLAG_CREATED", "ENVIRONMENT_CREATED"]
    );
}

/// Replaces the parameters of a path with IDs.
fn filled(path: &str, existing: &FlagEnvironment, entry: &str) -> String {
    let segments = path.split('/').map(|segment| match segment {
        "{flag}" => &existing.flag,
        "{environment}" | "{other}" => &existing.environment,
        "{entry}" => entry,
        "{user}" => "me",
        "{rule}" | "{token}" => UNKNOWN_ID,
        literal => {
            assert!(!literal.starts_with('{'), "no value for {literal}");
            literal
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn an_unexpected_body_is_refused_before_anything_happens() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        flag,
        environment,
        path,
        ..
    } = admin.flag_environment().await;
    let (staging, _) = admin.environment("shop", "staging").await;
    let before = admin.audited().await;
    let paths = [
        format!("{path}/copy-from/{staging}"),
        format!("/environments/{environment}/revoke"),
        format!("/environments/{environment}/rotate-key"),
        format!("/flags/{flag}/restore"),
        "/auth/logout".to_owned(),
    ];
    for path in &paths {
        let refused = admin.post(path, json!({ "dryRun": true })).await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(refused.faults(), ["/dryRun"], "{path}");
        let text = admin.request(Method::POST, path).body("true");
        let refused = admin.send(text).await;
        refused.expect_problem(StatusCode::BAD_REQUEST, "MALFORMED_BODY");
    }
    assert_eq!(admin.audited().await, before);
    // Some clients send an empty object instead of no body.
    admin
        .post(&paths[0], json!({}))
        .await
        .expect(StatusCode::OK);
}

#[tokio::test]
async fn every_path_lists_its_methods() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    for (path, allowed) in [
        ("/flags", &["GET", "POST"][..]),
        ("/rules/x", &["GET", "PUT", "DELETE"]),
        ("/users/me/password", &["PUT"]),
    ] {
        let options = anonymous.request(Method::OPTIONS, path);
        let options = anonymous.send(options).await.expect(StatusCode::NO_CONTENT);
        for method in allowed {
            assert!(options.header("allow").contains(method), "{path}");
        }
        let wrong = anonymous.send(anonymous.request(Method::TRACE, path)).await;
        wrong.expect_problem(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED");
    }
}
