//! Changes of several flags at once.

use pennon_tests::{Answer, Caller, TestApp, UNKNOWN_ID};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// A shop with two environments and three flags, of which the second is limited to another product.
struct Shop {
    staging: String,
    production: String,
    flags: [String; 3],
}

impl Shop {
    async fn with(admin: &Caller<'_>) -> Self {
        let staging = admin.environment("Shop", "staging").await.0;
        let production = admin.environment("Shop", "production").await.0;
        admin.environment("Blog", "production").await;
        Self {
            staging,
            production,
            flags: [
                create(admin, json!({ "key": "a", "tags": ["old", "web"] })).await,
                create(admin, json!({ "key": "b", "products": ["Blog"] })).await,
                create(admin, json!({ "key": "c" })).await,
            ],
        }
    }

    /// Returns the flags that exist in the environments of the shop.
    fn of_shop(&self) -> [&String; 2] {
        [&self.flags[0], &self.flags[2]]
    }
}

/// Creates a flag with these members, and returns its ID.
async fn create(admin: &Caller<'_>, mut flag: Value) -> String {
    flag["name"] = flag["key"].clone();
    flag["type"] = json!("boolean");
    let created = admin.post("/flags", flag).await;
    created.expect(StatusCode::CREATED).text("/id")
}

async fn bulk(caller: &Caller<'_>, flags: &[&String], action: Value) -> Answer {
    bulk_with(caller, "", flags, action).await
}

async fn bulk_with(caller: &Caller<'_>, query: &str, flags: &[&String], action: Value) -> Answer {
    let mut body = action;
    body["flagIds"] = json!(flags);
    caller.post(&format!("/flags/bulk{query}"), body).await
}

async fn tags(caller: &Caller<'_>, flag: &str) -> Value {
    caller.get(&format!("/flags/{flag}")).await.json()["tags"].clone()
}

async fn is_enabled(caller: &Caller<'_>, flag: &str, environment: &str) -> bool {
    let path = format!("/flags/{flag}/environments/{environment}");
    caller.get(&path).await.json()["isEnabled"] == true
}

/// Returns the newest entries of the audit log, oldest first.
async fn newest(admin: &Caller<'_>, count: usize) -> Vec<Value> {
    let mut entries = admin.get(&format!("/audit?limit={count}")).await.items();
    entries.reverse();
    entries
}

fn members(entries: &[Value], name: &str) -> Vec<Value> {
    entries.iter().map(|entry| entry[name].clone()).collect()
}

#[tokio::test]
async fn tags_are_added_and_removed_and_the_action_is_reverted_as_a_whole() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let shop = Shop::with(&admin).await;
    let [a, b, c] = &shop.flags;
    let change = json!({ "action": "tag", "addTags": ["q3", "web"], "removeTags": ["old"] });
    let answer = bulk(&admin, &[a, b, c], change.clone()).await;
    let answer = answer.expect(StatusCode::OK).json();
    assert_eq!(answer["dryRun"], false);
    assert_eq!(answer.get("fingerprint"), None);
    let changes = answer["changes"].as_array().cloned().unwrap_or_default();
    assert_eq!(members(&changes, "flagKey"), ["a", "b", "c"]);
    assert_eq!(changes[0]["action"], "FLAG_UPDATED");
    assert_eq!(changes[0]["oldValue"]["tags"], json!(["old", "web"]));
    assert_eq!(changes[0]["newValue"]["tags"], json!(["q3", "web"]));
    for flag in [a, b, c] {
        assert_eq!(tags(&admin, flag).await, json!(["q3", "web"]));
    }
    let entries = newest(&admin, 3).await;
    assert_eq!(members(&entries, "action"), vec!["FLAG_UPDATED"; 3]);
    assert_eq!(members(&entries, "flagKey"), ["a", "b", "c"]);
    assert_eq!(
        members(&entries, "groupId"),
        vec![answer["groupId"].clone(); 3]
    );

    let again = bulk(&admin, &[a, b, c], change)
        .await
        .expect(StatusCode::OK);
    assert_eq!(again.json()["changes"], json!([]), "nothing is left to do");
    assert_eq!(again.json()["groupId"], Value::Null);
    assert_eq!(newest(&admin, 1).await[0]["id"], entries[2]["id"]);

    let entry = entries[1]["id"].as_str().unwrap_or_default();
    let reverted = admin
        .post(&format!("/audit/{entry}/revert"), json!({}))
        .await;
    reverted.expect(StatusCode::OK);
    assert_eq!(tags(&admin, a).await, json!(["old", "web"]));
    assert_eq!(tags(&admin, b).await, Value::Null);
}

