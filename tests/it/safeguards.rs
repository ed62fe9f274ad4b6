//! Protected environments, and reasons for changes.

use pennon_tests::{Answer, Browser, Caller, FlagEnvironment, TestApp, equals, rollout, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// The header with the reason.
const HEADER: &str = "x-change-reason";

/// Creates an environment whose changes require a reason, with a flag.
async fn guarded(admin: &Caller<'_>) -> FlagEnvironment {
    let checkout = admin.flag_environment().await;
    let guard = json!({ "reasonRequired": true });
    let guarded = admin.patch(&environment_path(&checkout), guard).await;
    assert_eq!(
        guarded.expect(StatusCode::OK).json()["reasonRequired"],
        true
    );
    checkout
}

fn environment_path(checkout: &FlagEnvironment) -> String {
    format!("/environments/{}", checkout.environment)
}

/// Sends a change with a reason in the header.
async fn send(
    caller: &Caller<'_>,
    method: Method,
    path: &str,
    body: &Value,
    header: Option<&str>,
) -> Answer {
    let mut request = caller.request(method, path);
    if !body.is_null() {
        request = request.json(body);
    }
    if let Some(header) = header {
        request = request.header(HEADER, header);
    }
    caller.send(request).await
}

/// Returns the reasons of all entries that the audit log shows, newest first.
async fn reasons(admin: &Caller<'_>) -> Vec<Value> {
    let entries = admin.get("/audit?limit=100").await.items();
    entries
        .iter()
        .map(|entry| entry["reason"].clone())
        .collect()
}

/// Returns a body with another member.
fn with(body: &Value, name: &str, value: Value) -> Value {
    let mut body = if body.is_null() {
        json!({})
    } else {
        body.clone()
    };
    body[name] = value;
    body
}

/// Returns a rule with this priority.
fn rule_with(priority: usize) -> Value {
    rule(priority, equals("country", "AT"))
}

#[tokio::test]
async fn every_change_in_an_environment_needs_the_reason_that_it_requires() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = guarded(&admin).await;
    let (other, _) = admin.environment("shop", "dev").await;
    let (flag, here) = (format!("/flags/{}", checkout.flag), &checkout.path);
    let place = environment_path(&checkout);
    let put = |path: &str, body| (Method::PUT, path.to_owned(), body);
    let post = |path: &str, body| (Method::POST, path.to_owned(), body);
    let patch = |path: &str, body| (Method::PATCH, path.to_owned(), body);
    let delete = |path: &str| (Method::DELETE, path.to_owned(), Value::Null);
    let new_flag = json!({ "key": "other", "name": "Other", "type": "boolean" });
    let elsewhere = json!({ "products": ["blog"], "force": true });
    let changes = [
        put(here, json!({ "isEnabled": true })),
        put(here, json!({ "ttlOverrideSeconds": 5 })),
        post(&format!("{here}/rules"), rule_with(1)),
        put(&format!("{here}/rollout"), rollout(5)),
        delete(&format!("{here}/rollout")),
        post(&format!("{here}/copy-from/{other}"), Value::Null),
        post("/flags", new_flag),
        patch(&flag, elsewhere),
        patch(&flag, json!({ "products": null })),
        delete(&flag),
        post(&format!("{flag}/restore"), Value::Null),
        patch(&place, json!({ "name": "live" })),
        patch(&place, json!({ "protected": true })),
        post(
            &format!("{place}/rotate-key?overlapSeconds=60"),
            Value::Null,
        ),
    ];
    let check = async |(method, path, body): (Method, String, Value)| {
        let what = format!("{method} {path} {body}");
        let before = admin.audited().await;
        let refused = send(&admin, method.clone(), &path, &body, None).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{what}");
        assert_eq!(refused.text("/code"), "REASON_REQUIRED", "{what}");
        assert!(refused.text("/detail").contains("shop/"), "{what}");
        assert_eq!(admin.audited().await, before, "{what}");
        let done = send(&admin, method, &path, &body, Some("INC-1")).await;
        assert!(done.status.is_success(), "{what}: {}", done.body());
        assert_ne!(admin.audited().await, before, "{what}");
        assert_eq!(reasons(&admin).await[0], "INC-1", "{what}");
    };
    for change in changes {
        check(change).await;
    }
    let rotated = admin.get("/environments?name=live&status=active").await;
    let place = format!("/environments/{}", rotated.text("/items/0/id"));
    check(delete(&format!("{place}/previous-key"))).await;
    check(post(&format!("{place}/revoke"), Value::Null)).await;
}

