//! Public SDK keys in paths, with which pages of other origins need no preflight request.

use pennon_tests::{Answer, Caller, PASSWORD, Process, TestApp, TestDatabase};
use reqwest::header::{CONTENT_TYPE, IF_NONE_MATCH, ORIGIN};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};

/// Creates a flag that is on in a new public environment with these client rules, and returns the environment.
async fn public_environment(admin: &Caller<'_>, client_rules: &str) -> Answer {
    let environment = json!({
        "product": "Shop", "name": "web", "visibility": "public", "clientRules": client_rules,
    });
    let environment = admin.post("/environments", environment).await;
    let environment = environment.expect(StatusCode::CREATED);
    let flag = json!({ "key": "banner", "name": "Banner", "type": "boolean", "public": true });
    let flag = admin.post("/flags", flag).await.text("/id");
    admin.switch(&flag, &environment.text("/id"), true).await;
    environment
}

fn config(key: &str) -> String {
    format!("/sdk/v1/public/{key}/config")
}

#[tokio::test]
async fn a_page_gets_the_config_document_without_a_header() {
    let app = TestApp::start().await;
    let environment = public_environment(&app.admin().await, "full").await;
    let key = environment.text("/sdkKey");
    let by_header = app.sdk(&key).get("/sdk/v1/config").await;
    let caller = app.anonymous();
    let page = caller.request(Method::GET, &config(&key));
    let page = page.header(ORIGIN, "https://shop.example.com");
    let page = caller.send(page).await.expect(StatusCode::OK);
    assert_eq!(page.bytes, by_header.bytes);
    let tag = by_header.header("etag");
    for (header, value) in [
        ("etag", tag),
        ("content-type", "application/json"),
        (
            "cache-control",
            "public, max-age=10, stale-while-revalidate=10",
        ),
        ("vary", "Accept-Encoding"),
        ("access-control-allow-origin", "*"),
        (
            "access-control-expose-headers",
            "age,etag,retry-after,x-request-id",
        ),
    ] {
        assert_eq!(page.header(header), value, "{header}");
    }
    let known = caller.request(Method::GET, &config(&key));
    let known = caller.send(known.header(IF_NONE_MATCH, tag)).await;
    let known = known.expect(StatusCode::NOT_MODIFIED);
    assert!(known.bytes.is_empty());
    assert_eq!(known.header("cache-control"), page.header("cache-control"));
    let head = caller.request(Method::HEAD, &config(&key));
    assert_eq!(caller.send(head).await.header("etag"), tag);
    // A cache must not keep the document under the address of another revision.
    let path = config(&key);
    for (revision, control) in [
        (tag, page.header("cache-control")),
        ("W/\"another\"", "public, no-cache"),
    ] {
        let revision = revision.replace('"', "%22");
        let revised = caller.get(&format!("{path}?revision={revision}")).await;
        let revised = revised.expect(StatusCode::OK);
        assert_eq!(revised.bytes, page.bytes);
        assert_eq!(revised.header("cache-control"), control, "{revision}");
    }
    let none = caller.get(&format!("{path}?keys[]=other")).await;
    assert_eq!(none.json()["flags"], json!([]));
}

#[tokio::test]
async fn only_working_public_keys_are_accepted_and_all_others_look_alike() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let environment = public_environment(&admin, "full").await;
    let key = environment.text("/sdkKey");
    let (_, server_key) = admin.environment("Shop", "api").await;
    assert_eq!(
        app.anonymous().get(&config(&key)).await.status,
        StatusCode::OK
    );
    admin.revoke(&environment.text("/id")).await;
    let unknown = app.anonymous().get(&config("pnp_unknown")).await;
    let unknown = unknown.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    assert_eq!(unknown.header("cache-control"), "no-store");
    for refused in [&key, &server_key, "pnk_unknown", "%FF", "%70nk_unknown"] {
        for suffix in ["config", "evaluate/all", "bootstrap"] {
            let method = match suffix {
                "config" => Method::GET,
                _ => Method::POST,
            };
            let request = app
                .anonymous()
                .request(method, &format!("/sdk/v1/public/{refused}/{suffix}"));
            let answer = app.anonymous().send(request).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{refused}");
            assert_eq!(answer.bytes, unknown.bytes, "{refused}");
            assert_eq!(answer.header("cache-control"), "no-store");
        }
    }
}

