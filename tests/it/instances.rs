//! Several instances on one database: each serves the changes of the others.
//!
//! On PostgreSQL, the instances in these tests never poll, so every change that arrives was announced.

use std::time::Duration;

use pennon_tests::load::LoadClient;
use pennon_tests::{Answer, FlagEnvironment, Process, TestApp, TestDatabase, Wire, eventually};
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::{AssertSqlSafe, PgConnection};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Closes the connections on which instances listen, as a network failure or an administrator may.
async fn cut_off_listeners(app: &TestApp) {
    let cut: i64 = sqlx::query_scalar(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity
         where datname = current_database() and application_name like 'pennon % listening'",
    )
    .fetch_one(&mut app.database().postgres().await)
    .await
    .expect("PostgreSQL answers");
    assert!(cut > 0, "no instance listens");
}

/// Waits until an instance listens.
async fn wait_until_an_instance_listens(app: &TestApp) {
    eventually("an instance listens", async || {
        let listeners: i64 = sqlx::query_scalar(
            "select count(*) from pg_stat_activity
             where datname = current_database() and application_name like 'pennon % listening'
               and state = 'idle' and (query ilike 'listen%' or query = 'select 1')",
        )
        .fetch_one(&mut app.database().postgres().await)
        .await
        .expect("PostgreSQL answers");
        listeners > 0
    })
    .await;
}

#[tokio::test]
async fn a_change_on_one_instance_is_served_by_the_others() {
    let one = TestApp::start().await;
    let others = [one.beside().await, one.beside().await];
    others.iter().for_each(TestApp::follow);
    let admin = one.admin().await;
    let checkout = admin.flag_environment().await;
    for enabled in [true, false, true] {
        admin.switch_to(&checkout, enabled).await;
        assert_eq!(one.sdk(&checkout.sdk_key).is_on("checkout").await, enabled);
        for other in &others {
            eventually("the other instance serves the change", async || {
                other.sdk(&checkout.sdk_key).is_on("checkout").await == enabled
            })
            .await;
        }
    }
}

#[tokio::test]
async fn a_key_revoked_or_rotated_on_one_instance_is_refused_by_the_others() {
    let one = TestApp::start().await;
    let other = one.beside().await;
    other.follow();
    let admin = one.admin().await;
    let (first, first_key) = admin.environment("shop", "first").await;
    let (second, second_key) = admin.environment("shop", "second").await;
    for key in [&first_key, &second_key] {
        eventually("the other instance accepts the key", async || {
            !other.sdk(key).is_refused().await
        })
        .await;
    }

    admin.revoke(&first).await;
    assert!(one.sdk(&first_key).is_refused().await);
    eventually("the other instance refuses the revoked key", async || {
        other.sdk(&first_key).is_refused().await
    })
    .await;

    let (_, third_key) = admin.rotate_key(&second).await;
    assert!(one.sdk(&second_key).is_refused().await);
    assert!(!one.sdk(&third_key).is_refused().await);
    eventually("the other instance accepts only the new key", async || {
        other.sdk(&second_key).is_refused().await && !other.sdk(&third_key).is_refused().await
    })
    .await;
}

#[tokio::test]
async fn changes_arrive_after_the_listening_connection_is_closed() {
    let one = TestApp::start().await;
    if !one.database().is_postgres() {
        return;
    }
    let other = one.beside().await;
    other.follow();
    let admin = one.admin().await;
    let checkout = admin.flag_environment().await;
    for enabled in [true, false, true] {
        wait_until_an_instance_listens(&one).await;
        cut_off_listeners(&one).await;
        admin.switch_to(&checkout, enabled).await;
        eventually("the other instance serves the change", async || {
            other.sdk(&checkout.sdk_key).is_on("checkout").await == enabled
        })
        .await;
    }
}

