//! Reverting changes through the API.

use pennon_tests::{Answer, Caller, TestApp, equals, rollout, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// Reverts the action of an audit entry, with a query such as `?dryRun=true`.
async fn revert(caller: &Caller<'_>, entry: &str, query: &str) -> Answer {
    let path = format!("/audit/{entry}/revert{query}");
    caller.send(caller.request(Method::POST, &path)).await
}

/// Returns the ID of the newest audit entry.
async fn newest(caller: &Caller<'_>) -> String {
    let entries = caller.get("/audit?limit=1&include=accounts").await;
    entries.expect(StatusCode::OK).text("/items/0/id")
}

/// Returns the planned changes of a response: the action, the flag, the environment, and the values.
fn changes(answer: &Value) -> Value {
    let changes = answer["changes"].as_array().expect("there are changes");
    let short = changes.iter().map(|change| {
        json!([
            change["action"],
            change["flagKey"],
            change["product"],
            change["environment"],
            change["oldValue"]["isEnabled"],
            change["newValue"]["isEnabled"],
        ])
    });
    short.collect()
}

#[tokio::test]
async fn a_revert_restores_the_state_and_can_be_reverted() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let entry = newest(&admin).await;
    let editor = app.user("eve@example.com", "editor").await;
    let changed = json!([[
        "FLAG_ENVIRONMENT_UPDATED",
        "checkout",
        "shop",
        "prod",
        true,
        false
    ]]);

    let previewed = revert(&editor, &entry, "?dryRun=true").await;
    let previewed = previewed.expect(StatusCode::OK).json();
    assert_eq!(changes(&previewed), changed);
    assert_eq!(previewed["dryRun"], true);
    assert_eq!(previewed["groupId"], json!(null));
    assert_eq!(previewed["overwrites"], false);
    assert_eq!(admin.get(&checkout.path).await.json()["isEnabled"], true);

    let reverted = revert(&editor, &entry, "").await;
    let reverted = reverted.expect(StatusCode::OK).json();
    assert_eq!(changes(&reverted), changed);
    assert_eq!(reverted["dryRun"], false);
    assert!(reverted.get("fingerprint").is_none());
    assert_eq!(admin.get(&checkout.path).await.json()["isEnabled"], false);
    let written = admin.get("/audit?limit=1").await.json();
    assert_eq!(written["items"][0]["groupId"], reverted["groupId"]);
    assert_eq!(written["items"][0]["actorIdentity"], "eve@example.com");

    let again = revert(&editor, &entry, "").await;
    again.expect_problem(StatusCode::CONFLICT, "ALREADY_REVERTED");
    let group = reverted["groupId"].as_str().expect("a group");
    revert(&editor, group, "").await.expect(StatusCode::OK);
    assert_eq!(admin.get(&checkout.path).await.json()["isEnabled"], true);
}

#[tokio::test]
async fn a_fingerprint_refuses_a_revert_of_another_state() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let entry = newest(&admin).await;
    let previewed = revert(&admin, &entry, "?dryRun=true").await;
    let seen = format!("?fingerprint={}", previewed.text("/fingerprint"));
    let configured = admin.put(&checkout.path, json!({ "ttlOverrideSeconds": 5 }));
    configured.await.expect(StatusCode::NO_CONTENT);
    for query in [seen.clone(), format!("{seen}&dryRun=true")] {
        let stale = revert(&admin, &entry, &query).await;
        let stale = stale.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
        assert!(stale.text("/detail").contains("dry run"));
    }
    let seen = async |entry: &str| {
        let previewed = revert(&admin, entry, "?dryRun=true").await;
        format!("?fingerprint={}", previewed.text("/fingerprint"))
    };
    revert(&admin, &entry, &seen(&entry).await)
        .await
        .expect(StatusCode::OK);

    let user = format!("/users/{}", admin.user("eve@example.com", "viewer").await);
    let promoted = admin.patch(&user, json!({ "role": "editor" })).await;
    promoted.expect(StatusCode::OK);
    let entry = newest(&admin).await;
    let before = seen(&entry).await;
    let grants = json!({ "grants": [{ "product": "shop", "role": "admin" }] });
    admin.patch(&user, grants).await.expect(StatusCode::OK);
    let stale = revert(&admin, &entry, &before).await;
    stale.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");

    let (other, _) = admin.environment("shop", "dev").await;
    let environment = format!("/environments/{}", checkout.environment);
    let renamed = admin.patch(&environment, json!({ "name": "live" })).await;
    renamed.expect(StatusCode::OK);
    let entry = newest(&admin).await;
    let before = seen(&entry).await;
    let order = json!({ "product": "shop", "environmentIds": [other, checkout.environment] });
    let ordered = admin.put("/environments/order", order).await;
    ordered.expect(StatusCode::OK);
    let stale = revert(&admin, &entry, &before).await;
    stale.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
}

