//! Counts of the clients that fetch configurations, by package and version.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pennon_tests::{Caller, FlagEnvironment, START, TestApp, eventually};
use reqwest::header::HeaderValue;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// The version of the server and of the packages in the same release.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Opens a stream as a client with this header, and waits for the first event.
async fn listen(sdk: &Caller<'_>, client: &str) -> reqwest::Response {
    let request = sdk.request(Method::GET, "/sdk/v1/stream");
    let answer = request.header("x-pennon-client", client).send().await;
    let mut stream = answer.expect("an answer");
    stream.chunk().await.expect("an event");
    stream
}

/// Returns the first page of an environment's clients.
async fn clients(caller: &Caller<'_>, environment: &str) -> Vec<Value> {
    let path = format!("/environments/{environment}/clients?limit=100");
    caller.get(&path).await.items()
}

/// Returns the number of polls by client.
async fn polls(app: &TestApp, environment: &str) -> BTreeMap<String, i64> {
    let clients = clients(&app.admin().await, environment).await;
    let polls = clients.iter().map(|client| {
        let name = match (client["package"].as_str(), client["version"].as_str()) {
            (Some(package), Some(version)) => format!("{package}/{version}"),
            (None, None) => "other".to_owned(),
            _ => panic!("half a name: {client}"),
        };
        (name, client["polls"].as_i64().unwrap_or(-1))
    });
    polls.collect()
}

fn counted<const N: usize>(polls: [(&str, i64); N]) -> BTreeMap<String, i64> {
    let polls = polls.into_iter();
    polls
        .map(|(client, polls)| (client.to_owned(), polls))
        .collect()
}

#[tokio::test]
async fn fetches_and_streams_are_counted_by_client() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    assert_eq!(
        clients(&admin, &checkout.environment).await,
        [] as [Value; 0]
    );
    sdk.fetch_as("@pennon/core/0.1.0").await;
    sdk.fetch_as("@pennon/core/0.1.0").await;
    drop(listen(&sdk, "@pennon/react/0.1.0").await);
    // HEAD requests fetch no configuration, so they are not counted.
    for path in ["/sdk/v1/config", "/sdk/v1/stream"] {
        let head = sdk.request(Method::HEAD, path);
        sdk.send(head.header("x-pennon-client", "@pennon/next/0.1.0"))
            .await
            .expect(StatusCode::OK);
    }
    app.flush_usage().await;
    let expected = [
        json!({
            "package": "@pennon/core", "version": "0.1.0", "polls": 2, "streams": 0,
            "lastSeenAt": START,
        }),
        json!({
            "package": "@pennon/react", "version": "0.1.0", "polls": 0, "streams": 1,
            "lastSeenAt": START,
        }),
    ];
    assert_eq!(clients(&admin, &checkout.environment).await, expected);
    // Later counts are added, and a new key continues them.
    app.advance(3600);
    sdk.fetch_as("@pennon/react/0.1.0").await;
    app.flush_usage().await;
    let admin = app.admin().await;
    let (id, _) = admin.rotate_key(&checkout.environment).await;
    let found = clients(&admin, &id).await;
    assert_eq!(found[0]["package"], "@pennon/react");
    assert_eq!(found[0]["polls"], 1);
    assert_eq!(found[0]["streams"], 1);
    assert_eq!(found[0]["lastSeenAt"], "2026-03-01T10:30:00.000Z");
    assert_eq!(found[1]["lastSeenAt"], START);
}

#[tokio::test]
async fn every_published_package_is_counted_by_name() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../npm");
    let mut expected = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let file = entry.expect("an entry").path().join("package.json");
        if let Ok(manifest) = std::fs::read(file) {
            let manifest: Value = serde_json::from_slice(&manifest).expect("a manifest is JSON");
            let (name, version) = (&manifest["name"], &manifest["version"]);
            let name = format!(
                "{}/{}",
                name.as_str().unwrap_or_default(),
                version.as_str().unwrap_or_default()
            );
            sdk.fetch_as(&*name).await;
            expected.insert(name, 1);
        }
    }
    assert_eq!(expected.len(), 5);
    app.flush_usage().await;
    assert_eq!(polls(&app, &checkout.environment).await, expected);
}

#[tokio::test]
async fn all_versions_newer_than_the_server_are_counted_as_newer() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    for version in ["99.0.0", "99.0.1-rc.1", "18446744073709551615.0.0"] {
        sdk.fetch_as(&*format!("@pennon/nest/{version}")).await;
    }
    sdk.fetch_as(&*format!("@pennon/nest/{VERSION}")).await;
    sdk.fetch_as(&*format!("@pennon/nest/{VERSION}-rc.1")).await;
    sdk.fetch_as("@pennon/core/99.0.0").await;
    app.flush_usage().await;
    let (this, candidate) = (
        format!("@pennon/nest/{VERSION}"),
        format!("@pennon/nest/{VERSION}-rc.1"),
    );
    let expected = [
        ("@pennon/core/newer", 1),
        ("@pennon/nest/newer", 3),
        (&*this, 1),
        (&*candidate, 1),
    ];
    assert_eq!(polls(&app, &checkout.environment).await, counted(expected));
}