#[tokio::test]
async fn a_key_that_reveals_no_rules_does_not_help_to_guess_them() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let environment = public_environment(&admin, "full").await;
    let path = format!("/environments/{}", environment.text("/id"));
    let sdk = app.sdk(&environment.text("/sdkKey"));
    let mut seen = Vec::new();
    for client_rules in ["full", "answers"] {
        let rules = json!({ "clientRules": client_rules });
        admin.patch(&path, rules).await.expect(StatusCode::OK);
        let all = sdk.post("/sdk/v1/evaluate/all", json!({})).await;
        let tag = all.expect(StatusCode::OK).header("etag").to_owned();
        let question = json!({ "context": {} });
        let flags = sdk.post("/ofrep/v1/evaluate/flags", question).await;
        seen.push((tag, flags.text("/flags/0/reason")));
    }
    let [(full, revealed), (secret, hidden)] = &seen[..] else {
        unreachable!("there are two");
    };
    // The same flags have another tag, which nobody can compute for the flags that they suspect.
    assert_ne!(full, secret);
    assert_eq!((&**revealed, &**hidden), ("STATIC", "DEFAULT"));
}

#[tokio::test]
async fn a_page_that_must_not_see_rules_gets_results_for_text() {
    let app = TestApp::start().await;
    let environment = public_environment(&app.admin().await, "answers").await;
    let key = environment.text("/sdkKey");
    let caller = app.anonymous();
    let refused = caller.get(&config(&key)).await;
    let refused = refused.expect_problem(StatusCode::FORBIDDEN, "CONFIG_NOT_PUBLIC");
    assert_eq!(refused.header("cache-control"), "no-store");
    let path = format!("/sdk/v1/public/{key}/evaluate/all");
    let question = json!({ "context": { "userId": "ada" } });
    let sdk = app.sdk(&key);
    let by_header = sdk.post("/sdk/v1/evaluate/all", question.clone()).await;
    let by_header = by_header.expect(StatusCode::OK);
    for media_type in ["text/plain;charset=UTF-8", "text/plain", "application/json"] {
        let text = caller.request(Method::POST, &path);
        let text = text
            .header(CONTENT_TYPE, media_type)
            .body(question.to_string());
        let answer = caller.send(text).await.expect(StatusCode::OK);
        assert_eq!(answer.bytes, by_header.bytes);
        assert_eq!(answer.header("etag"), by_header.header("etag"));
        assert_eq!(answer.header("cache-control"), "no-store");
    }
    let known = caller.request(Method::POST, &path);
    let known = known.header(IF_NONE_MATCH, by_header.header("etag"));
    let known = caller.send(known.json(&question)).await;
    known.expect(StatusCode::NOT_MODIFIED);
    let form = caller.request(Method::POST, &path).body("context=");
    let form = form.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    let form = caller.send(form).await;
    form.expect_problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE");
    let encoded = caller.request(Method::POST, &path).body("{}");
    let encoded = encoded
        .header(CONTENT_TYPE, "text/plain")
        .header("content-encoding", "gzip");
    let encoded = caller.send(encoded).await;
    encoded.expect_problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE");
    for invalid in [json!([]), json!({ "context": 1 })] {
        let refused = caller.post(&path, invalid).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn the_age_of_cached_documents_is_a_setting() {
    for (seconds, expected) in [
        ("0", "public, no-cache"),
        ("60", "public, max-age=60, stale-while-revalidate=60"),
    ] {
        let app = TestApp::with_settings(&["--public-max-age", seconds]).await;
        let environment = public_environment(&app.admin().await, "full").await;
        let path = config(&environment.text("/sdkKey"));
        let answer = app.anonymous().get(&path).await;
        assert_eq!(answer.header("cache-control"), expected);
    }
}

#[tokio::test]
async fn fetches_of_pages_are_counted_by_client() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let environment = public_environment(&admin, "full").await;
    let path = config(&environment.text("/sdkKey"));
    let client = "@pennon/core/0.1.0";
    let fetched = app
        .anonymous()
        .get(&format!("{path}?client={client}"))
        .await;
    fetched.expect(StatusCode::OK);
    app.flush_usage().await;
    let clients = format!("/environments/{}/clients", environment.text("/id"));
    let clients: Value = admin.get(&clients).await.json();
    let text = clients.to_string();
    assert!(
        text.contains("@pennon/core") && text.contains("0.1.0"),
        "{text}"
    );
}

#[tokio::test]
async fn the_log_never_contains_the_key() {
    let database = TestDatabase::create().await;
    let settings = [("RUST_LOG", "debug"), ("PENNON_ADMIN_PASSWORD", PASSWORD)];
    let process = Process::start(&database, &settings).await;
    let key = "pnp_ThisKeyMustNotBeInTheLog";
    let http = Client::new();
    for (method, path) in [
        (Method::GET, format!("/sdk/v1/public/{key}/config")),
        (
            Method::GET,
            format!("//sdk/v1/public//{key}/config?client={key}"),
        ),
        (Method::GET, format!("/sdk/v1/public/{key}")),
        (Method::GET, format!("/sdk/v1/public/{key}/nothing")),
        (Method::GET, format!("/sdk/v1/{key}/config")),
        (
            Method::GET,
            "/sdk/v1/public/MustNotBeThereEither/config".to_owned(),
        ),
        (
            Method::GET,
            "/users/pnt_ThisTokenMustNotBeThereEither".to_owned(),
        ),
        (
            Method::GET,
            format!("/sdk/v2/Public/%70{}/config", &key[1..]),
        ),
        (Method::GET, format!("/{key}")),
        (Method::PUT, format!("/sdk/v1/public/{key}/config")),
        (Method::OPTIONS, format!("/sdk/v1/public/{key}/config")),
        (Method::POST, format!("/sdk/v1/public/{key}/evaluate/all")),
        (Method::POST, format!("/sdk/v1/public/{key}/bootstrap")),
    ] {
        let url = format!("{}{path}", process.base_url());
        let answer = http.request(method, url).send().await.expect("an answer");
        let text = answer.text().await.expect("a body");
        assert!(!text.contains("MustNotBe"), "{text}");
    }
    let log = process.stop().await.log;
    assert!(log.contains("/sdk/v1/public/{key}/config"), "{log}");
    assert!(log.contains("/sdk/v1/public/{key}/nothing"), "{log}");
    assert!(!log.contains("MustNotBe"), "{log}");
}

#[tokio::test]
async fn a_server_key_in_a_page_is_logged_once() {
    let database = TestDatabase::create().await;
    let process = Process::start(&database, &[]).await;
    let admin = process.admin().await;
    let mut ids = Vec::new();
    for (name, visibility) in [
        ("unused", "server"),
        ("exposed", "server"),
        ("web", "public"),
    ] {
        let body = json!({ "product": "Shop", "name": name, "visibility": visibility });
        let created = admin.post("/environments", body).await;
        let sdk = process.sdk(&created.text("/sdkKey"));
        ids.push(created.text("/id"));
        // A service sends neither of these headers.
        let origins: &[_] = match name {
            "unused" => &[("x-pennon-client", "@pennon/core/0.1.0")],
            "exposed" => &[
                ("origin", "https://shop.example.com"),
                ("sec-fetch-site", "same-origin"),
            ],
            _ => &[("origin", "https://shop.example.com")],
        };
        for (header, value) in origins {
            let config = sdk.request(Method::GET, "/sdk/v1/config");
            let config = sdk.send(config.header(*header, *value)).await;
            config.expect(StatusCode::OK);
        }
    }
    let log = process.stop().await.log;
    let warnings: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("a web page uses"))
        .collect();
    let [warning] = warnings[..] else {
        panic!("not one warning: {log}");
    };
    assert!(warning.contains(&ids[1]), "{warning}");
}
