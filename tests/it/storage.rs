//! The service while its database cannot write: a full disk, and transactions that the database rolls back itself.

use pennon_tests::{EMAIL, PASSWORD, Process, TestApp, TestDatabase, eventually};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

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
    app.watch();
    eventually("a write succeeds", async || {
        app.anonymous().get("/health").await.text("/status") == "ok"
    })
    .await;
}

#[tokio::test]
async fn a_full_disk_stops_only_changes_and_needs_no_restart() {
    let database = TestDatabase::create().await;
    if database.is_postgres() {
        return;
    }
    let process = Process::start(&database, &[]).await;
    let token = process.signed_in().await;
    let request = |method: Method, path: &str| {
        let url = format!("{}{path}", process.base_url());
        Client::new().request(method, url).bearer_auth(&token)
    };
    let create = |key: &str| {
        let flag = json!({ "key": key, "name": key, "type": "boolean" });
        request(Method::POST, "/flags").json(&flag)
    };
    let environment = request(Method::POST, "/environments");
    let environment = environment.json(&json!({ "product": "shop", "name": "prod" }));
    let sdk_key = answer(environment).await.1["sdkKey"].clone();
    process.limit_files(Some(0));
    let (status, problem) = answer(create("refused")).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::SERVICE_UNAVAILABLE, &json!("STORAGE_FULL"))
    );
    let sign_in = request(Method::POST, "/auth/login");
    let sign_in = sign_in.json(&json!({ "email": EMAIL, "password": PASSWORD }));
    let (_, problem) = answer(sign_in).await;
    assert_eq!(problem["code"], "STORAGE_FULL");
    let (status, health) = answer(request(Method::GET, "/health")).await;
    assert_eq!(
        (status, &health["status"], &health["reasons"]),
        (StatusCode::OK, &json!("degraded"), &json!(["STORAGE_FULL"]))
    );
    let flags = answer(request(Method::GET, "/flags")).await;
    assert_eq!(
        (flags.0, &flags.1["pagination"]["total"]),
        (StatusCode::OK, &json!(0))
    );
    let config = Client::new().get(format!("{}/sdk/v1/config", process.base_url()));
    let config = config.bearer_auth(sdk_key.as_str().expect("a key"));
    assert_eq!(answer(config).await.0, StatusCode::OK);

    process.limit_files(None);
    assert_eq!(answer(create("accepted")).await.0, StatusCode::CREATED);
    eventually("health is ok", async || {
        answer(request(Method::GET, "/health")).await.1["status"] == "ok"
    })
    .await;
}

/// Returns the status and the JSON body of the response to a request.
async fn answer(request: RequestBuilder) -> (StatusCode, Value) {
    let answer = request.send().await.expect("an answer");
    (answer.status(), answer.json().await.expect("JSON"))
}