#[tokio::test]
async fn a_revert_tells_whether_it_overwrites_a_later_change() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let flag = format!("/flags/{}", checkout.flag);
    let environment = format!("/environments/{}", checkout.environment);
    let user = admin.user("eve@example.com", "viewer").await;
    let grants = |product| json!({ "grants": [{ "product": product, "role": "editor" }] });
    for (method, path, first, second) in [
        (
            Method::PATCH,
            flag.clone(),
            json!({ "products": ["shop"] }),
            json!({ "products": ["shop", "blog"] }),
        ),
        (
            Method::PATCH,
            flag.clone(),
            json!({ "expiresAt": "2026-05-01" }),
            json!({ "expiresAt": "2026-06-01" }),
        ),
        (
            Method::PATCH,
            environment,
            json!({ "name": "live", "protected": true }),
            json!({ "name": "eu" }),
        ),
        (
            Method::PATCH,
            format!("/users/{user}"),
            grants("shop"),
            grants("blog"),
        ),
        (
            Method::PUT,
            checkout.path.clone(),
            json!({ "ttlOverrideSeconds": 5 }),
            json!({ "ttlOverrideSeconds": 6 }),
        ),
        (
            Method::PUT,
            format!("{}/rollout", checkout.path),
            rollout(5),
            rollout(6),
        ),
    ] {
        let change = async |body: &Value| {
            let request = admin.request(method.clone(), &path).json(body);
            let changed = admin.send(request).await;
            assert!(changed.status.is_success(), "{path} {body}");
        };
        let overwrites = async |entry: &str| {
            let planned = revert(&admin, entry, "?dryRun=true").await;
            planned.expect(StatusCode::OK).json()["overwrites"].take()
        };
        change(&first).await;
        let entry = newest(&admin).await;
        assert_eq!(overwrites(&entry).await, false, "{first}");
        change(&second).await;
        assert_eq!(overwrites(&entry).await, true, "{first}");
    }
    let overwrites = async |entry: &str| {
        let planned = revert(&admin, entry, "?dryRun=true").await;
        planned.expect(StatusCode::OK).json()["overwrites"].take()
    };
    let configured = format!("{}/rollout", checkout.path);
    admin
        .put(&configured, rollout(7))
        .await
        .expect(StatusCode::OK);
    let entry = newest(&admin).await;
    admin
        .delete(&configured)
        .await
        .expect(StatusCode::NO_CONTENT);
    assert_eq!(overwrites(&entry).await, true, "the rollout was deleted");
    let archive = async || {
        let archived = admin.delete(&flag).await;
        archived.expect(StatusCode::NO_CONTENT);
        newest(&admin).await
    };
    let restore = async || {
        let restored = admin.post(&format!("{flag}/restore"), json!({})).await;
        restored.expect(StatusCode::OK);
    };
    let entry = archive().await;
    assert_eq!(overwrites(&entry).await, false, "the flag is archived");
    restore().await;
    app.advance(1);
    archive().await;
    assert_eq!(overwrites(&entry).await, true, "it was archived again");
    restore().await;

    let mut rule = rule(1, equals("vip", true));
    let created = admin.rule(&checkout.path, rule.clone()).await;
    let entry = newest(&admin).await;
    rule["value"] = json!(false);
    let replaced = admin.put(&format!("/rules/{created}"), rule).await;
    replaced.expect(StatusCode::OK);
    let reverted = revert(&admin, &entry, "").await.expect(StatusCode::OK);
    assert_eq!(reverted.json()["overwrites"], true);
}

