//! The stream of changes for clients, over real connections.

use std::time::Duration;

use pennon_tests::{Answer, Caller, ConfigStream, FlagEnvironment, TestApp};
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The time limit for an expected event.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Returns the identifier of the event for an `ETag`.
fn id(tag: &str) -> &str {
    tag.trim_start_matches("W/").trim_matches('"')
}

/// Returns the tag of the config document.
async fn tag(sdk: &Caller<'_>) -> String {
    let answer = sdk.get("/sdk/v1/config").await.expect(StatusCode::OK);
    answer.header("etag").to_owned()
}

#[tokio::test]
async fn the_first_event_arrives_at_once_with_the_etag_of_the_configuration() {
    let app = TestApp::start().await;
    let key = app.admin().await.flag_environment().await.sdk_key;
    let sdk = app.sdk(&key);
    let mut stream = ConfigStream::open(&sdk).await;
    let header = |name: &str| {
        let value = stream.headers().get(name);
        value.map(|value| value.to_str().expect("text").to_owned())
    };
    let expected = [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-store"),
        ("x-accel-buffering", "no"),
        ("x-content-type-options", "nosniff"),
        ("access-control-allow-origin", "*"),
    ];
    for (name, value) in expected {
        assert_eq!(header(name).as_deref(), Some(value), "{name}");
    }
    assert!(header("x-request-id").is_some());
    assert_eq!(header("content-length"), None);
    assert_eq!(stream.tag().await, Some(tag(&sdk).await));
}

#[tokio::test]
async fn many_clients_are_told_to_spread_their_requests() {
    let app = TestApp::start().await;
    let key = app.admin().await.flag_environment().await.sdk_key;
    let sdk = app.sdk(&key);
    let mut streams = Vec::new();
    for _ in 0..501 {
        streams.push(ConfigStream::open(&sdk).await);
    }
    let mut last = ConfigStream::open(&sdk).await;
    let event = last.block().await.expect("the first event");
    assert!(event.ends_with(",\"spreadMs\":251}"), "{event}");
}

#[tokio::test]
async fn each_change_reaches_all_streams_of_its_environment_and_no_others() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let (other, other_key) = admin.environment("shop", "other").await;
    let (sdk, other_sdk) = (app.sdk(&checkout.sdk_key), app.sdk(&other_key));
    let mut streams = Vec::new();
    for _ in 0..20 {
        streams.push(ConfigStream::open(&sdk).await);
    }
    let mut elsewhere = ConfigStream::open(&other_sdk).await;
    elsewhere.tag().await.expect("the first event");
    for enabled in [true, false, true] {
        for stream in &mut streams {
            stream.tag().await.expect("an event");
        }
        admin.switch_to(&checkout, enabled).await;
    }
    let latest = tag(&sdk).await;
    for stream in &mut streams {
        assert_eq!(stream.tag().await.as_deref(), Some(&*latest));
    }
    admin.switch(&checkout.flag, &other, true).await;
    assert_eq!(elsewhere.tag().await, Some(tag(&other_sdk).await));
}

#[tokio::test]
async fn a_resumed_stream_sends_only_newer_events() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let before = tag(&sdk).await;
    // An ETag of `GET /sdk/v1/config` works like the ID of an event.
    let mut up_to_date = Vec::new();
    for known in [id(&before), &before, before.trim_start_matches("W/")] {
        up_to_date.push(ConfigStream::open_after(&sdk, Some(known)).await);
    }
    admin.switch_on(&checkout).await;
    let after = tag(&sdk).await;
    assert_ne!(before, after);
    for stream in &mut up_to_date {
        assert_eq!(stream.tag().await.as_deref(), Some(&*after));
    }
    for last in [id(&before), &before, "", "\"", "no such event"] {
        let mut stream = ConfigStream::open_after(&sdk, Some(last)).await;
        assert_eq!(stream.tag().await.as_deref(), Some(&*after), "{last}");
    }
}

#[tokio::test]
async fn a_change_on_another_instance_is_sent() {
    let one = TestApp::start().await;
    let key = one.admin().await.flag_environment().await.sdk_key;
    let other = one.beside().await;
    other.follow();
    let mut stream = ConfigStream::open(&other.sdk(&key)).await;
    assert_eq!(stream.tag().await, Some(tag(&one.sdk(&key)).await));
    one.admin().await.flag("another").await;
    assert_eq!(stream.tag().await, Some(tag(&one.sdk(&key)).await));
}

#[tokio::test]
async fn heartbeats_are_sent_but_no_events_without_a_change_of_content() {
    let app = TestApp::with_settings(&["--stream-heartbeat", "1"]).await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let mut stream = ConfigStream::open(&sdk).await;
    stream.tag().await.expect("the first event");
    app.watch();
    app.tamper("update environments set config_revision = config_revision + 1")
        .await;
    for _ in 0..2 {
        assert_eq!(stream.block().await.as_deref(), Some(":"));
    }
    admin.switch_on(&checkout).await;
    assert_eq!(stream.tag().await, Some(tag(&sdk).await));

    app.lose_database().await;
    for _ in 0..2 {
        assert_eq!(stream.block().await.as_deref(), Some(":"));
    }
}

