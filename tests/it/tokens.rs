//! Personal access tokens, the credentials of scripts.

use pennon_tests::{Answer, EMAIL, PASSWORD, TestApp};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

fn flag(key: &str) -> Value {
    json!({ "key": key, "name": key, "type": "boolean" })
}

#[tokio::test]
async fn a_new_token_is_shown_once_and_listed_without_its_secret() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let body = json!({ "name": "ci", "role": "editor", "expiresAt": "2026-03-02T10:30:00+01:00" });
    let created = admin.post("/users/me/tokens", body).await;
    let created = created.expect(StatusCode::CREATED);
    let (id, token) = (created.text("/id"), created.text("/token"));
    let owner = admin.get("/users/me").await.text("/id");
    assert!(token.starts_with("pnt_") && token.len() == 47, "{token}");
    let listed = json!({
        "id": id, "userId": owner, "name": "ci", "role": "editor", "tokenPrefix": &token[..12],
        "createdAt": pennon_tests::START, "expiresAt": "2026-03-02T09:30:00.000Z",
    });
    let mut with_secret = listed.clone();
    with_secret["token"] = json!(token);
    assert_eq!(created.json(), with_secret);
    assert_eq!(created.header("cache-control"), "no-store");
    let location = created.header("location").to_owned();
    assert_eq!(location, format!("/users/{owner}/tokens/{id}"));
    assert_eq!(
        admin.get(&location).await.expect(StatusCode::OK).json(),
        listed
    );
    let (newer, _) = admin.personal_token("newer", "viewer").await;
    for path in [
        "/users/me/tokens".to_owned(),
        format!("/users/{owner}/tokens"),
    ] {
        let list = admin.get(&path).await.expect(StatusCode::OK).json();
        assert_eq!((&list[0]["id"], &list[1]), (&json!(newer), &listed));
    }
}

#[tokio::test]
async fn a_token_has_its_role_and_the_audit_log_names_token_and_owner() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, token) = admin.personal_token("nightly build", "editor").await;
    let ci = app.with_token(&token);
    let created = ci.post("/flags", flag("checkout")).await;
    let name = format!("{EMAIL} (nightly build)");
    assert_eq!(created.expect(StatusCode::CREATED).text("/createdBy"), name);
    assert_eq!(
        admin.get("/audit").await.text("/items/0/actorIdentity"),
        name
    );
    assert_eq!(ci.get("/users/me").await.text("/email"), EMAIL);
    let environment = json!({ "product": "shop", "name": "prod" });
    for refused in [
        ci.post("/environments", environment).await,
        ci.get("/users").await,
        ci.get("/audit?include=accounts").await,
    ] {
        refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    }
}

#[tokio::test]
async fn a_token_never_has_more_rights_than_its_owner_has_now() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let eve = app.user("eve@example.com", "editor").await;
    let path = format!("/users/{}", eve.get("/users/me").await.text("/id"));
    let (_, editor) = eve.personal_token("editor", "editor").await;
    let (_, viewer) = eve.personal_token("viewer", "viewer").await;
    let more = json!({ "name": "admin", "role": "admin" });
    eve.post("/users/me/tokens", more)
        .await
        .expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    let set_role = async |role: &str| {
        let answer = admin.patch(&path, json!({ "role": role })).await;
        answer.expect(StatusCode::OK);
    };
    let create = async |token: &str, key: &str| {
        let answer = app.with_token(token).post("/flags", flag(key)).await;
        answer.status
    };
    assert_eq!(create(&editor, "one").await, StatusCode::CREATED);
    assert_eq!(create(&viewer, "two").await, StatusCode::FORBIDDEN);
    set_role("viewer").await;
    assert_eq!(create(&editor, "two").await, StatusCode::FORBIDDEN);
    app.with_token(&editor)
        .get("/flags")
        .await
        .expect(StatusCode::OK);
    set_role("admin").await;
    assert_eq!(create(&editor, "two").await, StatusCode::CREATED);
    assert_eq!(create(&viewer, "three").await, StatusCode::FORBIDDEN);
    app.with_token(&editor)
        .get("/users")
        .await
        .expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
}