#[tokio::test]
async fn a_later_change_back_is_not_overwritten_by_a_revert() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let environment = format!("/environments/{}", checkout.environment);
    let user = admin.user("eve@example.com", "viewer").await;
    let user = format!("/users/{user}");
    let product = json!([{ "product": "shop", "role": "editor" }]);
    for (path, first, second) in [
        (
            &environment,
            json!({ "name": "live", "protected": true }),
            json!({ "protected": false }),
        ),
        (
            &user,
            json!({ "role": "editor", "grants": product }),
            json!({ "grants": [] }),
        ),
    ] {
        admin.patch(path, first).await.expect(StatusCode::OK);
        let entry = newest(&admin).await;
        admin.patch(path, second).await.expect(StatusCode::OK);
        let reverted = revert(&admin, &entry, "").await.expect(StatusCode::OK);
        assert_eq!(reverted.json()["overwrites"], false, "{path}");
    }

    let mut first = rule(1, equals("vip", true));
    let id = admin.rule(&checkout.path, first.clone()).await;
    let path = format!("/rules/{id}");
    first["value"] = json!(false);
    admin.put(&path, first.clone()).await.expect(StatusCode::OK);
    let entry = newest(&admin).await;
    first["value"] = json!(true);
    admin.put(&path, first).await.expect(StatusCode::OK);
    let reverted = revert(&admin, &entry, "").await;
    reverted.expect_problem(StatusCode::CONFLICT, "ALREADY_REVERTED");
}

#[tokio::test]
async fn a_reverted_deletion_restores_a_rule_once() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let rules = format!("{}/rules", checkout.path);
    let created = admin
        .rule(&checkout.path, rule(1, equals("vip", true)))
        .await;
    let deleted = admin.delete(&format!("/rules/{created}")).await;
    deleted.expect(StatusCode::NO_CONTENT);
    let entry = newest(&admin).await;
    revert(&admin, &entry, "").await.expect(StatusCode::OK);
    let again = revert(&admin, &entry, "").await;
    again.expect_problem(StatusCode::CONFLICT, "ALREADY_REVERTED");
    let restored = admin.get(&rules).await.text("/0/id");
    let deleted = admin.delete(&format!("/rules/{restored}")).await;
    deleted.expect(StatusCode::NO_CONTENT);
    for priority in 2..=101 {
        let rule = rule(priority, equals("vip", true));
        admin.rule(&checkout.path, rule).await;
    }
    for query in ["?dryRun=true", ""] {
        let refused = revert(&admin, &entry, query).await;
        refused.expect_problem(StatusCode::CONFLICT, "TOO_MANY_RULES");
    }
}

#[tokio::test]
async fn a_name_that_another_environment_has_now_cannot_be_restored() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let path = format!("/environments/{environment}");
    let renamed = admin.patch(&path, json!({ "name": "old" })).await;
    renamed.expect(StatusCode::OK);
    let entry = newest(&admin).await;
    let (other, _) = admin.environment("shop", "prod").await;
    for query in ["?dryRun=true", ""] {
        let refused = revert(&admin, &entry, query).await;
        let refused = refused.expect_problem(StatusCode::CONFLICT, "ENVIRONMENT_NAME_TAKEN");
        assert!(!refused.text("/detail").is_empty());
    }
    let other = format!("/environments/{other}");
    let freed = admin.patch(&other, json!({ "name": "new" })).await;
    freed.expect(StatusCode::OK);
    revert(&admin, &entry, "").await.expect(StatusCode::OK);
    assert_eq!(admin.get(&path).await.text("/name"), "prod");
}

#[tokio::test]
async fn changes_that_cannot_be_reverted_are_refused() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let created = newest(&admin).await;
    let flag = admin.flag("checkout").await;
    let flag_created = newest(&admin).await;
    for query in ["", "?dryRun=true"] {
        let refused = revert(&admin, &created, query).await;
        refused.expect_problem(StatusCode::CONFLICT, "NOT_REVERTIBLE");
    }
    admin.switch(&flag, &environment, true).await;
    let switched = newest(&admin).await;
    for query in ["", "?dryRun=true"] {
        let refused = revert(&admin, &flag_created, query).await;
        refused.expect_problem(StatusCode::CONFLICT, "FLAG_ENABLED");
    }
    admin.switch(&flag, &environment, false).await;
    admin.archive(&flag).await;
    let refused = revert(&admin, &switched, "").await;
    refused.expect_problem(StatusCode::CONFLICT, "FLAG_ARCHIVED");
    let refused = revert(&admin, &switched, "?dry=true").await;
    refused.expect_faults(&["dry"]);
    for nowhere in ["no-id", &flag] {
        let missing = revert(&admin, nowhere, "").await;
        missing.expect_problem(StatusCode::NOT_FOUND, "AUDIT_ENTRY_NOT_FOUND");
    }
}

