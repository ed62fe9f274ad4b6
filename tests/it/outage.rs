//! Behavior without the database: evaluation continues, administration is refused.

use std::time::Duration;

use pennon_tests::load::{Exchange, LoadClient};
use pennon_tests::{
    Browser, LossyProxy, Process, Proxy, TestApp, TestDatabase, equals, eventually, free_address,
    rule,
};
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;

#[tokio::test]
async fn without_the_database_evaluation_continues_and_administration_sends_retry_after() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let sdk = app.sdk(&checkout.sdk_key);
    let tag = sdk
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::OK)
        .header("etag")
        .to_owned();
    app.watch();
    app.lose_database().await;
    eventually("health is degraded", async || {
        app.anonymous()
            .get("/health")
            .await
            .expect(StatusCode::OK)
            .text("/status")
            == "degraded"
    })
    .await;
    app.anonymous()
        .get("/health/ready")
        .await
        .expect(StatusCode::OK);

    let answer = sdk.evaluate("checkout").await;
    assert_eq!(answer.expect(StatusCode::OK).json()["enabled"], true);
    let document = sdk.get("/sdk/v1/config").await.expect(StatusCode::OK);
    assert_eq!(document.header("etag"), tag);

    for answer in [
        admin.get("/flags").await,
        admin.post("/flags", json!({})).await,
        app.sdk("pnk_that_may_be_new").get("/sdk/v1/config").await,
    ] {
        let answer = answer.expect_problem(StatusCode::SERVICE_UNAVAILABLE, "DATABASE_UNAVAILABLE");
        assert_eq!(answer.header("retry-after"), "5");
    }
    let page = app.anonymous().request(Method::GET, "/dashboard/flags");
    let page = page.header("cookie", "pennon_session=one-that-cannot-be-looked-up");
    let page = admin.send(page).await;
    let page = page.expect(StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(page.header("retry-after"), "5");
    app.sdk("")
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_flag_with_an_unreadable_rule_keeps_its_last_state_until_disabled_or_repaired() {
    let app = TestApp::with_settings(&["--metrics-listen", "127.0.0.1:0"]).await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    admin
        .rule(&checkout.path, rule(1, equals("country", "PE")))
        .await;
    let (other, other_key) = admin.environment("shop", "other").await;
    let reason = async || {
        let question = json!({ "flagKey": "checkout", "context": { "country": "PE" } });
        let answer = app
            .sdk(&checkout.sdk_key)
            .post("/sdk/v1/evaluate", question)
            .await;
        answer.expect(StatusCode::OK).text("/reason")
    };
    app.tamper("update rules set conditions = '{\"broken\": true}'")
        .await;
    let change = json!({ "ttlOverrideSeconds": 5 });
    admin
        .put(&checkout.path, change)
        .await
        .expect(StatusCode::NO_CONTENT);
    assert_eq!(reason().await, "targeting_rule");
    assert_eq!(degraded(&app).await, ["UNREADABLE_DATA"]);
    let metrics = app.metrics().await;
    assert!(metrics.contains(&"pennon_damaged_data 1".to_owned()));
    admin.revoke(&other).await;
    app.sdk(&other_key)
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::UNAUTHORIZED);

    admin.switch_off(&checkout).await;
    assert_eq!(reason().await, "flag_disabled");
    admin.switch_on(&checkout).await;
    assert_eq!(reason().await, "flag_disabled");
    let restarted = app.beside().await;
    let question = json!({ "flagKey": "checkout", "context": { "country": "PE" } });
    let restarted = restarted.sdk(&checkout.sdk_key);
    let answer = restarted.post("/sdk/v1/evaluate", question).await;
    assert_eq!(answer.text("/reason"), "flag_disabled");
    assert_eq!(degraded(&app).await, ["UNREADABLE_DATA"]);

    app.watch();
    app.tamper(
        r#"update rules set conditions =
            '[{"attribute":"country","operator":"==","valueType":"string","valueString":"PE"}]'"#,
    )
    .await;
    eventually("the rule is read", async || {
        reason().await == "targeting_rule"
    })
    .await;
    assert!(degraded(&app).await.is_empty());
}

#[tokio::test]
async fn a_flag_with_an_unreadable_ttl_can_still_be_disabled_and_archived() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    app.tamper("update flag_environments set ttl_override_seconds = 0")
        .await;

    let page = Browser::signed_in(&app)
        .await
        .page("/dashboard/flags")
        .await;
    assert!(page.contains("checkout"));
    admin.switch_off(&checkout).await;
    let flag = format!("/flags/{}", checkout.flag);
    admin.delete(&flag).await.expect(StatusCode::NO_CONTENT);
    assert!(degraded(&app).await.is_empty());
}

/// Returns the reasons why the server is degraded.
async fn degraded(app: &TestApp) -> Vec<String> {
    let health = app.anonymous().get("/health").await.json();
    serde_json::from_value(health["reasons"].clone()).expect("reasons")
}

