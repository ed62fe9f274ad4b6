//! PgBouncer between instances and PostgreSQL.

use std::time::{Duration, Instant};

use pennon_tests::load::LoadClient;
use pennon_tests::{Pooler, Process, Proxy, TestApp, TestDatabase, eventually};
use reqwest::StatusCode;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

/// The maximum time until all instances serve a change.
const PROPAGATION: Duration = Duration::from_millis(250);

/// The additional time for a busy machine.
const TOLERANCE: Duration = Duration::from_millis(250);

#[tokio::test]
async fn transaction_pooling_without_its_parameter_fails_the_start() {
    let database = TestDatabase::create().await;
    for (mode, size) in [("transaction", 1), ("transaction", 20)] {
        let Some(pooler) = Pooler::before(&database, mode, size).await else {
            return;
        };
        let url = pooler.database(&database, "sslmode=prefer");
        let log = Process::fails_to_start(url.url(), &[]).await;
        assert!(log.contains("`pgbouncer=true`"), "{log}");
        let command = url.command(&["user", "list"]).await;
        command.expect_failure("`pgbouncer=true`");
    }
}

#[tokio::test]
async fn session_pooling_needs_no_parameter() {
    let database = TestDatabase::create().await;
    let Some(pooler) = Pooler::before(&database, "session", 40).await else {
        return;
    };
    let one = TestApp::over(pooler.database(&database, "")).await;
    let other = one.beside().await;
    other.follow();
    let checkout = one.admin().await.flag_environment().await;
    let key = &checkout.sdk_key;
    one.admin().await.switch_on(&checkout).await;
    eventually("the change is announced", async || {
        other.sdk(key).is_on("checkout").await
    })
    .await;
}

#[tokio::test]
async fn a_revoked_key_is_soon_refused_by_the_other_instance() {
    let database = TestDatabase::create().await;
    let Some(pooler) = Pooler::before(&database, "transaction", 20).await else {
        return;
    };
    let one = TestApp::over(pooler.database(&database, "pgbouncer=true")).await;
    let other = one.beside().await;
    // The other instance follows announcements, and does not poll in any other way.
    other.follow();
    let admin = one.admin().await;
    let mut took = Vec::new();
    for number in 0..8 {
        let (environment, key) = admin.environment("shop", &format!("number-{number}")).await;
        eventually("the other instance accepts the key", async || {
            !other.sdk(&key).is_refused().await
        })
        .await;
        admin.revoke(&environment).await;
        let revoked = Instant::now();
        eventually("the other instance refuses the key", async || {
            other.sdk(&key).is_refused().await
        })
        .await;
        took.push(revoked.elapsed());
    }
    took.sort();
    println!("revoked keys were refused after {took:?}");
    assert!(took[took.len() / 2] <= PROPAGATION, "{took:?}");
    assert!(took[took.len() - 1] <= PROPAGATION + TOLERANCE, "{took:?}");
}

#[tokio::test]
async fn flag_changes_reach_instances_with_and_without_the_pooler() {
    let database = TestDatabase::create().await;
    let Some(pooler) = Pooler::before(&database, "transaction", 20).await else {
        return;
    };
    let one = TestApp::over(pooler.database(&database, "pgbouncer=true")).await;
    let other = one.beside().await;
    // The second instance on the direct connection. The first one has the same identity as `one`, so it would ignore
    // the notifications of `one` as its own.
    let direct = TestApp::on_database(database.url()).await.beside().await;
    other.follow();
    direct.follow();
    let admin = one.admin().await;
    let checkout = admin.flag_environment().await;
    for enabled in [true, false, true] {
        admin.switch_to(&checkout, enabled).await;
        for app in [&one, &other, &direct] {
            eventually("the change is served", async || {
                app.sdk(&checkout.sdk_key).is_on("checkout").await == enabled
            })
            .await;
        }
    }
}

#[tokio::test]
async fn instances_that_start_together_create_the_tables_once() {
    let database = TestDatabase::create().await;
    let Some(pooler) = Pooler::before(&database, "transaction", 4).await else {
        return;
    };
    let behind = pooler.database(&database, "pgbouncer=true");
    let mut processes: Vec<Process> = (0..2)
        .map(|_| Process::starting(behind.url(), &[]))
        .collect();
    processes.push(Process::starting(database.url(), &[]));
    for process in &processes {
        process.wait_until_ready().await;
    }
    drop(processes);
    // No prepared statement remains on the server's connections.
    for _ in 0..3 {
        behind.command(&["user", "list"]).await.expect_success();
    }
    let app = TestApp::over(behind).await;
    app.command(&["export"]).await.expect_success();
}

