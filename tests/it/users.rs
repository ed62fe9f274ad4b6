//! Users: creating, listing, changing and deleting them.

use pennon_tests::{Answer, EMAIL, PASSWORD, START, TestApp, UNKNOWN_ID};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const OTHER_PASSWORD: &str = "another long password";

#[tokio::test]
async fn a_new_user_can_sign_in_and_be_read() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let body = json!({ "email": "eve@example.com", "password": PASSWORD, "role": "editor" });
    let created = admin.post("/users", body).await;
    let created = created.expect(StatusCode::CREATED);
    let id = created.text("/id");
    let user =
        json!({ "id": id, "email": "eve@example.com", "role": "editor", "createdAt": START });
    assert_eq!(created.json(), user);
    assert_eq!(created.header("location"), format!("/users/{id}"));
    assert_eq!(created.header("etag"), "\"1\"");
    assert_eq!(created.header("cache-control"), "no-store");
    let eve = app.signed_in("eve@example.com").await;
    for (caller, path) in [
        (&eve, "/users/me".to_owned()),
        (&eve, format!("/users/{id}")),
        (&admin, format!("/users/{id}")),
    ] {
        let answer = caller.get(&path).await.expect(StatusCode::OK);
        assert_eq!(
            (answer.json(), answer.header("etag")),
            (user.clone(), "\"1\"")
        );
    }
    assert_eq!(admin.get("/users/me").await.text("/email"), EMAIL);
}

#[tokio::test]
async fn users_are_listed_newest_first_and_filtered_by_address_and_role() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    admin.user("eve@example.com", "editor").await;
    admin.user("vic@example.com", "viewer").await;
    let emails = async |query: &str| -> Vec<Value> {
        let page = admin.get(&format!("/users{query}")).await;
        let page = page.expect(StatusCode::OK).json();
        let items = page["items"].as_array().expect("a page has items");
        if !query.contains("limit") {
            assert_eq!(page["pagination"]["total"], items.len(), "{query}");
        }
        items.iter().map(|user| user["email"].clone()).collect()
    };
    assert_eq!(
        emails("").await,
        ["vic@example.com", "eve@example.com", EMAIL]
    );
    assert_eq!(emails("?limit=1&page=2").await, ["eve@example.com"]);
    assert_eq!(emails("?email=eve@example.com").await, ["eve@example.com"]);
    assert_eq!(emails("?email=EVE@example.com").await, ["eve@example.com"]);
    assert_eq!(emails("?email=%00").await, [] as [Value; 0]);
    assert_eq!(emails("?role=admin").await, [EMAIL]);
    let past_the_end = admin.get("/users?role=viewer&page=2").await.json();
    assert_eq!(
        past_the_end,
        json!({ "items": [], "pagination": { "page": 2, "limit": 20, "total": 1 } })
    );
    let answer = admin.get("/users?role=owner&limit=0&mail=x").await;
    answer.expect_faults(&["limit", "role", "mail"]);
}

#[tokio::test]
async fn every_invalid_member_is_reported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let id = admin.user("eve@example.com", "editor").await;
    let (one, all) = (["/password"], ["/email", "/password", "/role"]);
    let too_long = format!("{}@example.com", "x".repeat(243));
    let valid = |member: &str, value: Value| {
        let mut body =
            json!({ "email": "new@example.com", "password": PASSWORD, "role": "viewer" });
        body[member] = value;
        body
    };
    for (body, faults) in [
        (json!({}), &all[..]),
        (
            json!({ "email": null, "password": 123_456_789_012_u64, "role": true }),
            &all,
        ),
        (
            json!({ "email": "no address", "password": "11characters", "role": "Admin" }),
            &["/email", "/role"],
        ),
        (
            json!({ "email": too_long, "password": "short", "role": "" }),
            &all,
        ),
        (valid("password", json!("é".repeat(11))), &one),
        (valid("password", json!("é".repeat(257))), &one),
        (valid("password", json!("a password with\0")), &one),
        (valid("email", json!("\0@example.com")), &["/email"]),
        (valid("name", json!("x")), &["/name"]),
    ] {
        let answer = admin.post("/users", body).await;
        answer.expect_faults(faults);
    }
    let answer = admin
        .patch(
            &format!("/users/{id}"),
            json!({ "role": null, "password": "short", "email": "x@example.com" }),
        )
        .await;
    answer.expect_faults(&["/role", "/password", "/email"]);
    let answer = admin
        .put(
            "/users/me/password",
            json!({ "newPassword": "short", "password": "x" }),
        )
        .await;
    answer.expect_faults(&["/currentPassword", "/newPassword", "/password"]);
    let endless = json!({ "currentPassword": PASSWORD, "newPassword": "x".repeat(1100 * 1024) });
    admin
        .put("/users/me/password", endless)
        .await
        .expect_problem(StatusCode::PAYLOAD_TOO_LARGE, "BODY_TOO_LARGE");
    assert_eq!(admin.audited_with_accounts().await, ["USER_CREATED"]);
}