/// Returns the status of the server and the status of its database.
async fn health(app: &TestApp) -> (String, String) {
    let health = app.anonymous().get("/health").await;
    (health.text("/status"), health.text("/database/status"))
}

#[tokio::test]
async fn an_unreadable_environment_does_not_delay_others_and_health_reports_it() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let broken = admin.flag_environment().await;
    let rule = json!({ "priority": 1, "logic": "and", "value": false, "conditions": [equals("vip", true)] });
    admin.rule(&broken.path, rule).await;
    let mut others = Vec::new();
    for name in ["a", "b", "c"] {
        others.push(admin.environment("shop", name).await.1);
    }
    let is_on = async |key: &str| {
        let answer = app.sdk(key).evaluate("checkout").await;
        answer.expect(StatusCode::OK).json()["enabled"] == true
    };
    // From now on, the query for this rule fails.
    for sql in [
        "alter table rules rename to kept_rules",
        "create view rules as select id, flag_id, environment_id, logic, value, conditions, created_at, updated_at,
            revision, priority + abs(case when value then 0 else -9223372036854775807 - 1 end) as priority from kept_rules",
        "update flag_environments set is_enabled = true, config_revision = config_revision + 100",
        "update environments set config_revision = config_revision + 100",
    ] {
        app.tamper(sql).await;
    }
    app.watch();
    for key in &others {
        eventually("the others are read", async || is_on(key).await).await;
    }
    assert!(!is_on(&broken.sdk_key).await);
    eventually("health reports it", async || {
        health(&app).await == ("degraded".to_owned(), "up".to_owned())
    })
    .await;
    app.tamper("drop view rules").await;
    app.tamper("alter table kept_rules rename to rules").await;
    eventually("the environment is read", async || {
        is_on(&broken.sdk_key).await
    })
    .await;
    eventually("health reports it", async || {
        health(&app).await == ("ok".to_owned(), "up".to_owned())
    })
    .await;
}

#[tokio::test]
async fn an_environment_whose_own_row_is_damaged_keeps_its_keys() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let damaged = admin.flag_environment().await;
    let (_, other_key) = admin.environment("shop", "other").await;
    let serves = async |key: &str| app.sdk(key).get("/sdk/v1/config").await;
    app.tamper(
        "update environments set previous_key_hash = substr(sdk_key_hash, 1, 3), previous_key_ends_at = 1
         where name <> 'other'",
    )
    .await;
    // A creation makes the server compare all environments with the database.
    admin.environment("shop", "new").await;
    assert_eq!(degraded(&app).await, ["UNREADABLE_DATA"]);
    for key in [&damaged.sdk_key, &other_key] {
        serves(key).await.expect(StatusCode::OK);
    }
    app.tamper("update environments set previous_key_hash = null, previous_key_ends_at = null")
        .await;
    admin.revoke(&damaged.environment).await;
    serves(&damaged.sdk_key)
        .await
        .expect(StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn an_unreadable_environment_is_logged_once() {
    let database = TestDatabase::create().await;
    let process = Process::start(&database, &[]).await;
    let admin = process.admin().await;
    admin.environment("shop", "prod").await;
    database
        .execute("update environments set sdk_key_hash = substr(sdk_key_hash, 1, 3)")
        .await;
    eventually("health reports it", async || {
        admin.get("/health").await.text("/status") == "degraded"
    })
    .await;
    // Each creation makes the server compare all environments with the database.
    for product in ["a", "b", "c"] {
        admin.environment(product, "prod").await;
    }
    let log = process.stop().await.log;
    assert_eq!(log.matches("cannot read stored data").count(), 1, "{log}");
    assert_eq!(log.matches("ERROR").count(), 1, "{log}");
}

#[tokio::test]
async fn a_database_that_accepts_no_connections_counts_as_unreachable() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let process = Process::start(&database.for_own_role().await, &[]).await;
    let client = LoadClient::prepared(&process).await;
    database.limit_connections(Some(0)).await;
    eventually("health is degraded", async || {
        client.health("/health").await.1 == "degraded"
    })
    .await;
    // From then on, refusals no longer wait for a connection, which takes 1.5 seconds.
    process.wait_until_it_logs("closing its connections").await;
    let refused = client.exchange("create").await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.retry_after, "5");
    let waited = refused.received - refused.sent;
    assert!(waited < Duration::from_secs(1), "{waited:?}");
    assert_eq!(client.exchange("evaluate").await.status, StatusCode::OK);

    database.limit_connections(None).await;
    eventually("flags are created again", async || {
        client.exchange("create").await.status == StatusCode::CREATED
    })
    .await;
}