#[tokio::test]
async fn a_token_expires_on_time_and_is_listed_until_revoked() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let create = async |name: &str, expires_at: &str| {
        let body = json!({ "name": name, "role": "viewer", "expiresAt": expires_at });
        let created = admin.post("/users/me/tokens", body).await;
        created.expect(StatusCode::CREATED).text("/token")
    };
    let at = create("at the second", "2026-03-01T09:30:10Z").await;
    let after = create("a millisecond later", "2026-03-01T09:30:10.001Z").await;
    app.advance(9);
    app.with_token(&at)
        .get("/flags")
        .await
        .expect(StatusCode::OK);
    app.advance(1);
    app.with_token(&at)
        .get("/flags")
        .await
        .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    app.with_token(&after)
        .get("/flags")
        .await
        .expect(StatusCode::OK);
    app.advance(1);
    app.with_token(&after)
        .get("/flags")
        .await
        .expect(StatusCode::UNAUTHORIZED);
    let list = admin.get("/users/me/tokens").await.json();
    assert_eq!(list.as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_token_is_valid_for_ninety_days_by_default_and_at_most_a_year() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let create = async |name: &str, expires_at: &str| {
        let body = json!({ "name": name, "role": "viewer", "expiresAt": expires_at });
        admin.post("/users/me/tokens", body).await
    };
    let (_, token) = admin.personal_token("ci", "viewer").await;
    let list = admin.get("/users/me/tokens").await;
    assert_eq!(list.text("/0/expiresAt"), "2026-05-30T09:30:00.000Z");
    create("longest", "2027-03-02T09:30:00Z")
        .await
        .expect(StatusCode::CREATED);
    for expires_at in [
        "2027-03-02T09:30:00.001Z",
        "2026-03-01T09:30:00.000Z",
        "1969-12-31T23:59:59Z",
        "9999-12-31T23:59:59Z",
        "tomorrow",
        "",
    ] {
        let answer = create("other", expires_at).await;
        let answer = answer.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(answer.faults(), ["/expiresAt"], "{expires_at}");
    }
    app.advance(90 * 24 * 60 * 60 - 1);
    app.with_token(&token)
        .get("/flags")
        .await
        .expect(StatusCode::OK);
    app.advance(1);
    app.with_token(&token)
        .get("/flags")
        .await
        .expect(StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn every_invalid_member_is_reported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for (body, faults) in [
        (json!({}), &["/name", "/role"][..]),
        (
            json!({ "name": " ", "role": "owner", "expiresAt": "now", "expires_at": 1 }),
            &["/name", "/role", "/expiresAt", "/expires_at"],
        ),
        (
            json!({ "name": "é".repeat(65), "role": null, "expiresAt": null }),
            &["/name", "/role", "/expiresAt"],
        ),
        (
            json!({ "name": "a\0b", "role": "viewer", "expiresAt": 1 }),
            &["/name", "/expiresAt"],
        ),
        (
            json!({ "name": "two\nlines", "role": "viewer" }),
            &["/name"],
        ),
    ] {
        let answer = admin.post("/users/me/tokens", body).await;
        answer.expect_faults(faults);
    }
    admin.personal_token(&"é".repeat(64), "viewer").await;
}

#[tokio::test]
async fn token_names_are_unique_per_owner() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (id, _) = admin.personal_token("ci", "viewer").await;
    let again = json!({ "name": "ci", "role": "editor" });
    admin
        .post("/users/me/tokens", again)
        .await
        .expect_problem(StatusCode::CONFLICT, "TOKEN_NAME_TAKEN");
    app.user("eve@example.com", "viewer")
        .await
        .personal_token("ci", "viewer")
        .await;
    admin
        .delete(&format!("/users/me/tokens/{id}"))
        .await
        .expect(StatusCode::NO_CONTENT);
    admin.personal_token("ci", "viewer").await;
}

#[tokio::test]
async fn a_user_has_at_most_fifty_tokens() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for number in 0..49 {
        admin.personal_token(&format!("{number}"), "viewer").await;
    }
    let create = |name: &str| {
        let body = json!({ "name": name, "role": "viewer" });
        Answer::to(admin.request(Method::POST, "/users/me/tokens").json(&body))
    };
    let (one, other) = tokio::join!(create("one"), create("other"));
    let mut statuses = [one.status, other.status];
    statuses.sort();
    assert_eq!(statuses, [StatusCode::CREATED, StatusCode::CONFLICT]);
    create("last")
        .await
        .expect_problem(StatusCode::CONFLICT, "TOO_MANY_TOKENS");
}