#[tokio::test]
async fn everything_is_reloaded_after_the_listening_connection_is_replaced() {
    let one = TestApp::start().await;
    if !one.database().is_postgres() {
        return;
    }
    let other = one.beside().await;
    other.follow();
    let key = one.admin().await.flag_environment().await.sdk_key;
    eventually("the other instance accepts the key", async || {
        !other.sdk(&key).is_refused().await
    })
    .await;
    // No revision changes, so only a full reload finds it.
    one.tamper("update flag_environments set is_enabled = true")
        .await;
    wait_until_an_instance_listens(&one).await;
    cut_off_listeners(&one).await;
    eventually("the other instance has reloaded everything", async || {
        other.sdk(&key).is_on("checkout").await
    })
    .await;
    assert!(!one.sdk(&key).is_on("checkout").await);
}

#[tokio::test]
async fn a_database_restored_to_an_earlier_state_is_served() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    for enabled in [true, false, true] {
        admin.switch_to(&checkout, enabled).await;
    }
    app.tamper("update flag_environments set is_enabled = false, config_revision = 2")
        .await;
    app.tamper("update environments set config_revision = 2")
        .await;
    app.watch();
    eventually("the earlier state is served", async || {
        !app.sdk(&checkout.sdk_key).is_on("checkout").await
    })
    .await;
}

#[tokio::test]
async fn usage_is_written_after_a_failover_loses_a_rotation() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (id, key) = admin.environment("shop", "prod").await;
    let path = format!("/environments/{id}/rotate-key?overlapSeconds=3600");
    let rotated = admin.send(admin.request(Method::POST, &path)).await;
    rotated.expect(StatusCode::CREATED);
    let config = app.sdk(&key).get("/sdk/v1/config").await;
    config.expect(StatusCode::OK);
    app.tamper("delete from environments where status = 'active'")
        .await;
    app.flush_usage().await;
    let polls = "select count(*) from poll_hours";
    assert_eq!(app.database().count(polls).await, 1);
}

#[tokio::test]
async fn a_key_created_while_an_instance_was_suspended_is_not_refused_there() {
    let database = TestDatabase::create().await;
    let one = Process::start(&database, &[]).await;
    let other = Process::start(&database, &[]).await;
    let admin = one.admin().await;
    // Until an instance has read a change, it may not have begun to compare its snapshots with the database.
    let (_, key) = admin.environment("shop", "staging").await;
    eventually("the other instance reads changes", async || {
        other.sdk(&key).get("/sdk/v1/config").await.status == StatusCode::OK
    })
    .await;
    other.suspend();
    let (_, key) = admin.environment("shop", "prod").await;
    // Only time makes the other instance's snapshots outdated.
    sleep(Duration::from_millis(2_500)).await;
    let mut requests = Vec::new();
    for _ in 0..8 {
        let mut wire = Wire::to(other.address()).await;
        wire.write(&format!(
            "GET /sdk/v1/config HTTP/1.1\r\nhost: pennon\r\nauthorization: Bearer {key}\r\n\r\n"
        ))
        .await;
        requests.push(wire);
    }
    other.resume();
    for mut request in requests {
        assert_ne!(request.answer().await.status, 401);
    }
}

/// Locks a table against all other connections until the returned connection is closed.
async fn lock(app: &TestApp, table: &'static str) -> PgConnection {
    let mut connection = app.database().postgres().await;
    let statement = format!("begin; lock table {table} in access exclusive mode");
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(&mut connection)
        .await
        .expect("the table is locked");
    connection
}

/// Waits until this many connections wait to lock a table in a mode.
async fn wait_until_connections_wait(
    app: &TestApp,
    table: &'static str,
    mode: &'static str,
    expected: i64,
) {
    eventually("connections wait for the table", async || {
        let waiting: i64 = sqlx::query_scalar(
            "select count(*) from pg_locks
             where relation = cast(cast($1 as text) as regclass) and mode = $2 and not granted
               and database = (select oid from pg_database where datname = current_database())",
        )
        .bind(table)
        .bind(mode)
        .fetch_one(&mut app.database().postgres().await)
        .await
        .expect("PostgreSQL answers");
        waiting == expected
    })
    .await;
}