#[tokio::test]
async fn the_shortest_and_the_longest_password_and_address_are_accepted() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let longest = format!("{}@example.com", "x".repeat(242));
    for (email, password) in [("a@b", "é".repeat(12)), (longest.as_str(), "é".repeat(256))] {
        let body = json!({ "email": email, "password": password, "role": "viewer" });
        admin.post("/users", body).await.expect(StatusCode::CREATED);
        app.sign_in(email, &password).await.expect(StatusCode::OK);
        app.sign_in(email, &format!("{password}é"))
            .await
            .expect_problem(StatusCode::UNAUTHORIZED, "WRONG_PASSWORD");
    }
}

#[tokio::test]
async fn addresses_that_differ_only_in_case_are_the_same_account() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let id = admin.user("eve@example.com", "viewer").await;
    let body = json!({ "email": "eve@example.com", "password": PASSWORD, "role": "admin" });
    let twin = json!({ "email": "Eve@Example.com", "password": PASSWORD, "role": "admin" });
    for taken in [&body, &twin] {
        let refused = admin.post("/users", taken.clone()).await;
        refused.expect_problem(StatusCode::CONFLICT, "EMAIL_TAKEN");
    }
    let signed_in = app.sign_in("EVE@EXAMPLE.COM", PASSWORD).await;
    assert_eq!(signed_in.expect(StatusCode::OK).text("/user/id"), id);
    // After the deletion, the address is free.
    admin
        .delete(&format!("/users/{id}"))
        .await
        .expect(StatusCode::NO_CONTENT);
    let again = admin.post("/users", body).await.expect(StatusCode::CREATED);
    assert_ne!(again.text("/id"), id);
}

#[tokio::test]
async fn stored_accounts_that_differ_only_in_case_sign_in_by_exact_address() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let older = admin.user("eve@example.com", "viewer").await;
    let younger = admin.user("other@example.com", "viewer").await;
    app.tamper("update users set email = 'Eve@example.com' where email = 'other@example.com'")
        .await;
    for (email, expected) in [
        ("eve@example.com", &older),
        ("Eve@example.com", &younger),
        ("EVE@example.com", &older),
    ] {
        let signed_in = app.sign_in(email, PASSWORD).await.expect(StatusCode::OK);
        assert_eq!(&signed_in.text("/user/id"), expected, "{email}");
    }
}

#[tokio::test]
async fn the_first_administrator_is_in_the_audit_log() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let audit = admin.get("/audit?include=accounts").await;
    assert_eq!(audit.json()["pagination"]["total"], 1);
    for (pointer, expected) in [
        ("/items/0/action", "USER_CREATED"),
        ("/items/0/actorIdentity", "cli"),
        ("/items/0/newValue/email", EMAIL),
    ] {
        assert_eq!(audit.text(pointer), expected);
    }
}

#[tokio::test]
async fn an_editor_sees_only_their_own_account() {
    let app = TestApp::start().await;
    let eve = app.user("eve@example.com", "editor").await;
    let admin_id = app.admin().await.get("/users/me").await.text("/id");
    for id in [admin_id.as_str(), UNKNOWN_ID, "x", "%00"] {
        for path in [format!("/users/{id}"), format!("/users/{id}/tokens")] {
            let answer = eve.get(&path).await;
            answer.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
        }
    }
    let admin = app.admin().await;
    for id in [UNKNOWN_ID, "x", "%00", "ME"] {
        let path = format!("/users/{id}");
        for answer in [
            admin.get(&path).await,
            admin.patch(&path, json!(0)).await,
            admin.delete(&path).await,
            admin.get(&format!("{path}/tokens")).await,
            admin.delete(&format!("{path}/tokens/{id}")).await,
        ] {
            answer.expect_problem(StatusCode::NOT_FOUND, "USER_NOT_FOUND");
        }
    }
}

