//! PostgreSQL databases with unusual defaults, locks or encodings.

use pennon_tests::{Process, TestApp, TestDatabase, eventually, fixtures};
use reqwest::StatusCode;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::task::JoinSet;

/// Changes a setting of all new connections to a database.
async fn set_default(database: &TestDatabase, setting: &str) {
    let name = database.name();
    let statement = format!("alter database \"{name}\" set {setting}");
    run(&mut database.server().await, statement).await;
}

#[tokio::test]
async fn writes_succeed_at_any_default_isolation_level() {
    for level in ["repeatable read", "serializable"] {
        let database = TestDatabase::create().await;
        if !database.is_postgres() {
            return;
        }
        set_default(
            &database,
            &format!("default_transaction_isolation = '{level}'"),
        )
        .await;
        let app = TestApp::over(database).await;
        let other = app.beside().await;
        let (one, two) = (app.admin().await, other.admin().await);
        one.environment("shop", "prod").await;
        let flag =
            |number: u8| json!({ "key": format!("flag_{number}"), "name": "x", "type": "boolean" });
        for number in 0..5 {
            let (first, second, third) = tokio::join!(
                one.post("/flags", flag(number)),
                two.post("/flags", flag(number + 10)),
                two.post("/flags", flag(number + 20)),
            );
            for created in [first, second, third] {
                created.expect(StatusCode::CREATED);
            }
        }
    }
}

#[tokio::test]
async fn a_read_only_database_with_the_current_schema_is_served() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    set_default(&database, "default_transaction_read_only = on").await;
    let log = Process::fails_to_start(database.url(), &[]).await;
    assert!(log.contains("PostgreSQL is read-only"), "{log}");
    set_default(&database, "default_transaction_read_only = off").await;
    let process = Process::start(&database, &[]).await;
    process.stop().await;
    set_default(&database, "default_transaction_read_only = on").await;
    let process = Process::start(&database, &[]).await;
    let log = process.stop().await.log;
    assert!(log.contains("could not be upgraded"), "{log}");
}

#[tokio::test]
async fn all_connections_are_replaced_after_a_server_was_read_only() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let process = Process::start(&database, &[]).await;
    let admin = process.admin().await;
    let reasons = async || admin.get("/health").await.json()["reasons"].clone();
    // Connections keep the setting with which they began, like those to a former primary.
    set_default(&database, "default_transaction_read_only = on").await;
    let name = database.name();
    let end = format!(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}' and pid <> pg_backend_pid()"
    );
    run(&mut database.server().await, end).await;
    eventually("the server knows", async || {
        reasons().await == json!(["DATABASE_READ_ONLY"])
    })
    .await;
    let flag = json!({ "key": "refused", "name": "refused", "type": "boolean" });
    let refused = admin.post("/flags", flag).await;
    let detail = refused
        .expect_problem(StatusCode::SERVICE_UNAVAILABLE, "DATABASE_UNAVAILABLE")
        .text("/detail");
    assert!(detail.contains("read-only"), "{detail}");

    set_default(&database, "default_transaction_read_only = off").await;
    eventually("the server recovers", async || reasons().await == json!([])).await;
    for key in ["first", "second", "third"] {
        admin.flag(key).await;
    }
}

#[tokio::test]
async fn an_upgrade_waits_for_other_transactions_without_blocking_readers() {
    if TestDatabase::create_on_postgres().await.is_none() {
        return;
    }
    let database = TestDatabase::restored(&fixtures().join("database/0014")).await;
    let mut dump = database.postgres().await;
    let lock = "begin; lock table environments in access share mode";
    dump.execute(sqlx::raw_sql(lock)).await.expect("a lock");
    let process = Process::starting(database.url(), &[]);
    process
        .wait_until_it_logs("cannot lock the tables to upgrade them")
        .await;
    let mut reader = database.postgres().await;
    let limited = "set statement_timeout = '5s'; select count(*) from environments";
    let read = reader.execute(sqlx::raw_sql(limited)).await;
    read.expect("readers wait for a second at most");
    dump.execute("commit").await.expect("the end");
    process.wait_until_ready().await;
    let log = process.stop().await.log;
    assert!(log.contains("upgrading the schema"), "{log}");
}

#[tokio::test]
async fn instances_of_the_last_release_read_and_write_during_an_upgrade_of_the_audit_log() {
    // The locks of a query for the list of flags, and of a change of a rule.
    const READ: &str = "select count(id) from flag_table";
    const WRITE: &str = "begin; lock table rules in row exclusive mode;
                         lock table audit_entries in row exclusive mode; commit";
    if TestDatabase::create_on_postgres().await.is_none() {
        return;
    }
    let database = TestDatabase::with_schema(34).await;
    database
        .run(
            "insert into audit_entries (id, action, actor_identity, occurred_at)
             select gen_random_uuid(), 'FLAG_CREATED', 'someone', number from generate_series(1, 20000) as number",
        )
        .await;
    let mut instances = JoinSet::new();
    for statements in [READ, READ, WRITE] {
        let mut connection = database.postgres().await;
        instances.spawn(async move {
            loop {
                let done = connection.execute(sqlx::raw_sql(statements)).await;
                done.expect("the upgrade lets it wait");
            }
        });
    }
    let process = Process::starting(database.url(), &[]);
    process.wait_until_ready().await;
    assert!(instances.try_join_next().is_none(), "an instance failed");
}

#[tokio::test]
async fn a_database_that_cannot_store_or_find_every_text_is_refused() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let mut server = database.server().await;
    for (name, options, complaint) in [
        (
            "latin1",
            "encoding 'LATIN1' locale 'C'",
            "the database has the encoding LATIN1",
        ),
        (
            "turkish",
            "encoding 'UTF8' locale 'C' locale_provider icu icu_locale 'tr'",
            "the locale of the database has Turkish or Azeri rules",
        ),
    ] {
        let name = format!("{}_{name}", database.name());
        let create = format!("create database \"{name}\" {options} template template0");
        run(&mut server, create).await;
        let url = database.url().replace(database.name(), &name);
        let log = Process::fails_to_start(&url, &[]).await;
        assert!(log.contains(complaint), "{log}");
        run(&mut server, format!("drop database \"{name}\"")).await;
    }
    server.close().await.expect("the end");
}

async fn run(server: &mut PgConnection, statement: String) {
    let done = server
        .execute(sqlx::raw_sql(AssertSqlSafe(statement)))
        .await;
    done.expect("the statement runs");
}