#[tokio::test]
async fn reads_that_wait_for_a_table_delay_no_change() {
    let one = TestApp::start().await;
    if !one.database().is_postgres() {
        return;
    }
    let other = one.beside().await;
    other.follow();
    let admin = one.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = other.sdk(&checkout.sdk_key);
    eventually("the other instance accepts the key", async || {
        !sdk.is_refused().await
    })
    .await;
    let other_admin = other.admin().await;
    let lock = lock(&one, "usage_hours").await;
    let usage = format!("/flags/{}/usage", checkout.flag);
    let mut reads = JoinSet::new();
    // More than an instance has connections.
    for _ in 0..20 {
        reads.spawn(other_admin.request(Method::GET, &usage).send());
    }
    wait_until_connections_wait(&one, "usage_hours", "AccessShareLock", 6).await;

    admin.switch_on(&checkout).await;
    eventually("the other instance serves the change", async || {
        sdk.is_on("checkout").await
    })
    .await;
    other.admin().await.switch_to(&checkout, false).await;
    assert!(!sdk.is_on("checkout").await);
    let (id, key) = (&checkout.environment, &checkout.sdk_key);
    admin.revoke(id).await;
    eventually("the other instance refuses the key", async || {
        other.sdk(key).is_refused().await
    })
    .await;
    drop(lock);
}

#[tokio::test]
async fn a_concurrent_refill_neither_delays_nor_undoes_a_revocation() {
    let one = TestApp::start().await;
    if !one.database().is_postgres() {
        return;
    }
    let other = one.beside().await;
    other.follow();
    wait_until_an_instance_listens(&one).await;
    let admin = one.admin().await;
    let FlagEnvironment {
        environment,
        sdk_key: key,
        ..
    } = admin.flag_environment().await;
    eventually("the other instance accepts the key", async || {
        !other.sdk(&key).is_refused().await
    })
    .await;

    // Both instances have read that the key is valid, and now wait for the rules of another environment.
    let rules = lock(&one, "rules").await;
    let another = json!({ "product": "shop", "name": "another" });
    let post = admin.request(Method::POST, "/environments").json(&another);
    let creating = tokio::spawn(Answer::to(post));
    wait_until_connections_wait(&one, "rules", "AccessShareLock", 2).await;

    let revoke = format!("/environments/{environment}/revoke");
    let revoking = tokio::spawn(Answer::to(admin.request(Method::POST, &revoke)));
    for app in [&one, &other] {
        eventually("the key is refused", async || {
            app.sdk(&key).is_refused().await
        })
        .await;
    }

    // This lock is granted after both refills. It proves that they have ended, and it blocks the next ones.
    let (environments, ()) = tokio::join!(lock(&one, "environments"), async {
        wait_until_connections_wait(&one, "environments", "AccessExclusiveLock", 1).await;
        drop(rules);
    });
    for app in [&one, &other] {
        assert!(app.sdk(&key).is_refused().await);
    }

    drop(environments);
    let created = creating.await.expect("an answer");
    created.expect(StatusCode::CREATED);
    let revoked = revoking.await.expect("an answer");
    let revoked = revoked.expect(StatusCode::OK);
    assert_eq!(revoked.text("/status"), "revoked");
    for app in [&one, &other] {
        assert!(app.sdk(&key).is_refused().await);
    }
}

#[tokio::test]
async fn instances_that_start_together_create_one_administrator() {
    let one = TestApp::start().await;
    if !one.database().is_postgres() {
        return;
    }
    let apps = TestApp::together(8).await;
    assert_eq!(apps.iter().filter(|app| app.is_first()).count(), 1);
    let authorization = apps[0].authorization().await;
    for app in &apps {
        app.follow();
        let admin = app.with_authorization(authorization.clone());
        admin.get("/flags").await.expect(StatusCode::OK);
    }
    let (_, key) = apps[7]
        .with_authorization(authorization)
        .environment("shop", "prod")
        .await;
    for app in &apps {
        eventually("the environment is served", async || {
            !app.sdk(&key).is_refused().await
        })
        .await;
    }
}