#[tokio::test]
async fn reading_and_changing_something_else_needs_no_reason() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = guarded(&admin).await;
    let (dev, _) = admin.environment("shop", "dev").await;
    // The flag itself is not served.
    let renamed = json!({ "name": "Express checkout" });
    let renamed = admin
        .patch(&format!("/flags/{}", checkout.flag), renamed)
        .await;
    renamed.expect(StatusCode::OK);
    admin.switch(&checkout.flag, &dev, true).await;
    let dry_run = format!("{}/copy-from/{dev}?dryRun=true", checkout.path);
    admin.post(&dry_run, json!({})).await.expect(StatusCode::OK);
    // A change without effect changes nothing.
    let off = json!({ "isEnabled": false });
    admin
        .put(&checkout.path, off)
        .await
        .expect(StatusCode::NO_CONTENT);
    let clone = format!("{}/clone", environment_path(&checkout));
    let cloned = admin.post(&clone, json!({ "name": "prod 2" })).await;
    assert_eq!(
        cloned.expect(StatusCode::CREATED).json()["reasonRequired"],
        true
    );
    assert_eq!(
        reasons(&admin)
            .await
            .iter()
            .filter(|each| !each.is_null())
            .count(),
        0
    );
}

#[tokio::test]
async fn an_environment_that_a_flag_has_left_or_that_is_revoked_requires_no_reason() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = guarded(&admin).await;
    let flag = format!("/flags/{}", checkout.flag);
    let blog = json!({ "product": "blog", "name": "live", "reasonRequired": true });
    let blog = admin.post("/environments", blog).await;
    let blog = blog.expect(StatusCode::CREATED).text("/id");
    let leave = json!({ "products": ["blog"], "reason": "moved" });
    let left = admin.patch(&flag, leave).await;
    left.expect(StatusCode::OK);
    let revoke = format!("/environments/{blog}/revoke");
    let revoked = admin.post(&revoke, json!({ "reason": "unused" })).await;
    revoked.expect(StatusCode::OK);
    let archived = admin.delete(&flag).await;
    archived.expect(StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn the_header_and_the_body_can_give_a_reason_anywhere_and_must_agree() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let on = json!({ "isEnabled": true });
    let off = json!({ "isEnabled": false });
    let (put, path) = (Method::PUT, &checkout.path);
    let reason = "Zahlungsfehler – siehe „INC-7“ 🔥";
    let encoded: Vec<String> = reason.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let encoded = encoded.concat();
    let done = send(&admin, put.clone(), path, &on, Some(&encoded)).await;
    done.expect(StatusCode::NO_CONTENT);
    assert_eq!(reasons(&admin).await[0], reason);
    let body = with(&off, "reason", json!(reason));
    let done = send(&admin, put.clone(), path, &body, None).await;
    done.expect(StatusCode::NO_CONTENT);
    assert_eq!(reasons(&admin).await[0], reason);
    let both = with(&on, "reason", json!(reason));
    let done = send(&admin, put.clone(), path, &both, Some(&encoded)).await;
    done.expect(StatusCode::NO_CONTENT);

    let differ = send(&admin, put.clone(), path, &both, Some("other")).await;
    let differ = differ.expect(StatusCode::BAD_REQUEST).json();
    assert_eq!(differ["errors"][0]["pointer"], "/reason");
    // Bodies of requests that need none.
    let archive = send(&admin, Method::PUT, path, &off, None).await;
    archive.expect(StatusCode::NO_CONTENT);
    let flag = format!("/flags/{}", checkout.flag);
    admin.delete(&flag).await.expect(StatusCode::NO_CONTENT);
    let restored = admin
        .post(&format!("{flag}/restore"), json!({ "reason": "again" }))
        .await;
    restored.expect(StatusCode::OK);
    assert_eq!(reasons(&admin).await[0], "again");
    let user = json!({
        "email": "vic@example.com", "password": "a long password", "role": "viewer", "reason": "joins",
    });
    admin.post("/users", user).await.expect(StatusCode::CREATED);
    let log = admin.get("/audit?include=accounts&limit=1").await.json();
    assert_eq!(log["items"][0]["reason"], "joins");
}

