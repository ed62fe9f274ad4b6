//! Prometheus metrics.

use std::cell::Cell;

use pennon_tests::{Answer, EMAIL, FlagEnvironment, PASSWORD, TestApp, Wire, equals, eventually};
use reqwest::{Method, StatusCode};
use serde_json::json;

async fn app() -> TestApp {
    TestApp::with_settings(&["--metrics-listen", "127.0.0.1:0"]).await
}

/// Returns the value of a series, which is named with its labels.
fn value(metrics: &[String], series: &str) -> Option<f64> {
    let line = metrics
        .iter()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))?;
    Some(line.parse().expect("a number"))
}

fn requests(metrics: &[String], method: &str, route: &str, status: u16) -> Option<f64> {
    let labels = format!(r#"{{method="{method}",route="{route}",status="{status}"}}"#);
    value(
        metrics,
        &format!("pennon_http_request_duration_seconds_count{labels}"),
    )
}

#[tokio::test]
async fn requests_are_counted_by_method_route_and_status_without_personal_data() {
    let app = app().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        flag,
        environment,
        sdk_key,
        path,
    } = admin.flag_environment().await;
    admin.switch(&flag, &environment, true).await;
    let sdk = app.sdk(&sdk_key);
    let question = json!({ "flagKey": "checkout", "context": { "userId": "ada" } });
    for _ in 0..3 {
        sdk.post("/sdk/v1/evaluate", question.clone())
            .await
            .expect(StatusCode::OK);
    }
    sdk.post("/sdk/v1/evaluate/", json!({ "flagKey": "nonsense" }))
        .await
        .expect(StatusCode::NOT_FOUND);
    admin.get(&path).await.expect(StatusCode::OK);
    for unknown in ["/wp-login.php", "/sdk/v1/ada", "/flags/ada/lovelace"] {
        let answer = app.anonymous().get(unknown).await;
        answer.expect(StatusCode::NOT_FOUND);
    }
    let brew = Method::from_bytes(b"BREW").expect("a method");
    let caller = app.anonymous();
    caller.send(caller.request(brew, "/flags")).await;

    let metrics = app.metrics().await;
    let counted = |method, route, status| requests(&metrics, method, route, status);
    let checkout = "/flags/{flag}/environments/{environment}";
    assert_eq!(counted("POST", "/sdk/v1/evaluate", 200), Some(3.0));
    assert_eq!(counted("POST", "/sdk/v1/evaluate", 404), Some(1.0));
    assert_eq!(counted("GET", checkout, 200), Some(1.0));
    assert_eq!(counted("PUT", checkout, 204), Some(1.0));
    assert_eq!(counted("POST", "/flags", 201), Some(1.0));
    assert_eq!(counted("other", "/flags", 405), Some(1.0));
    let text = metrics.join("\n");
    for secret in [
        flag.as_str(),
        &environment,
        &sdk_key,
        &sdk_key[..12],
        "ada",
        "checkout",
        "wp-login",
        "BREW",
        "private",
    ] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
    assert_eq!(counted("GET", "none", 404), Some(3.0), "{text}");
}

#[tokio::test]
async fn the_state_of_the_server_is_reported() {
    let app = app().await;
    let admin = app.admin().await;
    admin.flag_environment().await;
    admin.flag("search").await;
    let other = admin.environment("shop", "test").await.0;
    let metrics = app.metrics().await;
    let now = |series| value(&metrics, series);
    assert_eq!(now("pennon_database_up"), Some(1.0));
    assert_eq!(now("pennon_environments"), Some(2.0));
    assert_eq!(now("pennon_environment_flags"), Some(4.0));
    assert_eq!(now("pennon_http_requests_in_flight"), Some(0.0));
    assert!(now("pennon_http_connections") >= Some(1.0));
    assert!(now("pennon_snapshot_age_seconds") < Some(60.0));
    let version = env!("CARGO_PKG_VERSION");
    let build = format!(r#"pennon_build_info{{version="{version}"}}"#);
    assert_eq!(value(&metrics, &build), Some(1.0));

    admin.revoke(&other).await;
    let metrics = app.metrics().await;
    assert_eq!(value(&metrics, "pennon_environments"), Some(1.0));

    app.watch();
    app.lose_database().await;
    eventually("the database is down", async || {
        value(&app.metrics().await, "pennon_database_up") == Some(0.0)
    })
    .await;
    let age = async || value(&app.metrics().await, "pennon_snapshot_age_seconds");
    let before = age().await;
    eventually("the snapshots age", async || age().await > before).await;
}

#[tokio::test]
async fn requests_in_flight_and_refused_requests_are_counted() {
    let arguments = ["--metrics-listen", "127.0.0.1:0", "--max-in-flight", "1"];
    let app = TestApp::with_settings(&arguments).await;
    let in_flight = async || value(&app.metrics().await, "pennon_http_requests_in_flight");
    let refused = Cell::new(0.0);
    let note = |answer: Answer| {
        if answer.status == StatusCode::SERVICE_UNAVAILABLE {
            refused.set(refused.get() + 1.0);
        }
    };
    let mut was_in_flight = false;
    // Verifying a password is slow. Meanwhile, other requests exceed the limit.
    while refused.get() < 2.0 || !was_in_flight {
        let is_done = Cell::new(false);
        let signing_in = async {
            note(app.sign_in(EMAIL, PASSWORD).await);
            is_done.set(true);
        };
        let asking = async {
            while !is_done.get() {
                note(app.anonymous().get("/flags").await);
                was_in_flight |= in_flight().await == Some(1.0);
            }
        };
        tokio::join!(signing_in, asking);
    }
    let shed = value(&app.metrics().await, "pennon_http_requests_shed_total");
    assert_eq!(shed, Some(refused.get()));
    assert_eq!(in_flight().await, Some(0.0));
}

#[tokio::test]
async fn the_api_port_does_not_serve_metrics() {
    let app = app().await;
    app.anonymous()
        .get("/metrics")
        .await
        .expect_problem(StatusCode::NOT_FOUND, "NO_SUCH_PATH");
}

#[tokio::test]
async fn few_responses_are_prepared_for_a_peer_that_does_not_read() {
    let app = app().await;
    let admin = app.admin().await;
    let FlagEnvironment { sdk_key, path, .. } = admin.flag_environment().await;
    let condition = equals("plan", "x".repeat(1024));
    for priority in [1, 2] {
        let conditions = vec![&condition; 50];
        let rule = json!({ "priority": priority, "logic": "and", "value": true, "conditions": conditions });
        admin.rule(&path, rule).await;
    }
    let answered = async || {
        let metrics = app.metrics().await;
        requests(&metrics, "GET", "/sdk/v1/config", 200).unwrap_or_default()
    };
    // Each document has 100 KiB.
    let mut reader = Wire::to(app.address()).await;
    let request = format!(
        "GET /sdk/v1/config HTTP/1.1\r\nhost: pennon\r\nauthorization: Bearer {sdk_key}\r\n\r\n"
    );
    reader.write(&request.repeat(60)).await;
    eventually("some requests are answered", async || {
        answered().await > 0.0
    })
    .await;
    // Serves other requests, which gives the server time to prepare more responses for the first connection.
    for _ in 0..500 {
        let response = app.sdk(&sdk_key).get("/health").await;
        response.expect(StatusCode::OK);
    }
    assert!(answered().await < 20.0, "{} were made", answered().await);
}