#[tokio::test]
async fn the_start_waits_for_a_database_without_free_connections() {
    let app = TestApp::start().await;
    if !app.database().is_postgres() {
        return;
    }
    app.watch();
    app.follow();
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let name = app.database().name();
    let let_in = async |allowed: bool| {
        let mut server = app.database().server().await;
        let statement = format!("alter database \"{name}\" allow_connections {allowed}");
        sqlx::query(AssertSqlSafe(statement))
            .execute(&mut server)
            .await
            .expect("the database is altered");
        sqlx::query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1")
            .bind(name)
            .execute(&mut server)
            .await
            .expect("the connections are closed");
    };

    let_in(false).await;
    let body = json!({ "key": "next", "name": "x", "type": "boolean" });
    let refused = admin.post("/flags", body.clone()).await;
    let refused = refused.expect_problem(StatusCode::SERVICE_UNAVAILABLE, "DATABASE_UNAVAILABLE");
    assert_eq!(refused.header("retry-after"), "5");
    assert!(app.sdk(&checkout.sdk_key).is_on("checkout").await);

    let_in(true).await;
    eventually("flags are created again", async || {
        let answer = admin.post("/flags", body.clone()).await;
        matches!(answer.status, StatusCode::CREATED | StatusCode::CONFLICT)
    })
    .await;
}

#[tokio::test]
async fn a_write_waits_at_most_five_seconds_for_the_write_lock() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let process = Process::start(&database, &[]).await;
    let client = LoadClient::prepared(&process).await;
    let _write_lock = database.take_write_lock().await;
    // More than the number of connections for writing.
    let mut writes = JoinSet::new();
    for _ in 0..4 {
        let client = client.clone();
        writes.spawn(async move { client.exchange("create").await });
    }
    for write in writes.join_all().await {
        assert_eq!(write.status, StatusCode::SERVICE_UNAVAILABLE);
        let detail = &write.detail;
        assert!(detail.starts_with("the database is busy"), "{detail}");
        let waited = write.received - write.sent;
        assert!(waited < Duration::from_secs(7), "{waited:?}");
    }
}

#[tokio::test]
async fn a_token_is_accepted_by_instances_with_clock_skew() {
    let one = TestApp::start().await;
    let (ahead, behind) = (one.beside().await, one.beside().await);
    ahead.advance(15 * 60 + 4);
    behind.advance(-3600);
    for (issuer, takes) in [(&one, &ahead), (&one, &behind), (&ahead, &behind)] {
        let caller = takes.with_authorization(issuer.authorization().await);
        caller.get("/flags").await.expect(StatusCode::OK);
    }
    let (_, token) = one.admin().await.personal_token("script", "viewer").await;
    for other in [&ahead, &behind] {
        let script = other.with_token(&token);
        script.get("/flags").await.expect(StatusCode::OK);
    }
    ahead.advance(1);
    let late = ahead.with_authorization(one.authorization().await);
    late.get("/flags").await.expect(StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_clock_that_differs_from_the_databases_is_logged() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    // For new connections, the database's clock is now a minute ahead.
    let statement = format!(
        "create function public.clock_timestamp() returns timestamptz language sql as
             $$ select pg_catalog.clock_timestamp() + interval '1 minute' $$;
         alter database \"{}\" set search_path = public, pg_catalog",
        database.name()
    );
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(&mut database.postgres().await)
        .await
        .expect("the database is altered");
    let process = Process::start(&database, &[]).await;
    let differs = "the clock of this machine differs from the database's";
    process.wait_until_it_logs(differs).await;
    let log = process.stop().await.log;
    assert!(log.contains("ahead_seconds=-"), "{log}");
}