#[tokio::test]
async fn a_role_change_affects_the_next_request() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let eve = app.user("eve@example.com", "viewer").await;
    let id = eve.get("/users/me").await.text("/id");
    let path = format!("/users/{id}");
    let create = async |key: &str| {
        let flag = json!({ "key": key, "name": key, "type": "boolean" });
        eve.post("/flags", flag).await
    };
    create("one")
        .await
        .expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    let changed = admin.patch(&path, json!({ "role": "editor" })).await;
    let changed = changed.expect(StatusCode::OK);
    assert_eq!(
        (changed.text("/role"), changed.header("etag")),
        ("editor".to_owned(), "\"2\"")
    );
    create("one").await.expect(StatusCode::CREATED);
    admin
        .patch(&path, json!({ "role": "viewer" }))
        .await
        .expect(StatusCode::OK);
    create("two")
        .await
        .expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    // A change without effect is not recorded.
    for body in [json!({}), json!({ "role": "viewer" })] {
        let same = admin.patch(&path, body).await.expect(StatusCode::OK);
        assert_eq!(same.header("etag"), "\"3\"");
    }
    assert_eq!(
        admin.audited_with_accounts().await,
        [
            "USER_UPDATED",
            "FLAG_CREATED",
            "USER_UPDATED",
            "USER_CREATED"
        ]
    );
}

#[tokio::test]
async fn the_last_administrator_cannot_be_removed() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let id = admin.get("/users/me").await.text("/id");
    for path in ["/users/me".to_owned(), format!("/users/{id}")] {
        for role in ["editor", "viewer"] {
            let answer = admin.patch(&path, json!({ "role": role })).await;
            answer.expect_problem(StatusCode::CONFLICT, "LAST_ADMIN");
        }
        admin
            .delete(&path)
            .await
            .expect_problem(StatusCode::CONFLICT, "LAST_ADMIN");
    }
    admin.get("/users").await.expect(StatusCode::OK);
    // With a second administrator, the first may give up the role or delete the account.
    let second = app.user("second@example.com", "admin").await;
    admin
        .patch("/users/me", json!({ "role": "viewer" }))
        .await
        .expect(StatusCode::OK);
    admin
        .get("/users")
        .await
        .expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    second
        .patch(&format!("/users/{id}"), json!({ "role": "admin" }))
        .await
        .expect(StatusCode::OK);
    admin
        .delete("/users/me")
        .await
        .expect(StatusCode::NO_CONTENT);
    admin
        .get("/users/me")
        .await
        .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    second
        .delete("/users/me")
        .await
        .expect_problem(StatusCode::CONFLICT, "LAST_ADMIN");
}

#[tokio::test]
async fn deleting_a_user_ends_their_sessions_and_tokens_at_once() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let id = admin.user("eve@example.com", "editor").await;
    let tokens = app.sign_in("eve@example.com", PASSWORD).await;
    let session = app.with_token(&tokens.text("/access_token"));
    let (_, token) = session.personal_token("ci", "editor").await;
    let script = app.with_token(&token);
    script.get("/flags").await.expect(StatusCode::OK);
    admin
        .delete(&format!("/users/{id}"))
        .await
        .expect(StatusCode::NO_CONTENT);
    let refresh = json!({ "refresh_token": tokens.text("/refresh_token") });
    for refused in [
        session.get("/flags").await,
        script.get("/flags").await,
        app.anonymous().post("/auth/refresh", refresh).await,
    ] {
        refused.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    }
    app.sign_in("eve@example.com", PASSWORD)
        .await
        .expect_problem(StatusCode::UNAUTHORIZED, "WRONG_PASSWORD");
    admin
        .delete(&format!("/users/{id}"))
        .await
        .expect_problem(StatusCode::NOT_FOUND, "USER_NOT_FOUND");
}