#[tokio::test]
async fn managing_own_credentials_requires_a_session() {
    let app = TestApp::start().await;
    let (_, token) = app.admin().await.personal_token("ci", "admin").await;
    let ci = app.with_token(&token);
    let change = json!({ "currentPassword": PASSWORD, "newPassword": "another long password" });
    for refused in [
        ci.post(
            "/users/me/tokens",
            json!({ "name": "more", "role": "viewer" }),
        )
        .await,
        ci.post("/users/me/tokens", json!(0)).await,
        ci.post("/auth/logout", json!({})).await,
    ] {
        refused.expect_problem(StatusCode::FORBIDDEN, "WRONG_CREDENTIAL");
    }
    let refused = ci.put("/users/me/password", change).await;
    refused.expect_problem(StatusCode::FORBIDDEN, "SESSION_REQUIRED");
    // An administrator's script may manage other users.
    let id = app.admin().await.user("eve@example.com", "viewer").await;
    ci.patch(&format!("/users/{id}"), json!({ "role": "editor" }))
        .await
        .expect(StatusCode::OK);
    ci.delete(&format!("/users/{id}"))
        .await
        .expect(StatusCode::NO_CONTENT);
    let audit = ci.get("/audit?include=accounts&limit=1").await;
    assert_eq!(
        audit.text("/items/0/actorIdentity"),
        format!("{EMAIL} (ci)")
    );
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_once() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let eve = app.user("eve@example.com", "editor").await;
    let (first, first_token) = eve.personal_token("first", "editor").await;
    let (second, second_token) = eve.personal_token("second", "viewer").await;
    let (third, _) = eve.personal_token("third", "viewer").await;
    // Neither another user nor another token of the same owner can revoke it.
    let path = |id: &str| format!("/users/me/tokens/{id}");
    let owner = eve.get("/users/me").await.text("/id");
    let stranger = app.user("vic@example.com", "viewer").await;
    stranger
        .delete(&format!("/users/{owner}/tokens/{first}"))
        .await
        .expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    stranger
        .delete(&path(&first))
        .await
        .expect_problem(StatusCode::NOT_FOUND, "TOKEN_NOT_FOUND");
    app.with_token(&second_token)
        .delete(&path(&first))
        .await
        .expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    // The owner, the token itself, and an administrator can revoke it.
    eve.delete(&path(&first))
        .await
        .expect(StatusCode::NO_CONTENT);
    app.with_token(&second_token)
        .delete(&path(&second))
        .await
        .expect(StatusCode::NO_CONTENT);
    admin
        .delete(&format!("/users/{owner}/tokens/{third}"))
        .await
        .expect(StatusCode::NO_CONTENT);
    for token in [first_token, second_token] {
        let refused = app.with_token(&token).get("/flags").await;
        refused.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    }
    for id in [first.as_str(), "x", "%00"] {
        for answer in [eve.delete(&path(id)).await, eve.get(&path(id)).await] {
            answer.expect_problem(StatusCode::NOT_FOUND, "TOKEN_NOT_FOUND");
        }
    }
    assert_eq!(eve.get("/users/me/tokens").await.json(), json!([]));
}

#[tokio::test]
async fn the_evaluation_api_refuses_personal_access_tokens() {
    let app = TestApp::start().await;
    let (_, token) = app.admin().await.personal_token("ci", "admin").await;
    let unknown = app.sdk("pnk_unknown").get("/sdk/v1/config").await;
    let refused = app.sdk(&token).get("/sdk/v1/config").await;
    let refused = refused.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    assert_eq!(refused.bytes, unknown.bytes);
    for wrong in ["pnt_", "pnt_x", &format!("{token}x"), &token.to_uppercase()] {
        let answer = app.with_token(wrong).get("/flags").await;
        answer.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    }
}