#[tokio::test]
async fn the_stream_ends_when_its_key_is_revoked_or_rotated() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for end in ["revoke", "rotate-key"] {
        let (environment, key) = admin.environment("shop", end).await;
        let sdk = app.sdk(&key);
        let mut stream = ConfigStream::open(&sdk).await;
        stream.tag().await.expect("the first event");
        let path = format!("/environments/{environment}/{end}");
        let ended = admin.post(&path, json!({})).await;
        assert!(ended.status.is_success());
        assert_eq!(stream.block().await, None, "{end}");
        let refused = sdk.get("/sdk/v1/stream").await;
        refused.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    }
}

#[tokio::test]
async fn the_stream_ends_when_another_instance_revokes_its_key() {
    let one = TestApp::start().await;
    let other = one.beside().await;
    let admin = one.admin().await;
    let (environment, key) = admin.environment("shop", "prod").await;
    other.follow();
    let sdk = other.sdk(&key);
    pennon_tests::eventually("the other instance accepts the key", async || {
        sdk.get("/sdk/v1/config").await.status == StatusCode::OK
    })
    .await;
    let mut stream = ConfigStream::open(&sdk).await;
    stream.tag().await.expect("the first event");
    admin.revoke(&environment).await;
    assert_eq!(stream.block().await, None);
}

#[tokio::test]
async fn the_stream_ends_when_the_server_stops() {
    let app = TestApp::start().await;
    let key = app.admin().await.flag_environment().await.sdk_key;
    let mut stream = ConfigStream::open(&app.sdk(&key)).await;
    stream.tag().await.expect("the first event");
    app.drain();
    assert_eq!(stream.block().await, None);
}

#[tokio::test]
async fn unusable_keys_get_the_same_response_as_elsewhere() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, revoked) = admin.environment("shop", "prod").await;
    admin.revoke(&environment).await;
    let authorization = app.authorization().await;
    let expected = app.anonymous().get("/sdk/v1/config").await;
    for caller in [
        app.anonymous(),
        app.with_authorization(""),
        app.with_authorization("Basic cG46cG4="),
        app.with_authorization(authorization),
        app.sdk("pnk_unknown"),
        app.sdk(&revoked),
    ] {
        let refused = caller.get("/sdk/v1/stream").await;
        let refused = refused.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
        assert_eq!(refused.bytes, expected.bytes);
        let names = |answer: &Answer| -> Vec<String> {
            let names = answer.headers.keys();
            names.map(ToString::to_string).collect()
        };
        assert_eq!(names(&refused), names(&expected));
        for name in ["www-authenticate", "access-control-allow-origin"] {
            assert_eq!(refused.header(name), expected.header(name));
        }
    }
    app.watch();
    app.lose_database().await;
    pennon_tests::eventually("the outage is noticed", async || {
        let answer = app.sdk("pnk_unknown").get("/sdk/v1/stream").await;
        answer.status == StatusCode::SERVICE_UNAVAILABLE && answer.header("retry-after") == "5"
    })
    .await;
}

#[tokio::test]
async fn pages_from_other_origins_may_open_the_stream() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let preflight = anonymous
        .request(Method::OPTIONS, "/sdk/v1/stream")
        .header("origin", "https://shop.example.com")
        .header("access-control-request-method", "GET")
        .header(
            "access-control-request-headers",
            "authorization,last-event-id,x-pennon-client",
        );
    let answer = anonymous.send(preflight).await.expect(StatusCode::OK);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    let allowed = answer.header("access-control-allow-headers");
    for header in ["authorization", "last-event-id", "x-pennon-client"] {
        assert!(allowed.contains(header), "{allowed}");
    }
}

#[tokio::test]
async fn head_returns_the_headers_and_ends() {
    let app = TestApp::start().await;
    let key = app.admin().await.flag_environment().await.sdk_key;
    let sdk = app.sdk(&key);
    let answer = sdk
        .send(sdk.request(Method::HEAD, "/sdk/v1/stream?unknown=1"))
        .await
        .expect(StatusCode::OK);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert!(answer.bytes.is_empty());
    let refused = sdk.post("/sdk/v1/stream", json!({})).await;
    let refused = refused.expect_problem(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED");
    assert_eq!(refused.header("allow"), "GET,HEAD");
}

#[tokio::test]
async fn a_client_that_does_not_read_delays_no_other() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        flag,
        environment,
        sdk_key,
        ..
    } = admin.flag_environment().await;
    let mut idle = TcpStream::connect(app.address())
        .await
        .expect("a connection");
    let request = format!(
        "GET /sdk/v1/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {sdk_key}\r\n\r\n"
    );
    idle.write_all(request.as_bytes()).await.expect("written");
    let sdk = app.sdk(&sdk_key);
    let mut stream = ConfigStream::open(&sdk).await;
    stream.tag().await.expect("the first event");
    for number in 0..50 {
        admin.switch(&flag, &environment, number % 2 == 0).await;
        assert_eq!(stream.tag().await, Some(tag(&sdk).await));
    }
    admin.revoke(&environment).await;
    assert_eq!(stream.block().await, None);
    let mut received = Vec::new();
    while !received.ends_with(b"\r\n0\r\n\r\n") {
        let read = timeout(TIMEOUT, idle.read_buf(&mut received)).await;
        let read = read.expect("data arrives in time");
        assert_ne!(read.expect("the connection holds"), 0);
    }
}