#[tokio::test]
async fn the_header_and_the_body_of_a_deletion_can_give_a_reason() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (token, _) = admin.personal_token("one", "viewer").await;
    let (other, _) = admin.personal_token("two", "viewer").await;
    let user = admin.user("vic@example.com", "viewer").await;
    let flag = admin.flag("checkout").await;
    for path in [
        format!("/users/me/tokens/{token}"),
        format!("/users/{user}"),
        format!("/flags/{flag}"),
    ] {
        let request = admin.request(Method::DELETE, &path);
        let request = request.json(&json!({ "reason": "leaked" }));
        let deleted = admin.send(request).await;
        deleted.expect(StatusCode::NO_CONTENT);
        let log = admin.get("/audit?include=accounts&limit=1").await.json();
        assert_eq!(log["items"][0]["reason"], "leaked", "{path}");
    }
    let path = format!("/users/me/tokens/{other}");
    let request = admin.request(Method::DELETE, &path);
    let deleted = admin.send(request.header(HEADER, "leaked%2C%20too")).await;
    deleted.expect(StatusCode::NO_CONTENT);
    let log = admin.get("/audit?include=accounts&limit=1").await.json();
    assert_eq!(log["items"][0]["reason"], "leaked, too");

    let flag = admin.flag("search").await;
    let request = admin.request(Method::DELETE, &format!("/flags/{flag}"));
    let refused = admin.send(request.json(&json!({ "zz": 3 }))).await;
    refused.expect(StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn an_unusable_reason_is_refused_and_nothing_changes() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = guarded(&admin).await;
    let on = json!({ "isEnabled": true });
    let long = "x".repeat(501);
    for header in ["", "%20", "%ff", "%00", "50% more", "a%z1", "é", &long] {
        let refused = send(&admin, Method::PUT, &checkout.path, &on, Some(header)).await;
        let refused = refused.expect(StatusCode::BAD_REQUEST).json();
        assert_eq!(refused["code"], "INVALID_INPUT", "{header}");
        assert_eq!(
            refused["errors"][0]["parameter"], "X-Change-Reason",
            "{header}"
        );
    }
    for reason in [
        json!(""),
        json!(" \n"),
        json!("\u{0}"),
        json!(long),
        json!(7),
        json!(null),
    ] {
        let refused = admin
            .put(&checkout.path, with(&on, "reason", reason.clone()))
            .await;
        let refused = refused.expect(StatusCode::BAD_REQUEST).json();
        assert_eq!(refused["errors"][0]["pointer"], "/reason", "{reason}");
    }
    let twice = admin.request(Method::PUT, &checkout.path).json(&on);
    let twice = admin
        .send(twice.header(HEADER, "a").header(HEADER, "b"))
        .await;
    twice.expect(StatusCode::BAD_REQUEST);
    let configuration = admin.get(&checkout.path).await.json();
    assert_eq!(configuration["isEnabled"], false);
    let longest = with(&on, "reason", json!("ü".repeat(500)));
    let done = admin.put(&checkout.path, longest).await;
    done.expect(StatusCode::NO_CONTENT);

    // Those without the role learn nothing about the rest of their request, and reads take no reason.
    let viewer = app.user("vic@example.com", "viewer").await;
    let refused = send(&viewer, Method::PUT, &checkout.path, &on, Some("%ff")).await;
    refused.expect(StatusCode::FORBIDDEN);
    let read = send(
        &viewer,
        Method::GET,
        &checkout.path,
        &Value::Null,
        Some("%ff"),
    )
    .await;
    read.expect(StatusCode::OK);
}