/// Sends requests that use many statements, and expects the right response to each.
async fn exercise_statements(app: &TestApp, caller: &str) {
    let admin = app.admin().await;
    for number in 0..10 {
        let key = format!("{caller}-{number}");
        let flag = json!({ "key": key, "name": key, "type": "boolean" });
        let made = admin.post("/flags", flag).await;
        let made = made.expect(StatusCode::CREATED);
        let read = admin.get(&format!("/flags/{}", made.text("/id"))).await;
        assert_eq!(read.expect(StatusCode::OK).text("/key"), key);
        admin.get("/audit").await.expect(StatusCode::OK);
        admin.get("/environments").await.expect(StatusCode::OK);
    }
}

#[tokio::test]
async fn concurrent_callers_get_the_results_of_their_own_statements() {
    let database = TestDatabase::create().await;
    let Some(pooler) = Pooler::before(&database, "transaction", 3).await else {
        return;
    };
    let one = TestApp::over(pooler.database(&database, "pgbouncer=true")).await;
    let other = one.beside().await;
    tokio::join!(
        exercise_statements(&one, "a"),
        exercise_statements(&other, "b"),
        exercise_statements(&one, "c"),
        exercise_statements(&other, "d"),
        exercise_statements(&one, "e"),
        exercise_statements(&other, "f"),
    );
    let flags = database.count("select count(*) from flags").await;
    assert_eq!(flags, 60);
}

#[tokio::test]
async fn restarting_the_pooler_interrupts_only_administration() {
    let database = TestDatabase::create().await;
    let Some(mut pooler) = Pooler::before(&database, "transaction", 20).await else {
        return;
    };
    let behind = pooler.database(&database, "pgbouncer=true");
    let process = Process::start(&behind, &[]).await;
    let health = async || process.anonymous().get("/health").await.body();
    pooler.kill();
    eventually("the loss is noticed", async || {
        health().await.contains("degraded")
    })
    .await;
    pooler.restart().await;
    eventually("the server recovers", async || {
        !health().await.contains("degraded")
    })
    .await;
    assert!(!process.access_token().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_do_not_wait_for_a_server_that_the_pooler_cannot_reach() {
    let database = TestDatabase::create().await;
    if !database.is_postgres() {
        return;
    }
    let proxy = Proxy::before(&database).await;
    let proxied = proxy.database(&database);
    let Some(pooler) = Pooler::before(&proxied, "transaction", 20).await else {
        return;
    };
    let behind = pooler.database(&database, "pgbouncer=true");
    let process = Process::start(&behind, &[]).await;
    let client = LoadClient::prepared(&process).await;
    let lost = Instant::now() + Duration::from_secs(1);
    let end = lost + Duration::from_secs(6);
    let mut callers = JoinSet::new();
    for _ in 0..12 {
        let client = client.clone();
        callers.spawn(async move {
            let mut slowest = Duration::ZERO;
            while Instant::now() < end {
                let exchange = client.exchange("list").await;
                slowest = slowest.max(exchange.received - exchange.sent);
            }
            slowest
        });
    }
    sleep_until(lost.into()).await;
    proxy.cut();
    sleep_until(end.into()).await;
    proxy.resume();
    let slowest = callers.join_all().await.into_iter().max();
    assert!(slowest < Some(Duration::from_secs(4)), "{slowest:?}");
}

#[tokio::test]
async fn the_error_names_parameters_that_the_pooler_refuses() {
    let database = TestDatabase::create().await;
    let Some(pooler) = Pooler::before(&database, "transaction", 20).await else {
        return;
    };
    let parameters = "pgbouncer=true&options=-c%20statement_timeout%3D5s";
    let url = pooler.database(&database, parameters);
    let log = Process::fails_to_start(url.url(), &[]).await;
    assert!(
        log.contains("unsupported startup parameter: options"),
        "{log}"
    );
    assert!(log.contains("`ignore_startup_parameters`"), "{log}");
}