#[tokio::test]
async fn flags_are_enabled_disabled_and_archived_together() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let shop = Shop::with(&admin).await;
    let [a, c] = shop.of_shop();
    admin.switch(a, &shop.staging, true).await;
    let enable = json!({ "action": "enable", "environmentId": shop.staging });
    let answer = bulk(&admin, &[a, c], enable).await.expect(StatusCode::OK);
    let changes = answer.json()["changes"].clone();
    assert_eq!(changes.as_array().map(Vec::len), Some(1), "one is on");
    assert_eq!(changes[0]["flagKey"], "c");
    assert_eq!(changes[0]["environment"], "staging");
    assert_eq!(changes[0]["product"], "Shop");
    for flag in [a, c] {
        assert!(is_enabled(&admin, flag, &shop.staging).await);
        assert!(!is_enabled(&admin, flag, &shop.production).await);
    }

    let archive = json!({ "action": "archive" });
    let refused = bulk(&admin, &[a, &shop.flags[1], c], archive.clone()).await;
    let refused = refused.expect_problem(StatusCode::CONFLICT, "FLAG_ENABLED");
    assert_eq!(refused.faults(), ["/flagIds/0", "/flagIds/2"]);
    assert_eq!(
        refused.text("/errors/1/detail"),
        "`c`: the flag is still enabled in Shop/staging; disable it there first"
    );

    let disable = json!({ "action": "disable", "environmentId": shop.staging });
    bulk(&admin, &[a, c], disable).await.expect(StatusCode::OK);
    let archived = bulk(&admin, &[a, &shop.flags[1], c], archive.clone()).await;
    let changes = archived.expect(StatusCode::OK).json()["changes"].clone();
    let changes = changes.as_array().cloned().unwrap_or_default();
    let entries = newest(&admin, 3).await;
    assert_eq!(members(&entries, "action"), vec!["FLAG_ARCHIVED"; 3]);
    assert_ne!(entries[0]["newValue"]["archivedAt"], Value::Null);
    for member in ["action", "flagKey", "oldValue", "newValue"] {
        assert_eq!(members(&changes, member), members(&entries, member));
    }
    let refused = bulk(&admin, &[a], archive).await;
    let refused = refused.expect_problem(StatusCode::CONFLICT, "FLAG_ARCHIVED");
    assert_eq!(
        refused.text("/detail"),
        "nothing was changed: `a`: the flag is archived; restore it to change it"
    );
}

#[tokio::test]
async fn clients_see_the_change_as_soon_as_it_is_made() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, key) = admin.environment("Shop", "staging").await;
    let flags = [
        create(&admin, json!({ "key": "a" })).await,
        create(&admin, json!({ "key": "b" })).await,
    ];
    let client = app.sdk(&key);
    let evaluate = json!({ "evaluations": [{ "flagKey": "a" }, { "flagKey": "b" }] });
    let results = |answer: Answer| {
        let results = answer.expect(StatusCode::OK).json();
        members(results.as_array().map_or(&[], Vec::as_slice), "enabled")
    };
    let before = client
        .post("/sdk/v1/evaluate/batch", evaluate.clone())
        .await;
    assert_eq!(results(before), [false, false]);
    let enable = json!({ "action": "enable", "environmentId": environment });
    let changed = bulk(&admin, &[&flags[0], &flags[1]], enable).await;
    changed.expect(StatusCode::OK);
    let after = client.post("/sdk/v1/evaluate/batch", evaluate).await;
    assert_eq!(results(after), [true, true]);
}