#[tokio::test]
async fn a_stale_precondition_prevents_changing_or_deleting_a_user() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let id = admin.user("eve@example.com", "viewer").await;
    let path = format!("/users/{id}");
    let send = async |method: Method, tag: &str, body: Value| {
        let request = admin.request(method, &path).header("if-match", tag);
        admin.send(request.json(&body)).await
    };
    let role = |role: &str| json!({ "role": role });
    send(Method::PATCH, "\"1\"", role("editor"))
        .await
        .expect(StatusCode::OK);
    for (method, body) in [
        (Method::PATCH, role("admin")),
        (Method::PATCH, role("editor")),
        (Method::DELETE, json!({})),
    ] {
        let stale = send(method, "\"1\"", body).await;
        let stale = stale.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
        assert_eq!(stale.header("etag"), "\"2\"");
    }
    assert_eq!(admin.get(&path).await.text("/role"), "editor");
    send(Method::PATCH, "*", json!({ "password": OTHER_PASSWORD }))
        .await
        .expect(StatusCode::OK);
    send(Method::DELETE, "\"3\"", json!({}))
        .await
        .expect(StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn only_administrators_see_audit_entries_about_accounts() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let eve = app.user("eve@example.com", "editor").await;
    let id = eve.get("/users/me").await.text("/id");
    let (token_id, token) = eve.personal_token("ci", "viewer").await;
    let change = json!({ "currentPassword": PASSWORD, "newPassword": OTHER_PASSWORD });
    eve.put("/users/me/password", change)
        .await
        .expect(StatusCode::NO_CONTENT);
    eve.delete(&format!("/users/me/tokens/{token_id}"))
        .await
        .expect(StatusCode::NO_CONTENT);
    let reset = json!({ "role": "viewer", "password": "a third long password" });
    admin
        .patch(&format!("/users/{id}"), reset)
        .await
        .expect(StatusCode::OK);
    admin
        .delete(&format!("/users/{id}"))
        .await
        .expect(StatusCode::NO_CONTENT);
    assert_eq!(admin.audited().await, [] as [String; 0]);
    let answer = admin.get("/audit?include=accounts").await;
    let answer = answer.expect(StatusCode::OK);
    let account = |user: &str, role: &str| json!({ "id": user, "email": "eve@example.com", "role": role, "createdAt": START });
    let listed = json!({
        "id": token_id, "userId": id, "name": "ci", "role": "viewer", "tokenPrefix": &token[..12],
        "createdAt": START, "expiresAt": "2026-05-30T09:30:00.000Z",
    });
    let mut first = account(&admin.get("/users/me").await.text("/id"), "admin");
    first["email"] = json!(EMAIL);
    let mut updated = account(&id, "viewer");
    updated["passwordReset"] = json!(true);
    let entries: Vec<Value> = answer.json()["items"]
        .as_array()
        .expect("a page has items")
        .iter()
        .map(|entry| {
            json!([
                entry["action"],
                entry["actorIdentity"],
                entry["oldValue"],
                entry["newValue"]
            ])
        })
        .collect();
    assert_eq!(
        entries,
        [
            json!(["USER_DELETED", EMAIL, account(&id, "viewer"), null]),
            json!(["USER_UPDATED", EMAIL, account(&id, "editor"), updated]),
            json!(["TOKEN_REVOKED", "eve@example.com", listed, null]),
            json!(["PASSWORD_CHANGED", "eve@example.com", null, null]),
            json!(["TOKEN_CREATED", "eve@example.com", null, listed]),
            json!(["USER_CREATED", EMAIL, null, account(&id, "editor")]),
            json!(["USER_CREATED", "cli", null, first]),
        ]
    );
    let text = answer.body();
    for secret in [PASSWORD, OTHER_PASSWORD, "a third", "argon2", &token] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[tokio::test]
async fn audit_entries_about_accounts_are_left_out_by_default() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let editor = app.user("eve@example.com", "editor").await;
    editor.flag("checkout").await;
    editor
        .get("/audit?include=accounts")
        .await
        .expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    let bad = admin.get("/audit?include=users&limit=x").await;
    bad.expect_faults(&["limit", "include"]);
    let total = async |query: &str| {
        let page = admin.get(&format!("/audit{query}")).await.json();
        page["pagination"]["total"].clone()
    };
    assert_eq!(total("").await, 1);
    assert_eq!(total("?include=accounts").await, 3);
    assert_eq!(total("?include=accounts&flagKey=checkout").await, 1);
    assert_eq!(editor.audited().await, ["FLAG_CREATED"]);
}

#[tokio::test]
async fn two_administrators_cannot_demote_each_other_at_the_same_time() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    let (first, ana_token) = (app.admin().await, app.authorization().await);
    let ana = first.get("/users/me").await.text("/id");
    let bob = first.user("bob@example.com", "admin").await;
    let tokens = other.sign_in("bob@example.com", PASSWORD).await;
    let bob_token = format!("Bearer {}", tokens.text("/access_token"));
    for round in 0..8 {
        let demote = |at: &TestApp, by: &str, user: &str| {
            let request = at
                .with_authorization(by)
                .request(Method::PATCH, &format!("/users/{user}"));
            Answer::to(request.json(&json!({ "role": "viewer" })))
        };
        let (by_ana, by_bob) = tokio::join!(
            demote(&app, &ana_token, &bob),
            demote(&other, &bob_token, &ana)
        );
        let won = [&by_ana, &by_bob].map(|answer| answer.status == StatusCode::OK);
        assert_ne!(won[0], won[1], "round {round}");
        let lost = if won[0] { by_bob } else { by_ana };
        // 403 if the other demotion came first, 409 if this one would remove the last administrator.
        assert!(
            [StatusCode::FORBIDDEN, StatusCode::CONFLICT].contains(&lost.status),
            "round {round}: {}",
            lost.status
        );
        let (stayed, demoted) = if won[0] {
            (&ana_token, &bob)
        } else {
            (&bob_token, &ana)
        };
        app.with_authorization(stayed)
            .patch(&format!("/users/{demoted}"), json!({ "role": "admin" }))
            .await
            .expect(StatusCode::OK);
    }
}