#[tokio::test]
async fn imports_and_reverts_take_one_reason_for_all_their_changes() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let document = app.command(&["export"]).await.expect_success();
    admin.switch_off(&checkout).await;
    let guard = json!({ "reasonRequired": true });
    admin
        .patch(&environment_path(&checkout), guard)
        .await
        .expect(StatusCode::OK);

    let refused = app.command_with_input(&["import", "-"], &document).await;
    assert!(
        refused.stderr.contains("give it with `--reason`"),
        "{}",
        refused.stderr
    );
    let dry = app
        .command_with_input(&["import", "-", "--dry-run"], &document)
        .await;
    let warning = "warning: changes in shop/prod require a reason; give it with `--reason`";
    assert!(dry.stderr.contains(warning), "{}", dry.stderr);
    dry.expect_success();
    let mut leaving: Value = serde_json::from_str(&document).expect("JSON");
    leaving["flags"][0]["products"] = json!(["blog"]);
    leaving["flags"][0]["environments"] = json!([]);
    let leaving = leaving.to_string();
    let dry = app
        .command_with_input(&["import", "-", "--dry-run"], &leaving)
        .await;
    assert!(dry.stderr.contains(warning), "{}", dry.stderr);
    dry.expect_success();
    let arguments = ["import", "-", "--reason", "nightly sync"];
    let done = app.command_with_input(&arguments, &document).await;
    done.expect_success();
    assert!(reasons(&admin).await.contains(&json!("nightly sync")));
    let on = admin.get(&checkout.path).await.json();
    assert_eq!(on["isEnabled"], true);

    let entry = admin.newest_entry().await;
    let revert = format!("/audit/{entry}/revert");
    let dry = admin
        .post(&format!("{revert}?dryRun=true"), json!({}))
        .await;
    dry.expect(StatusCode::OK);
    let refused = admin.post(&revert, json!({})).await;
    assert_eq!(refused.text("/code"), "REASON_REQUIRED");
    let done = admin.post(&revert, json!({ "reason": "wrong file" })).await;
    done.expect(StatusCode::OK);
    assert!(reasons(&admin).await.contains(&json!("wrong file")));
}

#[tokio::test]
async fn an_environment_can_be_created_guarded_and_unguarded_with_a_reason() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (plain, _) = admin.environment("shop", "production").await;
    let plain = admin.get(&format!("/environments/{plain}")).await.json();
    assert_eq!(
        [&plain["protected"], &plain["reasonRequired"]],
        [false, false]
    );
    let body = json!({
        "product": "shop", "name": "live", "protected": true, "reasonRequired": true,
    });
    let created = admin.post("/environments", body).await;
    let created = created.expect(StatusCode::CREATED);
    let path = format!("/environments/{}", created.text("/id"));
    let read = admin.get(&path).await.json();
    assert_eq!([&read["protected"], &read["reasonRequired"]], [true, true]);
    let rotated = json!({ "reason": "leaked" });
    let rotated = admin.post(&format!("{path}/rotate-key"), rotated).await;
    let rotated = rotated.expect(StatusCode::CREATED);
    let both = rotated.json();
    assert_eq!([&both["protected"], &both["reasonRequired"]], [true, true]);

    let path = format!("/environments/{}", rotated.text("/id"));
    let open = json!({ "protected": false, "reasonRequired": false });
    let refused = admin.patch(&path, open.clone()).await;
    assert_eq!(refused.text("/code"), "REASON_REQUIRED");
    let done = admin
        .patch(&path, with(&open, "reason", json!("too strict")))
        .await;
    assert_eq!(done.expect(StatusCode::OK).json()["reasonRequired"], false);
    let entry = admin.get("/audit?limit=1").await.items()[0].clone();
    assert_eq!(entry["action"], "ENVIRONMENT_UPDATED");
    assert_eq!(entry["oldValue"]["reasonRequired"], true);
    assert_eq!(entry["newValue"]["reasonRequired"], false);
    let revert = format!("/audit/{}/revert", entry["id"].as_str().unwrap_or_default());
    admin.post(&revert, json!({})).await.expect(StatusCode::OK);
    let read = admin.get(&path).await.json();
    assert_eq!([&read["protected"], &read["reasonRequired"]], [true, true]);
}