#[tokio::test]
async fn malformed_client_names_are_counted_as_other_and_not_stored() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let long = format!("@pennon/core/0.0.1-{}", "a".repeat(46));
    assert_eq!(long.len(), 65);
    let hostile = [
        "",
        "@pennon/core",
        "@pennon/core/",
        "@pennon/core/0.1",
        "@pennon/core/0.1.0/",
        "@pennon/core/v0.1.0",
        "@pennon/core/01.0.0",
        "@pennon/core/0.1.0+build",
        "@pennon/core/newer",
        "@pennon/core/18446744073709551616.0.0",
        "@pennon/CORE/0.1.0",
        "@pennon/unknown/0.1.0",
        "@pennon/core/0.1.0, @pennon/react/0.1.0",
        "<script>alert(1)</script>",
        "';drop table client_hours;--",
        "other",
        &long,
    ];
    let mut others = 2;
    for name in hostile {
        sdk.fetch_as(name).await;
        others += 1;
    }
    sdk.fetch_as(HeaderValue::from_bytes(b"@pennon/core/\xff").expect("a header"))
        .await;
    sdk.get("/sdk/v1/config").await.expect(StatusCode::OK);
    sdk.fetch_as(&long[..64]).await;
    app.flush_usage().await;
    let expected = [(&long[..64], 1), ("other", others)];
    assert_eq!(polls(&app, &checkout.environment).await, counted(expected));
    let stored = "select count(*) from client_hours";
    assert_eq!(app.database().count(stored).await, 2);
}

#[tokio::test]
async fn all_instances_together_count_at_most_fifty_client_names_per_hour() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let other = app.beside().await;
    let names = |numbers: std::ops::Range<usize>| {
        numbers.map(|number| format!("@pennon/core/0.0.{number}"))
    };
    let (here, there) = (app.sdk(&checkout.sdk_key), other.sdk(&checkout.sdk_key));
    // The eighty names exceed the limit of fifty. Known names are still counted.
    for name in names(0..30) {
        here.fetch_as(&*name).await;
    }
    for name in names(20..80) {
        there.fetch_as(&*name).await;
    }
    app.flush_usage().await;
    other.flush_usage().await;
    let found = polls(&app, &checkout.environment).await;
    assert_eq!(found.len(), 51);
    assert_eq!(found.values().sum::<i64>(), 90);
    assert_eq!(found["@pennon/core/0.0.1"], 1);
    assert!(found["other"] >= 30, "{found:?}");
    here.fetch_as("@pennon/core/0.0.1").await;
    here.fetch_as("@pennon/react/0.0.1").await;
    app.flush_usage().await;
    let later = polls(&app, &checkout.environment).await;
    assert_eq!(later.len(), 51);
    assert_eq!(later["@pennon/core/0.0.1"], 2);
    assert_eq!(later["other"], found["other"] + 1);
    // The limit applies to each hour.
    app.advance(3600);
    here.fetch_as("@pennon/react/0.0.1").await;
    app.flush_usage().await;
    assert_eq!(
        polls(&app, &checkout.environment).await["@pennon/react/0.0.1"],
        1
    );
}

#[tokio::test]
async fn a_client_is_in_use_while_its_stream_is_open() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let stream = listen(&app.sdk(&checkout.sdk_key), "@pennon/core/0.1.0").await;
    let seen = async |advance: i64| {
        app.advance(advance);
        app.flush_usage().await;
        let clients = clients(&app.admin().await, &checkout.environment).await;
        assert_eq!(clients.len(), 1);
        assert_eq!(clients[0]["streams"], 1);
        clients[0]["lastSeenAt"].clone()
    };
    assert_eq!(seen(0).await, START);
    assert_eq!(seen(7200).await, "2026-03-01T11:30:00.000Z");
    drop(stream);
    // The server notices when it next writes to the stream.
    app.admin().await.switch_on(&checkout).await;
    eventually("the stream is closed", async || {
        let before = seen(60).await;
        seen(60).await == before
    })
    .await;
}

#[tokio::test]
async fn client_counts_are_deleted_after_31_days() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    app.sdk(&checkout.sdk_key)
        .fetch_as("@pennon/core/0.1.0")
        .await;
    app.flush_usage().await;
    app.advance(31 * 24 * 3600);
    app.flush_usage().await;
    assert_eq!(polls(&app, &checkout.environment).await.len(), 1);
    app.advance(3600);
    app.flush_usage().await;
    assert!(polls(&app, &checkout.environment).await.is_empty());
}

#[tokio::test]
async fn viewers_can_page_through_clients() {
    let app = TestApp::start().await;
    let FlagEnvironment {
        environment,
        sdk_key,
        flag,
        ..
    } = app.admin().await.flag_environment().await;
    let sdk = app.sdk(&sdk_key);
    for name in ["@pennon/core/0.0.1", "@pennon/core/0.1.0", "none"] {
        sdk.fetch_as(name).await;
    }
    app.flush_usage().await;
    let viewer = app.user("vic@example.com", "viewer").await;
    let path = format!("/environments/{environment}/clients");
    let page = viewer.get(&format!("{path}?limit=2&page=2")).await;
    let page = page.expect(StatusCode::OK).json();
    let pagination = json!({ "page": 2, "limit": 2, "total": 3 });
    assert_eq!(page["pagination"], pagination);
    assert_eq!(page["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(page["items"][0]["package"], Value::Null);
    let refused = viewer.get(&format!("{path}?from=1")).await;
    refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    let unknown = viewer.get(&format!("/environments/{flag}/clients")).await;
    unknown.expect_problem(StatusCode::NOT_FOUND, "ENVIRONMENT_NOT_FOUND");
    for caller in [app.anonymous(), app.sdk(&sdk_key)] {
        let refused = caller.get(&path).await;
        assert!(refused.status.is_client_error());
    }
}