#[tokio::test]
async fn if_one_flag_cannot_change_none_does_and_each_obstacle_is_named() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let shop = Shop::with(&admin).await;
    let [a, b, c] = &shop.flags;
    let unknown = UNKNOWN_ID.to_owned();
    admin.archive(c).await;
    let last = newest(&admin, 1).await;
    for (action, code, faults, detail) in [
        (
            json!({ "action": "tag", "addTags": ["x"] }),
            "FLAG_NOT_FOUND",
            vec!["/flagIds/2", "/flagIds/3"],
            "nothing was changed: `c`: the flag is archived; restore it to change it; the flag does not exist",
        ),
        (
            json!({ "action": "enable", "environmentId": shop.staging }),
            "CONFIGURATION_NOT_FOUND",
            vec!["/flagIds/1", "/flagIds/2", "/flagIds/3"],
            "nothing was changed: `b`: the flag in this environment does not exist; \
             `c`: the flag is archived; restore it to change it; the flag does not exist",
        ),
    ] {
        for query in ["", "?dryRun=true"] {
            let refused = bulk_with(&admin, query, &[a, b, c, &unknown], action.clone()).await;
            let refused = refused.expect_problem(StatusCode::NOT_FOUND, code);
            assert_eq!(refused.faults(), faults);
            assert_eq!(refused.text("/detail"), detail);
        }
    }
    assert_eq!(tags(&admin, a).await, json!(["old", "web"]));
    assert!(!is_enabled(&admin, a, &shop.staging).await);
    assert_eq!(newest(&admin, 1).await, last, "nothing is recorded");
}

#[tokio::test]
async fn a_dry_run_changes_nothing_and_its_fingerprint_prevents_surprises() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let shop = Shop::with(&admin).await;
    let [a, c] = shop.of_shop();
    let enable = json!({ "action": "enable", "environmentId": shop.production });
    let last = newest(&admin, 1).await;
    let planned = bulk_with(&admin, "?dryRun=true", &[a, c], enable.clone()).await;
    let planned = planned.expect(StatusCode::OK).json();
    assert_eq!(planned["dryRun"], true);
    assert_eq!(planned["groupId"], Value::Null);
    assert_eq!(planned["changes"].as_array().map(Vec::len), Some(2));
    assert!(!is_enabled(&admin, a, &shop.production).await);
    assert_eq!(newest(&admin, 1).await, last);

    let fingerprint = planned["fingerprint"].as_str().unwrap_or_default();
    let query = format!("?fingerprint={fingerprint}");
    let path = format!("/flags/{c}/environments/{}", shop.production);
    admin.rollout(&path, 5).await;
    let stale = bulk_with(&admin, &query, &[a, c], enable.clone()).await;
    stale.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
    assert!(!is_enabled(&admin, a, &shop.production).await);
    let fresh = bulk_with(&admin, "?dryRun=true", &[a, c], enable.clone()).await;
    let query = format!("?fingerprint={}", fresh.text("/fingerprint"));
    let changed = bulk_with(&admin, &query, &[a, c], enable).await;
    changed.expect(StatusCode::OK);
    assert!(is_enabled(&admin, c, &shop.production).await);
}

#[tokio::test]
async fn the_role_is_required_for_each_flag_or_for_the_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let shop = Shop::with(&admin).await;
    let [_, b, c] = &shop.flags;
    let both = create(&admin, json!({ "key": "d", "products": ["Blog", "Shop"] })).await;
    let user = app.user("eve@example.com", "viewer").await;
    let id = user.get("/users/me").await.text("/id");
    let grants = json!({ "grants": [
        { "product": "Blog", "role": "editor" },
        { "environmentId": shop.staging, "role": "editor" },
    ] });
    let granted = admin.patch(&format!("/users/{id}"), grants).await;
    granted.expect(StatusCode::OK);

    let tag = json!({ "action": "tag", "addTags": ["x"] });
    bulk(&user, &[b], tag.clone()).await.expect(StatusCode::OK);
    let refused = bulk(&user, &[b, &both, c], tag).await;
    let refused = refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    assert_eq!(refused.faults(), ["/flagIds/1", "/flagIds/2"]);
    let enable = |environment| json!({ "action": "enable", "environmentId": environment });
    bulk(&user, &[&both, c], enable(&shop.staging))
        .await
        .expect(StatusCode::OK);
    let archive = json!({ "action": "archive" });
    for query in ["", "?dryRun=true"] {
        for action in [&archive, &enable(&shop.production)] {
            let refused = bulk_with(&user, query, &[c], action.clone()).await;
            refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
        }
    }
    let unknown = UNKNOWN_ID.to_owned();
    let missing = bulk(&user, &[c], enable(&unknown)).await;
    missing.expect_problem(StatusCode::NOT_FOUND, "ENVIRONMENT_NOT_FOUND");
    admin.revoke(&shop.production).await;
    for query in ["", "?dryRun=true"] {
        let revoked = bulk_with(&admin, query, &[c], enable(&shop.production)).await;
        revoked.expect_problem(StatusCode::CONFLICT, "ENVIRONMENT_REVOKED");
    }
}

