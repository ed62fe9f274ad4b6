//! Passwords: changes by their owner or an administrator, guesses, concurrent changes, and their memory.

use std::time::Duration;

use pennon_tests::{Answer, EMAIL, PASSWORD, Process, TestApp, TestDatabase, eventually};
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;

const OTHER_PASSWORD: &str = "another long password";

#[tokio::test]
async fn a_password_reset_ends_all_sessions_and_keeps_tokens() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let id = admin.user("eve@example.com", "editor").await;
    let tokens = app.sign_in("eve@example.com", PASSWORD).await;
    let session = app.with_token(&tokens.text("/access_token"));
    let (_, token) = session.personal_token("ci", "editor").await;
    let reset = json!({ "password": OTHER_PASSWORD });
    let user = admin.patch(&format!("/users/{id}"), reset).await;
    let user = user.expect(StatusCode::OK);
    assert_eq!(
        (user.text("/role"), user.header("etag")),
        ("editor".to_owned(), "\"2\"")
    );
    let refresh = json!({ "refresh_token": tokens.text("/refresh_token") });
    for refused in [
        session.get("/flags").await,
        app.anonymous().post("/auth/refresh", refresh).await,
    ] {
        refused.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    }
    app.sign_in("eve@example.com", PASSWORD)
        .await
        .expect_problem(StatusCode::UNAUTHORIZED, "WRONG_PASSWORD");
    app.sign_in("eve@example.com", OTHER_PASSWORD)
        .await
        .expect(StatusCode::OK);
    app.with_token(&token)
        .get("/flags")
        .await
        .expect(StatusCode::OK);
}

#[tokio::test]
async fn changing_a_password_ends_the_other_sessions_of_the_user() {
    let app = TestApp::start().await;
    let eve = app.user("eve@example.com", "viewer").await;
    let (other, admin) = (app.signed_in("eve@example.com").await, app.admin().await);
    let change =
        |current: &str| json!({ "currentPassword": current, "newPassword": OTHER_PASSWORD });
    let wrong = eve.put("/users/me/password", change(OTHER_PASSWORD)).await;
    wrong.expect_faults(&["/currentPassword"]);
    other.get("/flags").await.expect(StatusCode::OK);
    eve.put("/users/me/password", change(PASSWORD))
        .await
        .expect(StatusCode::NO_CONTENT);
    eve.get("/flags").await.expect(StatusCode::OK);
    other
        .get("/flags")
        .await
        .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    admin.get("/flags").await.expect(StatusCode::OK);
    app.sign_in("eve@example.com", PASSWORD)
        .await
        .expect(StatusCode::UNAUTHORIZED);
    app.sign_in("eve@example.com", OTHER_PASSWORD)
        .await
        .expect(StatusCode::OK);
    assert_eq!(eve.get("/users/me").await.header("etag"), "\"2\"");
}

#[tokio::test]
async fn changing_the_callers_password_needs_the_current_one_on_every_path() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let own = admin.get("/users/me").await.text("/id");
    let change = |current: Option<&str>| match current {
        Some(current) => json!({ "password": OTHER_PASSWORD, "currentPassword": current }),
        None => json!({ "password": OTHER_PASSWORD }),
    };
    for path in ["/users/me".to_owned(), format!("/users/{own}")] {
        for current in [None, Some("wrong")] {
            let refused = admin.patch(&path, change(current)).await;
            refused.expect_faults(&["/currentPassword"]);
        }
    }
    app.sign_in(EMAIL, PASSWORD).await.expect(StatusCode::OK);
    let changed = admin.patch("/users/me", change(Some(PASSWORD))).await;
    changed.expect(StatusCode::OK);
    app.sign_in(EMAIL, OTHER_PASSWORD)
        .await
        .expect(StatusCode::OK);
}

#[tokio::test]
async fn a_current_password_is_refused_unless_the_caller_changes_their_password() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let eve = admin.user("eve@example.com", "viewer").await;
    for (path, body) in [
        (
            format!("/users/{eve}"),
            json!({ "password": OTHER_PASSWORD, "currentPassword": PASSWORD }),
        ),
        (
            "/users/me".to_owned(),
            json!({ "role": "admin", "currentPassword": PASSWORD }),
        ),
    ] {
        let refused = admin.patch(&path, body).await;
        refused.expect_faults(&["/currentPassword"]);
    }
}

