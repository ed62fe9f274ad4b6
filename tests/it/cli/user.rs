//! `pennon user`

use pennon_tests::{EMAIL, PASSWORD, START, TestApp};
use reqwest::StatusCode;
use serde_json::json;

const OTHER_PASSWORD: &str = "another long password";

/// Returns the password that a command has printed.
fn printed_password(printed: &str) -> String {
    let line = printed.lines().find(|line| line.contains("password"));
    let password = line.and_then(|line| line.split_whitespace().nth(1));
    password.expect("a password is printed").to_owned()
}

#[tokio::test]
async fn an_added_user_can_sign_in_with_the_printed_password() {
    let app = TestApp::start().await;
    let add = ["user", "add", "eve@example.com", "--role", "editor"];
    let printed = app.command(&add).await.expect_success();
    assert!(
        printed.contains("eve@example.com") && printed.contains("editor"),
        "{printed}"
    );
    let password = printed_password(&printed);
    assert_eq!(password.len(), 24);
    let signed_in = app.sign_in("eve@example.com", &password).await;
    assert_eq!(
        signed_in.expect(StatusCode::OK).text("/user/role"),
        "editor"
    );
    app.command(&add)
        .await
        .expect_failure("a user with this e-mail address already exists");
    let audit = app.admin().await.get("/audit?include=accounts").await;
    assert_eq!(
        [
            audit.text("/items/0/action"),
            audit.text("/items/0/actorIdentity")
        ],
        ["USER_CREATED", "cli"]
    );
    assert_eq!(audit.json()["pagination"]["total"], 2);
    assert!(!audit.body().contains(&password));
}

#[tokio::test]
async fn a_password_from_standard_input_is_not_printed() {
    let app = TestApp::start().await;
    let add = [
        "user",
        "add",
        "eve@example.com",
        "--role",
        "viewer",
        "--password-stdin",
    ];
    for input in ["", "\n", "short\n", "\na long enough password"] {
        let ran = app.command_with_input(&add, input).await;
        ran.expect_failure("the password must have 12 to 256 characters");
    }
    let ran = app
        .command_with_input(&add, &format!("{PASSWORD}\r\n"))
        .await;
    let printed = ran.expect_success();
    assert!(
        !printed.contains(PASSWORD) && !printed.contains("password"),
        "{printed}"
    );
    app.sign_in("eve@example.com", PASSWORD)
        .await
        .expect(StatusCode::OK);
}

#[tokio::test]
async fn a_password_reset_prints_a_new_password_and_ends_all_sessions() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let reset = ["user", "reset-password", EMAIL];
    let printed = app.command(&reset).await.expect_success();
    admin
        .get("/flags")
        .await
        .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    app.sign_in(EMAIL, PASSWORD)
        .await
        .expect(StatusCode::UNAUTHORIZED);
    app.sign_in(EMAIL, &printed_password(&printed))
        .await
        .expect(StatusCode::OK);
    let given = [&reset[..], &["--password-stdin"]].concat();
    app.command_with_input(&given, OTHER_PASSWORD)
        .await
        .expect_success();
    let signed_in = app.sign_in(EMAIL, OTHER_PASSWORD).await;
    signed_in.expect(StatusCode::OK);
    app.command(&["user", "reset-password", "nobody@example.com"])
        .await
        .expect_failure("the user does not exist");
}

#[tokio::test]
async fn a_role_change_takes_effect_in_a_running_server() {
    let app = TestApp::start().await;
    let eve = app.user("eve@example.com", "viewer").await;
    let create = async |key: &str| {
        let flag = json!({ "key": key, "name": key, "type": "boolean" });
        eve.post("/flags", flag).await.status
    };
    assert_eq!(create("one").await, StatusCode::FORBIDDEN);
    app.command(&["user", "set-role", "eve@example.com", "editor"])
        .await
        .expect_success();
    assert_eq!(create("one").await, StatusCode::CREATED);
    app.command(&["user", "set-role", EMAIL, "viewer"])
        .await
        .expect_failure("this is the last administrator");
    app.command(&["user", "set-role", EMAIL, "owner"])
        .await
        .expect_failure("must be `viewer`, `editor` or `admin`");
    app.command(&["user", "set-role", "nobody@example.com", "admin"])
        .await
        .expect_failure("the user does not exist");
}