#[tokio::test]
async fn requests_during_a_token_revocation_write_all_or_nothing() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    let admin = app.admin().await;
    let (id, token) = admin.personal_token("ci", "editor").await;
    let mut under_way = JoinSet::new();
    for number in 0..12 {
        let at = if number % 2 == 0 { &app } else { &other };
        let request = at.with_token(&token).request(Method::POST, "/flags");
        under_way.spawn(Answer::to(request.json(&flag(&format!("flag_{number}")))));
    }
    admin
        .delete(&format!("/users/me/tokens/{id}"))
        .await
        .expect(StatusCode::NO_CONTENT);
    other
        .with_token(&token)
        .get("/flags")
        .await
        .expect(StatusCode::UNAUTHORIZED);
    let answers = under_way.join_all().await;
    let created = answers
        .iter()
        .filter(|answer| answer.status == StatusCode::CREATED)
        .count();
    let refused = answers
        .iter()
        .filter(|answer| answer.status == StatusCode::UNAUTHORIZED)
        .count();
    assert_eq!(created + refused, 12);
    assert_eq!(admin.audited().await.len(), created);
    let flags = admin.get("/flags").await.json();
    assert_eq!(flags["pagination"]["total"], created);
}

/// Sends a request without its body. Returns once the server has authorized the caller and waits for the body.
async fn begin_to_create_a_flag(app: &TestApp, authorization: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(app.address())
        .await
        .expect("a connection");
    let body = flag("checkout").to_string();
    let head = format!(
        "POST /flags HTTP/1.1\r\nhost: pennon\r\nauthorization: {authorization}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("it is sent");
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await.expect("an answer");
    assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
    stream
}

async fn finish(mut stream: BufReader<TcpStream>) -> String {
    let body = flag("checkout").to_string();
    stream.write_all(body.as_bytes()).await.expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer
}

#[tokio::test]
async fn a_caller_who_loses_their_rights_before_the_body_arrives_changes_nothing() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let eve = app.user("eve@example.com", "editor").await;
    let owner = eve.get("/users/me").await.text("/id");
    let (id, token) = eve.personal_token("ci", "editor").await;
    let (_, kept) = eve.personal_token("kept", "editor").await;

    let revoked = begin_to_create_a_flag(&app, &format!("Bearer {token}")).await;
    eve.delete(&format!("/users/me/tokens/{id}"))
        .await
        .expect(StatusCode::NO_CONTENT);
    let answer = finish(revoked).await;
    assert!(
        answer.contains("HTTP/1.1 401 ") && answer.contains("UNAUTHENTICATED"),
        "{answer}"
    );

    let demoted = begin_to_create_a_flag(&app, &format!("Bearer {kept}")).await;
    let viewer = json!({ "role": "viewer" });
    admin
        .patch(&format!("/users/{owner}"), viewer)
        .await
        .expect(StatusCode::OK);
    let answer = finish(demoted).await;
    assert!(
        answer.contains("HTTP/1.1 403 ") && answer.contains("FORBIDDEN"),
        "{answer}"
    );

    let mine = app.authorization().await;
    let ended = begin_to_create_a_flag(&app, &mine).await;
    app.with_authorization(&mine)
        .post("/auth/logout", json!({}))
        .await
        .expect(StatusCode::NO_CONTENT);
    let answer = finish(ended).await;
    assert!(answer.contains("HTTP/1.1 401 "), "{answer}");
    assert_eq!(admin.audited().await, [] as [String; 0]);

    let (_, brief) = admin.personal_token("brief", "editor").await;
    let expired = begin_to_create_a_flag(&app, &format!("Bearer {brief}")).await;
    app.advance(90 * 24 * 60 * 60);
    let answer = finish(expired).await;
    assert!(answer.contains("HTTP/1.1 401 "), "{answer}");

    let allowed = begin_to_create_a_flag(&app, &app.authorization().await).await;
    let answer = finish(allowed).await;
    assert!(answer.contains("HTTP/1.1 201 "), "{answer}");
}

#[tokio::test]
async fn an_administrators_token_cannot_set_passwords() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, token) = admin.personal_token("script", "admin").await;
    let script = app.with_token(&token);
    let eve = admin.user("eve@example.com", "viewer").await;
    for user in ["me", &eve] {
        let password = json!({ "password": "another long password" });
        let refused = script.patch(&format!("/users/{user}"), password).await;
        refused.expect_problem(StatusCode::FORBIDDEN, "SESSION_REQUIRED");
    }
    let new = json!({ "email": "mallory@example.com", "password": PASSWORD, "role": "admin" });
    let refused = script.post("/users", new).await;
    refused.expect_problem(StatusCode::FORBIDDEN, "SESSION_REQUIRED");
    let role = json!({ "role": "editor" });
    let changed = script.patch(&format!("/users/{eve}"), role).await;
    changed.expect(StatusCode::OK);
}