#[tokio::test]
async fn scripts_are_never_asked_and_the_dashboard_asks_before_every_change() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let protect = json!({ "protected": true });
    let protected = admin.patch(&environment_path(&checkout), protect).await;
    assert_eq!(protected.expect(StatusCode::OK).json()["protected"], true);
    admin.switch_on(&checkout).await;

    let browser = Browser::signed_in(&app).await;
    let page = format!(
        "/dashboard/flags/checkout?environment={}",
        checkout.environment
    );
    let revision = admin.get(&checkout.path).await;
    let revision = revision.header("etag").trim_matches('"').to_owned();
    let form = format!(
        "do=switch&flag={}&environment={}",
        checkout.flag, checkout.environment
    );
    let off = format!("{form}&revision={revision}&enabled=false");
    let asked = browser.post(&page, &off).await.expect(StatusCode::OK);
    let question = asked.body();
    assert!(
        question.contains("Turn off checkout in prod?"),
        "{question}"
    );
    assert!(
        question.contains(r#"name="confirmed" value="yes""#),
        "{question}"
    );
    let on = admin.get(&checkout.path).await.json();
    assert_eq!(on["isEnabled"], true);
    let confirmed = browser
        .post(&page, &format!("{off}&confirmed=yes&reason=INC-9"))
        .await;
    confirmed.expect(StatusCode::SEE_OTHER);
    assert_eq!(reasons(&admin).await[0], "INC-9");
    let off = admin.get(&checkout.path).await.json();
    assert_eq!(off["isEnabled"], false);
    assert!(!question.contains(" required"), "{question}");

    let guard = json!({ "reasonRequired": true });
    let guarded = admin.patch(&environment_path(&checkout), guard).await;
    guarded.expect(StatusCode::OK);
    let revision = admin.get(&checkout.path).await;
    let revision = revision.header("etag").trim_matches('"').to_owned();
    let form = format!("{form}&enabled=true&revision={revision}");
    let asked = browser.post(&page, &form).await;
    let question = asked.expect(StatusCode::OK).body();
    assert!(question.contains(" required"), "{question}");
}

#[tokio::test]
async fn the_dashboard_does_not_ask_before_changes_of_flags_that_are_off() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let body = json!({ "product": "shop", "name": "live", "protected": true });
    let created = admin.post("/environments", body).await;
    created.expect(StatusCode::CREATED);
    let browser = Browser::signed_in(&app).await;
    let form = "key=search&name=Search&description=&type=boolean";
    let created = browser.post("/dashboard/new-flag", form).await;
    created.expect(StatusCode::SEE_OTHER);
    let flag = admin.get("/flags").await.text("/items/0/id");
    for (action, revision, is_archived) in [("archive", 1, true), ("restore", 2, false)] {
        let form = format!("do={action}&flag={flag}&revision={revision}");
        let done = browser.post("/dashboard/flags/search", &form).await;
        done.expect(StatusCode::SEE_OTHER);
        let read = admin.get(&format!("/flags/{flag}")).await.json();
        assert_eq!(read["archivedAt"].is_string(), is_archived, "{action}");
    }
}

#[tokio::test]
async fn a_reason_that_nobody_can_see_is_refused() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = guarded(&admin).await;
    for reason in [" ", "\u{200b}", "\u{2060}\u{ad}", "a\u{1b}[31m", "\0"] {
        let body = json!({ "isEnabled": true, "reason": reason });
        let refused = admin.put(&checkout.path, body).await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(refused.faults(), ["/reason"], "{reason:?}");
    }
    let lines = json!({ "isEnabled": true, "reason": "Payment errors:\r\n\tINC-481 \u{1f469}\u{200d}\u{1f4bb}" });
    admin
        .put(&checkout.path, lines)
        .await
        .expect(StatusCode::NO_CONTENT);
    // An entry may be older than these rules.
    app.tamper("update audit_entries set reason = ' ' where reason is not null")
        .await;
    assert_eq!(reasons(&admin).await.first(), Some(&json!(" ")));
}