#[tokio::test]
async fn a_grant_gives_a_role_in_one_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let environment = admin
        .get(&format!("/environments/{}", checkout.environment))
        .await;
    let path = format!(
        "{}/{}",
        environment.text("/product"),
        environment.text("/name")
    );
    let eve = app.user("eve@example.com", "viewer").await;
    let switch = async || {
        let body = json!({ "isEnabled": true });
        eve.put(&checkout.path, body).await.status
    };
    assert_eq!(switch().await, StatusCode::FORBIDDEN);
    let grant = [
        "user",
        "grant",
        "eve@example.com",
        "editor",
        "--environment",
        &path,
    ];
    let granted = app.command(&grant).await.expect_success();
    assert!(granted.contains(&format!("editor for {path}")), "{granted}");
    let list = app.command(&["user", "list"]).await.expect_success();
    let line = format!("  viewer  eve@example.com  editor for {path}\n");
    assert!(list.contains(&line), "{list}");
    assert_eq!(switch().await, StatusCode::NO_CONTENT);
    app.command(&[
        "user",
        "revoke-grant",
        "eve@example.com",
        "--environment",
        &path,
    ])
    .await
    .expect_success();
    assert_eq!(switch().await, StatusCode::FORBIDDEN);
    app.command(&[
        "user",
        "revoke-grant",
        "eve@example.com",
        "--environment",
        &path,
    ])
    .await
    .expect_failure(&format!("eve@example.com has no grant for {path}"));
    app.command(&[
        "user",
        "grant",
        "eve@example.com",
        "viewer",
        "--product",
        "Shop",
    ])
    .await
    .expect_failure("must be `editor` or `admin`");
    app.command(&[
        "user",
        "grant",
        "eve@example.com",
        "editor",
        "--environment",
        "no/where",
    ])
    .await
    .expect_failure("no active environment is called no/where");
}

#[tokio::test]
async fn a_grant_is_refused_if_two_environments_are_written_alike() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    admin.environment("a", "b/c").await;
    let (other, _) = admin.environment("a/b", "c").await;
    admin.user("eve@example.com", "viewer").await;
    let place = ["eve@example.com", "--environment", "a/b/c"];
    let grant = [&["user", "grant"][..], &place, &["editor"]].concat();
    let refused = app.command(&grant).await;
    refused.expect_failure(
        "a/b/c can be `b/c` of the product `a` or `c` of the product `a/b`; rename one of them",
    );
    let list = app.command(&["user", "list"]).await.expect_success();
    assert!(!list.contains("a/b/c"), "{list}");
    let other = format!("/environments/{other}");
    let renamed = admin.patch(&other, json!({ "name": "d" })).await;
    renamed.expect(StatusCode::OK);
    app.command(&grant).await.expect_success();
}

#[tokio::test]
async fn all_users_are_listed() {
    let app = TestApp::start().await;
    app.advance(60);
    app.admin().await.user("eve@example.com", "viewer").await;
    let printed = app.command(&["user", "list"]).await.expect_success();
    assert_eq!(
        printed,
        format!("2026-03-01T09:31:00.000Z  viewer  eve@example.com\n{START}  admin   {EMAIL}\n")
    );
}

#[tokio::test]
async fn a_malformed_address_is_refused_and_a_missing_database_is_not_created() {
    let app = TestApp::start().await;
    app.command(&["user", "add", "eve", "--role", "viewer"])
        .await
        .expect_failure("must be an e-mail address");
    let folder = tempfile::tempdir().expect("a folder for the test");
    let file = folder.path().join("none.db");
    let url = format!("sqlite://{}", file.display());
    let ran = app.command(&["user", "list", "--database-url", &url]).await;
    ran.expect_failure("there is no database at");
    assert!(!file.exists());
}

#[tokio::test]
async fn a_first_administrator_is_created_if_no_user_has_that_role() {
    let app = TestApp::start().await;
    app.tamper("update users set role = 'viewer'").await;
    let eve = "update users set email = 'eve@example.com'";
    app.tamper(eve).await;
    let other = app.beside().await;
    let signed_in = other.sign_in(EMAIL, PASSWORD).await;
    assert_eq!(signed_in.expect(StatusCode::OK).text("/user/role"), "admin");
}

#[tokio::test]
async fn concurrent_grants_are_all_kept() {
    let app = TestApp::start().await;
    app.user("eve@example.com", "viewer").await;
    let grant = async |product: &str| {
        let arguments = [
            "user",
            "grant",
            "eve@example.com",
            "editor",
            "--product",
            product,
        ];
        app.command(&arguments).await
    };
    // A single round may happen to run one after the other.
    for round in 0..4 {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| format!("{name}{round}"));
        let granted = tokio::join!(grant(&a), grant(&b), grant(&c), grant(&d));
        for granted in [granted.0, granted.1, granted.2, granted.3] {
            let warning = "no active environment belongs to the product";
            assert!(granted.stderr.contains(warning), "{granted:?}");
            granted.expect_success();
        }
        let list = app.command(&["user", "list"]).await.expect_success();
        for product in [a, b, c, d] {
            let grant = format!("editor for the product {product}");
            assert!(list.contains(&grant), "{list}");
        }
    }
    app.command(&["user", "revoke-grant", "eve@example.com", "--product", "e"])
        .await
        .expect_failure("eve@example.com has no grant for the product e");
}