#[tokio::test]
async fn without_connections_for_writes_reads_continue_and_health_reports_it() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let process = Process::start(&database.for_own_role().await, &[]).await;
    let client = LoadClient::prepared(&process).await;
    database.limit_new_connections(Some(1)).await;
    // They share the connections that are left.
    for read in concurrently(&client, "list", 8).await {
        assert_eq!(read.status, StatusCode::OK, "{read:?}");
    }

    // Transactions that read are rolled back.
    let of_writes = "state = 'idle' and query = 'COMMIT'";
    database.end_connections(of_writes).await;
    for refused in concurrently(&client, "create", 4).await {
        assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(refused.retry_after, "5");
        let waited = refused.received - refused.sent;
        assert!(waited < Duration::from_secs(4), "{waited:?}");
    }
    let health = process.anonymous().get("/health").await;
    assert_eq!(health.json()["reasons"], json!(["DATABASE_UNAVAILABLE"]));
    assert_eq!(health.text("/database/status"), "down");
    let refused = client.exchange("sign in").await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(client.exchange("list").await.status, StatusCode::OK);

    database.limit_new_connections(None).await;
    eventually("health is ok", async || {
        client.health("/health").await.1 == "ok"
    })
    .await;
    assert_eq!(client.exchange("create").await.status, StatusCode::CREATED);
    let log = process.stop().await.log;
    assert_eq!(
        log.matches("accepts no more connections").count(),
        1,
        "{log}"
    );
}

/// Sends a request several times at once.
async fn concurrently(client: &LoadClient, operation: &'static str, count: usize) -> Vec<Exchange> {
    let mut sent = JoinSet::new();
    for _ in 0..count {
        let client = client.clone();
        sent.spawn(async move { client.exchange(operation).await });
    }
    sent.join_all().await
}

#[tokio::test]
async fn reads_from_a_distant_database_open_only_the_connections_that_they_use() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let process = Process::start(&proxy.database(&database), &[]).await;
    let client = LoadClient::prepared(&process).await;
    // To open a connection takes longer than it takes the connection of the last read to become free.
    proxy.delay(15);
    let before = proxy.connections();
    for _ in 0..20 {
        client.exchange("list").await;
    }
    let opened = proxy.connections() - before;
    assert!(opened <= 4, "{opened} connections for one client");
}

#[tokio::test]
async fn a_canceled_request_leaves_no_transaction_open() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let metrics = free_address().to_string();
    let settings = [("PENNON_METRICS_LISTEN", &*metrics)];
    let process = Process::start(&proxy.database(&database), &settings).await;
    let client = LoadClient::prepared(&process).await;
    // No connection is tested that was used just before.
    concurrently(&client, "list", 8).await;
    proxy.hang();
    let waiting = timeout(Duration::from_millis(200), concurrently(&client, "list", 4));
    assert!(waiting.await.is_err(), "the database hangs");
    eventually("the server notices that the clients are gone", async || {
        let metrics = reqwest::get(format!("http://{metrics}/metrics")).await;
        let metrics = metrics.expect("the server answers").text().await;
        let metrics = metrics.expect("the metrics are text");
        metrics.contains("\npennon_http_requests_in_flight 0\n")
    })
    .await;
    proxy.resume();
    concurrently(&client, "list", 8).await;
    let log = process.stop().await.log;
    assert!(!log.contains("already a transaction"), "{log}");
}

#[tokio::test]
async fn an_unconfirmed_commit_is_reported_as_uncertain() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        // On SQLite, a commit has no network response that can get lost.
        return;
    };
    let proxy = LossyProxy::before(&database).await;
    let app = TestApp::over(proxy.database(&database)).await;
    let admin = app.admin().await;
    proxy.lose_next_commit();
    let body = json!({ "key": "checkout", "name": "x", "type": "boolean" });
    let answer = admin.post("/flags", body).await;
    let answer = answer.expect_problem(StatusCode::SERVICE_UNAVAILABLE, "DATABASE_UNAVAILABLE");
    assert_eq!(answer.header("retry-after"), "5");
    assert!(
        answer
            .text("/detail")
            .contains("may or may not have been saved")
    );
    let flags = admin.get("/flags").await.expect(StatusCode::OK);
    assert_eq!(flags.text("/items/0/key"), "checkout");

    let (environment, _) = admin.environment("shop", "production").await;
    let flag = flags.text("/items/0/id");
    let browser = Browser::signed_in(&app).await;
    proxy.lose_next_commit();
    let form = format!("flag={flag}&environment={environment}&enabled=true");
    let path = "/dashboard/api/set-enabled";
    let answer = browser
        .post_from("same-origin", "application/json", path, &form)
        .await;
    let answer = answer.expect(StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.text("/code"), "OutcomeUnknown");
    proxy.lose_next_commit();
    let form = "key=other&name=Other&type=boolean";
    let page = browser.post("/dashboard/new-flag", form).await;
    let page = page.expect(StatusCode::SERVICE_UNAVAILABLE);
    let page = page.body();
    assert!(page.contains("may or may not have been saved"), "{page}");
    assert!(!page.contains("Nothing was changed"), "{page}");
}