#[tokio::test]
async fn a_revert_needs_the_role_of_the_change() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let environment = format!("/environments/{}", checkout.environment);
    let renamed = admin.patch(&environment, json!({ "name": "live" })).await;
    renamed.expect(StatusCode::OK);
    let renamed = newest(&admin).await;
    let editor = app.user("eve@example.com", "editor").await;
    let account = newest(&admin).await;
    for entry in [&renamed, &account] {
        for query in ["", "?dryRun=true"] {
            let refused = revert(&editor, entry, query).await;
            let refused = refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
            assert_eq!(refused.text("/detail"), "the role admin is required");
        }
    }
    let reverted = revert(&admin, &renamed, "").await.expect(StatusCode::OK);
    let change = &reverted.json()["changes"][0];
    assert_eq!(
        [&change["product"], &change["environment"]],
        ["shop", "prod"]
    );
    assert_eq!(admin.get(&environment).await.text("/name"), "prod");
    let refused = revert(&admin, &account, "").await;
    refused.expect_problem(StatusCode::CONFLICT, "NOT_REVERTIBLE");
}

#[tokio::test]
async fn the_roles_of_a_user_can_be_restored_but_not_a_password() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    admin.flag_environment().await;
    let id = admin.user("eve@example.com", "viewer").await;
    let created = newest(&admin).await;
    let path = format!("/users/{id}");
    let grants = json!([{ "product": "shop", "role": "editor" }]);
    let roles = json!({ "role": "editor", "grants": grants });
    admin.patch(&path, roles).await.expect(StatusCode::OK);
    let changed = newest(&admin).await;
    let planned = revert(&admin, &changed, "?dryRun=true").await;
    let planned = planned.expect(StatusCode::OK).json();
    assert_eq!(planned["changes"][0]["action"], "USER_UPDATED");
    assert_eq!(planned["changes"][0]["newValue"]["role"], "viewer");
    revert(&admin, &changed, "").await.expect(StatusCode::OK);
    let user = admin.get(&path).await.json();
    assert_eq!(
        (&user["role"], &user["grants"]),
        (&json!("viewer"), &json!(null))
    );
    // The revert can be reverted, too.
    let reverted = newest(&admin).await;
    revert(&admin, &reverted, "").await.expect(StatusCode::OK);
    let user = admin.get(&path).await.json();
    assert_eq!(user["role"], "editor");
    assert_eq!(user["grants"][0]["product"], "shop");

    let reset = json!({ "password": "another long password" });
    admin.patch(&path, reset).await.expect(StatusCode::OK);
    let reset = newest(&admin).await;
    for entry in [&created, &reset] {
        let refused = revert(&admin, entry, "").await;
        refused.expect_problem(StatusCode::CONFLICT, "NOT_REVERTIBLE");
    }
    let gone = admin.delete(&path).await;
    gone.expect(StatusCode::NO_CONTENT);
    let refused = revert(&admin, &changed, "").await;
    refused.expect_problem(StatusCode::CONFLICT, "NOT_REVERTIBLE");
}

#[tokio::test]
async fn a_revert_keeps_an_administrator() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let id = admin.user("eve@example.com", "viewer").await;
    let promoted = admin
        .patch(&format!("/users/{id}"), json!({ "role": "admin" }))
        .await;
    promoted.expect(StatusCode::OK);
    let promoted = newest(&admin).await;
    let eve = app.signed_in("eve@example.com").await;
    let own = admin.get("/users/me").await.text("/id");
    let demoted = eve
        .patch(&format!("/users/{own}"), json!({ "role": "editor" }))
        .await;
    demoted.expect(StatusCode::OK);
    let refused = revert(&eve, &promoted, "").await;
    refused.expect_problem(StatusCode::CONFLICT, "LAST_ADMIN");
    let forbidden = revert(&admin, &promoted, "").await;
    forbidden.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
}

#[tokio::test]
async fn the_environment_with_the_last_key_is_the_newest_even_if_the_clock_was_set_back() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let mut environment = checkout.environment;
    for _ in 0..2 {
        app.advance(-10);
        environment = admin.rotate_key(&environment).await.0;
    }
    admin.switch(&checkout.flag, &environment, true).await;
    let entry = newest(&admin).await;
    revert(&admin, &entry, "").await.expect(StatusCode::OK);
    let path = format!("/flags/{}/environments/{environment}", checkout.flag);
    assert_eq!(admin.get(&path).await.json()["isEnabled"], false);
}