#[tokio::test]
async fn one_reason_is_enough_for_all_flags() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let shop = Shop::with(&admin).await;
    let flags = shop.of_shop();
    let guard = json!({ "reasonRequired": true });
    let guarded = admin
        .patch(&format!("/environments/{}", shop.staging), guard)
        .await;
    guarded.expect(StatusCode::OK);
    let mut enable = json!({ "action": "enable", "environmentId": shop.staging });
    let refused = bulk(&admin, &flags, enable.clone()).await;
    let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "REASON_REQUIRED");
    assert_eq!(refused.text("/detail").matches("Shop/staging").count(), 1);
    enable["reason"] = json!("Launch");
    bulk(&admin, &flags, enable).await.expect(StatusCode::OK);
    let entries = newest(&admin, 2).await;
    assert_eq!(members(&entries, "reason"), ["Launch", "Launch"]);
    // Tags change nothing in an environment.
    let tag = json!({ "action": "tag", "addTags": ["x"] });
    bulk(&admin, &flags, tag).await.expect(StatusCode::OK);
}

#[tokio::test]
async fn faults_of_the_request_are_reported_together() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let flag = create(&admin, json!({ "key": "a", "tags": numbered(15) })).await;
    let environment = admin.environment("Shop", "staging").await.0;
    let many: Vec<String> = (0..101)
        .map(|index| format!("{UNKNOWN_ID}{index}"))
        .collect();
    for (body, faults) in [
        (json!({}), vec!["/flagIds", "/action"]),
        (
            json!({ "flagIds": [], "action": "delete" }),
            vec!["/flagIds", "/action"],
        ),
        (
            json!({ "flagIds": many, "action": "archive" }),
            vec!["/flagIds"],
        ),
        (
            json!({ "flagIds": [flag, flag], "action": "archive" }),
            vec!["/flagIds"],
        ),
        (
            json!({ "flagIds": ["a", 7], "action": "archive" }),
            vec!["/flagIds/0", "/flagIds/1"],
        ),
        (
            json!({ "flagIds": [flag], "action": "tag" }),
            vec!["/addTags"],
        ),
        (
            json!({ "flagIds": [flag], "action": "tag", "addTags": ["x"], "removeTags": ["x"] }),
            vec!["/removeTags"],
        ),
        (
            json!({ "flagIds": [flag], "action": "tag", "addTags": ["a,b"], "environmentId": environment }),
            vec!["/addTags/0", "/environmentId"],
        ),
        (
            json!({ "flagIds": [flag], "action": "enable" }),
            vec!["/environmentId"],
        ),
        (
            json!({ "flagIds": [flag], "action": "archive", "environmentId": environment }),
            vec!["/environmentId"],
        ),
        (
            json!({ "flagIds": [flag], "action": "tag", "addTags": others(6) }),
            vec!["/flagIds/0"],
        ),
    ] {
        let refused = admin.post("/flags/bulk", body.clone()).await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(refused.faults(), faults, "{body}");
    }
    assert_eq!(tags(&admin, &flag).await, json!(numbered(15)));
    let full = json!({ "flagIds": [flag], "action": "tag", "addTags": others(5) });
    admin.post("/flags/bulk", full).await.expect(StatusCode::OK);
}

/// Returns so many tags, sorted.
fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("tag {index:02}")).collect()
}

/// Returns so many other tags.
fn others(count: usize) -> Vec<String> {
    (0..count)
        .map(|index| format!("other {index:02}"))
        .collect()
}