#[tokio::test]
async fn wrong_current_passwords_and_failed_sign_ins_share_a_rate_limit() {
    let app = TestApp::with_settings(&["--rate-limit-login", "2"]).await;
    let admin = app.admin().await;
    let change =
        |current: &str| json!({ "currentPassword": current, "newPassword": OTHER_PASSWORD });
    for _ in 0..2 {
        let wrong = admin.put("/users/me/password", change("wrong")).await;
        wrong.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    }
    let limited = admin.put("/users/me/password", change(PASSWORD)).await;
    let limited = limited.expect_problem(StatusCode::TOO_MANY_REQUESTS, "TOO_MANY_ATTEMPTS");
    assert_eq!(limited.header("retry-after"), "60");
    let patch = json!({ "password": OTHER_PASSWORD, "currentPassword": PASSWORD });
    let limited = admin.patch("/users/me", patch).await;
    limited.expect_problem(StatusCode::TOO_MANY_REQUESTS, "TOO_MANY_ATTEMPTS");
    app.sign_in(EMAIL, PASSWORD)
        .await
        .expect(StatusCode::TOO_MANY_REQUESTS);
    app.advance(60);
    admin
        .put("/users/me/password", change(PASSWORD))
        .await
        .expect(StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn concurrent_guesses_do_not_exceed_the_limit() {
    let app = TestApp::with_settings(&["--rate-limit-login", "3"]).await;
    let admin = app.admin().await;
    let change = json!({ "currentPassword": "wrong", "newPassword": OTHER_PASSWORD });
    let sign_in = json!({ "email": EMAIL, "password": "wrong" });
    let mut guesses = JoinSet::new();
    for _ in 0..8 {
        let request = admin.request(Method::PUT, "/users/me/password");
        guesses.spawn(Answer::to(request.json(&change)));
        let request = app.anonymous().request(Method::POST, "/auth/login");
        guesses.spawn(Answer::to(request.json(&sign_in)));
    }
    let answers = guesses.join_all().await;
    let refused = answers
        .iter()
        .filter(|answer| answer.status == StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answers.len() - refused.count(), 3);
}

#[tokio::test]
async fn a_sign_in_during_a_password_reset_leaves_no_valid_session() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let id = admin.user("eve@example.com", "viewer").await;
    let (path, mut old) = (format!("/users/{id}"), PASSWORD.to_owned());
    for round in 0..8 {
        let new = format!("{PASSWORD} {round}");
        let (signed_in, reset) = tokio::join!(
            app.sign_in("eve@example.com", &old),
            admin.patch(&path, json!({ "password": new }))
        );
        reset.expect(StatusCode::OK);
        if signed_in.status == StatusCode::OK {
            app.with_token(&signed_in.text("/access_token"))
                .get("/flags")
                .await
                .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
        } else {
            signed_in.expect_problem(StatusCode::UNAUTHORIZED, "WRONG_PASSWORD");
        }
        old = new;
        app.advance(60);
    }
}

#[tokio::test]
async fn one_of_two_concurrent_password_changes_succeeds() {
    let app = TestApp::start().await;
    let eve = app.user("eve@example.com", "viewer").await;
    let change = |new: &str| json!({ "currentPassword": PASSWORD, "newPassword": new });
    let (one, other) = tokio::join!(
        eve.put("/users/me/password", change("the one new password")),
        eve.put("/users/me/password", change("the other new password"))
    );
    let (won, lost) = if one.status == StatusCode::NO_CONTENT {
        ("the one new password", other)
    } else {
        other.expect(StatusCode::NO_CONTENT);
        ("the other new password", one)
    };
    lost.expect_faults(&["/currentPassword"]);
    app.sign_in("eve@example.com", won)
        .await
        .expect(StatusCode::OK);
    let changes = app.admin().await.audited_with_accounts().await;
    assert_eq!(changes, ["PASSWORD_CHANGED", "USER_CREATED"]);
}

#[tokio::test]
async fn the_memory_of_password_hashes_is_returned_to_the_system() {
    let database = TestDatabase::create().await;
    // The first start hashes the password of the administrator, in 19 MiB.
    let process = Process::start(&database, &[]).await;
    let returned = eventually("the memory is returned", async || {
        process.resident_mebibytes() < 30.0
    });
    // After ten seconds, the threads have ended, which returns their memory in any case.
    let returned = timeout(Duration::from_secs(5), returned).await;
    returned.expect("the memory is returned soon");
}
