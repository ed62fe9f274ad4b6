//! The server while its database cannot write: a full disk, and transactions that the database rolls back itself.

use std::process::Command;

use pennon_tests::{EMAIL, PASSWORD, Process, TestApp, TestDatabase, binary, eventually};
use reqwest::StatusCode;
use serde_json::json;

#[tokio::test]
async fn writes_succeed_after_sqlite_rolls_back_a_transaction() {
    let app = TestApp::start().await;
    if !app.is_on_file() {
        // PostgreSQL never ends a transaction on its own and keeps the connection.
        return;
    }
    let admin = app.admin().await;
    let flag = json!({ "key": "checkout", "name": "x", "type": "boolean" });
    app.tamper(
        "create trigger ends before insert on flags begin select raise(rollback, 'ended'); end",
    )
    .await;
    for _ in 0..3 {
        let refused = admin.post("/flags", flag.clone()).await;
        let refused = refused.expect_problem(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR");
        assert_eq!(
            refused.text("/detail"),
            "an internal error occurred; the server's log has the details"
        );
    }
    app.sign_in(EMAIL, PASSWORD).await.expect(StatusCode::OK);
    app.tamper("drop trigger ends").await;
    admin.post("/flags", flag).await.expect(StatusCode::CREATED);
}

#[tokio::test]
async fn a_full_postgresql_disk_is_reported_until_a_write_succeeds() {
    let app = TestApp::start().await;
    if app.is_on_file() {
        return;
    }
    let admin = app.admin().await;
    let flag = json!({ "key": "checkout", "name": "x", "type": "boolean" });
    app.tamper(
        "create function no_space() returns trigger language plpgsql as
            'begin raise exception ''no space'' using errcode = ''53100''; end'",
    )
    .await;
    app.tamper("create trigger no_space before insert on flags execute function no_space()")
        .await;
    let refused = admin.post("/flags", flag.clone()).await;
    let refused = refused.expect_problem(StatusCode::SERVICE_UNAVAILABLE, "STORAGE_FULL");
    assert_eq!(refused.header("retry-after"), "5");
    let health = app.anonymous().get("/health").await;
    assert_eq!(health.json()["reasons"], json!(["STORAGE_FULL"]));
    app.tamper("create table checks (size bigint)").await;
    app.tamper(
        "create function note_size() returns trigger language plpgsql as
            'begin
                insert into checks select pg_column_size(value) from settings where name = new.name;
                return null;
            end'",
    )
    .await;
    app.tamper(
        "create trigger note_size after insert on settings for each row execute function note_size()",
    )
    .await;
    app.watch();
    eventually("a write succeeds", async || {
        app.anonymous().get("/health").await.text("/status") == "ok"
    })
    .await;
    let stored = app.database().count("select max(size) from checks").await;
    assert!(stored > 200_000, "the write needs only {stored} bytes");
}

#[tokio::test]
async fn a_start_on_a_full_disk_says_that_the_disk_is_full() {
    let database = TestDatabase::create().await;
    if database.is_postgres() {
        return;
    }
    Process::start(&database, &[]).await.stop().await;
    // In blocks of 512 or 1,024 bytes. SQLite needs 32 KiB for the index of its log.
    let output = Command::new("sh")
        .args(["-c", "ulimit -f 8; exec \"$0\""])
        .arg(binary())
        .env("DATABASE_URL", database.url())
        .env("PENNON_LISTEN", "127.0.0.1:0")
        .output()
        .expect("a shell");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("pennon.db is full"), "{error}");
    assert!(!output.status.success());
}

#[tokio::test]
async fn a_full_disk_stops_only_changes_and_needs_no_restart() {
    let database = TestDatabase::create().await;
    if database.is_postgres() {
        return;
    }
    let process = Process::start(&database, &[]).await;
    let admin = process.admin().await;
    let create = async |key: &str| {
        let flag = json!({ "key": key, "name": key, "type": "boolean" });
        admin.post("/flags", flag).await
    };
    let (_, sdk_key) = admin.environment("shop", "prod").await;
    process.limit_files(Some(0));
    create("refused")
        .await
        .expect_problem(StatusCode::SERVICE_UNAVAILABLE, "STORAGE_FULL");
    process
        .try_sign_in(PASSWORD)
        .await
        .expect_problem(StatusCode::SERVICE_UNAVAILABLE, "STORAGE_FULL");
    let health = admin.get("/health").await.expect(StatusCode::OK).json();
    assert_eq!(
        (&health["status"], &health["reasons"]),
        (&json!("degraded"), &json!(["STORAGE_FULL"]))
    );
    let flags = admin.get("/flags").await.expect(StatusCode::OK).json();
    assert_eq!(flags["pagination"]["total"], 0);
    let config = process.sdk(&sdk_key).get("/sdk/v1/config").await;
    config.expect(StatusCode::OK);

    process.limit_files(None);
    create("accepted").await.expect(StatusCode::CREATED);
    eventually("health is ok", async || {
        admin.get("/health").await.text("/status") == "ok"
    })
    .await;
}
