//! The metadata of flags: tags, owner, kind and expiry.

use pennon_tests::{Browser, Caller, TestApp};
use reqwest::StatusCode;
use serde_json::{Value, json};

const DAY: i64 = 24 * 60 * 60;

/// Creates a flag with metadata, and returns its ID.
async fn create(admin: &Caller<'_>, key: &str, metadata: Value) -> String {
    let mut new = json!({ "key": key, "name": key, "type": "boolean" });
    if let (Value::Object(new), Value::Object(metadata)) = (&mut new, metadata) {
        new.extend(metadata);
    }
    let created = admin.post("/flags", new).await;
    created.expect(StatusCode::CREATED).text("/id")
}

/// Returns the metadata of a flag: its members that others may lack.
async fn metadata(admin: &Caller<'_>, id: &str) -> Value {
    let flag = admin.get(&format!("/flags/{id}")).await;
    let flag = flag.expect(StatusCode::OK).json();
    metadata_of(&flag)
}

fn metadata_of(flag: &Value) -> Value {
    let members = ["tags", "owner", "kind", "expiresAt"].into_iter();
    let present = members.filter_map(|name| Some((name.to_owned(), flag.get(name)?.clone())));
    Value::Object(present.collect())
}

/// Returns the keys of the listed flags, by key.
async fn keys(admin: &Caller<'_>, query: &str) -> Vec<String> {
    let list = admin.get(&format!("/flags?sort=key&{query}")).await;
    let list = list.expect(StatusCode::OK).json();
    let items = list["items"].as_array().cloned().unwrap_or_default();
    assert_eq!(list["pagination"]["total"], items.len(), "{query}");
    let key = |flag: &Value| flag["key"].as_str().unwrap_or_default().to_owned();
    items.iter().map(key).collect()
}

fn full() -> Value {
    json!({
        "tags": ["checkout", "web"],
        "owner": "Team Payments",
        "kind": "kill_switch",
        "expiresAt": "2026-05-01T00:00:00.000Z",
    })
}

#[tokio::test]
async fn metadata_is_set_changed_and_removed() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let given = json!({
        "tags": ["web", " checkout ", "web"], "owner": "Team Payments", "kind": "kill_switch", "expiresAt": "2026-05-01",
    });
    let flag = create(&admin, "a", given).await;
    assert_eq!(metadata(&admin, &flag).await, full());
    let plain = create(&admin, "b", json!({ "owner": null, "kind": null })).await;
    assert_eq!(metadata(&admin, &plain).await, json!({}));

    let path = format!("/flags/{flag}");
    let change = json!({ "tags": ["ops"], "expiresAt": "2026-05-02T12:00:00+02:00" });
    let changed = admin.patch(&path, change).await.expect(StatusCode::OK);
    let expected = json!({
        "tags": ["ops"], "owner": "Team Payments", "kind": "kill_switch", "expiresAt": "2026-05-02T10:00:00.000Z",
    });
    assert_eq!(metadata_of(&changed.json()), expected);
    let entry = admin.get("/audit?limit=1").await.items()[0].clone();
    assert_eq!(entry["action"], "FLAG_UPDATED");
    assert_eq!(metadata_of(&entry["oldValue"]), full());
    assert_eq!(metadata_of(&entry["newValue"]), expected);

    let same = admin.patch(&path, json!({ "tags": ["ops", "ops"] })).await;
    same.expect(StatusCode::OK);
    let newest = admin.newest_entry().await;
    assert_eq!(newest, entry["id"], "nothing has changed");

    let cleared = json!({ "tags": [], "owner": null, "kind": null, "expiresAt": null });
    let cleared = admin.patch(&path, cleared).await.expect(StatusCode::OK);
    assert_eq!(metadata_of(&cleared.json()), json!({}));
    let null = admin.patch(&path, json!({ "tags": null })).await;
    assert_eq!(metadata_of(&null.expect(StatusCode::OK).json()), json!({}));
}

#[tokio::test]
async fn faults_in_metadata_are_reported_together() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let new = json!({
        "key": "a", "name": "a", "type": "boolean",
        "tags": ["", "a,b", "x".repeat(51), "\u{200b}", 7, "fine"],
        "owner": " ", "kind": "Release", "expiresAt": "tomorrow",
    });
    let refused = admin.post("/flags", new).await;
    let faults = [
        "/tags/0",
        "/tags/1",
        "/tags/2",
        "/tags/3",
        "/tags/4",
        "/owner",
        "/kind",
        "/expiresAt",
    ];
    refused.expect_faults(&faults);
    let flag = create(&admin, "b", json!({ "owner": "o".repeat(320) })).await;
    let many: Vec<String> = (0..21).map(|index| format!("tag {index}")).collect();
    for (patch, fault) in [
        (json!({ "tags": many }), "/tags"),
        (json!({ "tags": "web" }), "/tags"),
        (json!({ "owner": "o".repeat(321) }), "/owner"),
        (json!({ "expiresAt": "2026-02-30" }), "/expiresAt"),
    ] {
        let refused = admin.patch(&format!("/flags/{flag}"), patch).await;
        refused.expect_faults(&[fault]);
    }
}

#[tokio::test]
async fn flags_are_listed_by_tags_owner_and_kind() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    create(
        &admin,
        "both",
        json!({ "tags": ["a", "b"], "owner": "ana@example.com", "kind": "release" }),
    )
    .await;
    create(
        &admin,
        "one",
        json!({ "tags": ["b"], "owner": "Ana@Example.com", "kind": "experiment" }),
    )
    .await;
    create(&admin, "none", json!({})).await;
    for (query, expected) in [
        ("tag=a", vec!["both"]),
        ("tag=b", vec!["both", "one"]),
        ("tag=b,%20a", vec!["both"]),
        ("tag=A", vec![]),
        ("owner=ANA@example.com", vec!["both", "one"]),
        ("owner=ana", vec![]),
        ("kind=experiment", vec!["one"]),
        ("kind=release&tag=b&state=off", vec![]),
        ("kind=permission", vec![]),
        ("sort=key", vec!["both", "none", "one"]),
    ] {
        let query = query.strip_prefix("sort=key").unwrap_or(query);
        assert_eq!(keys(&admin, query).await, expected, "{query}");
    }
    let refused = admin.get("/flags?tag=,&kind=any").await;
    refused.expect_faults(&["tag", "kind"]);
}

#[tokio::test]
async fn an_expired_flag_is_stale_and_not_switched() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (production, _) = admin.environment("shop", "production").await;
    let flag = create(&admin, "expiring", json!({ "expiresAt": "2026-03-03" })).await;
    admin.switch(&flag, &production, true).await;
    create(&admin, "lasting", json!({ "expiresAt": "2026-06-01" })).await;
    assert!(keys(&admin, "stale=true").await.is_empty());
    app.advance(2 * DAY);
    let admin = app.admin().await;
    assert_eq!(keys(&admin, "stale=true").await, ["expiring"]);
    assert_eq!(keys(&admin, "stale=true&tag=x").await, [""; 0]);
    let listed = admin.get("/flags?include=usage&sort=key").await.json();
    assert_eq!(listed["items"][0]["usage"]["stale"], "expired");
    assert_eq!(listed["items"][1]["usage"]["stale"], Value::Null);
    let configuration = format!("/flags/{flag}/environments/{production}");
    assert_eq!(admin.get(&configuration).await.json()["isEnabled"], true);
    app.advance(31 * DAY);
    let admin = app.admin().await;
    let listed = admin.get("/flags?include=usage&sort=key").await.json();
    assert_eq!(listed["items"][0]["usage"]["stale"], "expired");
    assert_eq!(listed["items"][1]["usage"]["stale"], "constant");
}

#[tokio::test]
async fn a_revert_restores_metadata() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let flag = create(&admin, "a", full()).await;
    let path = format!("/flags/{flag}");
    let browser = Browser::signed_in(&app).await;
    let change = json!({ "tags": ["ops"], "owner": null, "kind": "release", "expiresAt": null });
    admin.patch(&path, change).await.expect(StatusCode::OK);
    let reverted = browser.revert_newest(&admin).await;
    reverted.expect(StatusCode::SEE_OTHER);
    assert_eq!(metadata(&admin, &flag).await, full());

    let plain = create(&admin, "b", json!({})).await;
    let path = format!("/flags/{plain}");
    admin.patch(&path, full()).await.expect(StatusCode::OK);
    let reverted = browser.revert_newest(&admin).await;
    reverted.expect(StatusCode::SEE_OTHER);
    assert_eq!(metadata(&admin, &plain).await, json!({}));
}

#[tokio::test]
async fn metadata_is_exported_and_imported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let flag = create(&admin, "a", full()).await;
    create(&admin, "b", json!({})).await;
    let text = app.command(&["export"]).await.expect_success();
    let document: Value = serde_json::from_str(&text).expect("an export is JSON");
    assert_eq!(metadata_of(&document["flags"][0]), full());
    assert_eq!(metadata_of(&document["flags"][1]), json!({}));

    let change = json!({ "tags": ["ops"], "owner": "Ops" });
    let path = format!("/flags/{flag}");
    admin.patch(&path, change).await.expect(StatusCode::OK);
    let arguments = ["import", "-", "--dry-run"];
    let planned = app.command_with_input(&arguments, &text).await;
    let planned = planned.expect_success();
    assert!(planned.contains(r#""tags":["ops"]"#), "{planned}");
    assert!(!planned.contains("kill_switch"), "{planned}");
    let imported = app.command_with_input(&["import", "-"], &text).await;
    imported.expect_success();
    assert_eq!(metadata(&admin, &flag).await, full());

    let other = TestApp::start().await;
    let imported = other.command_with_input(&["import", "-"], &text).await;
    imported.expect_success();
    let admin = other.admin().await;
    let listed = admin.get("/flags?sort=key").await.json();
    assert_eq!(metadata_of(&listed["items"][0]), full());
    assert_eq!(metadata_of(&listed["items"][1]), json!({}));
}

#[tokio::test]
async fn metadata_is_edited_and_filtered_in_the_dashboard() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    admin.environment("shop", "production").await;
    let browser = Browser::signed_in(&app).await;
    let fields =
        "tags=web%2C+checkout%2C&owner=Team+Payments&kind=kill_switch&expiresAt=2026-05-01";
    let new = format!("key=a&name=A&type=boolean&{fields}");
    let created = browser.post("/dashboard/new-flag", &new).await;
    created.expect(StatusCode::SEE_OTHER);
    create(&admin, "plain", json!({})).await;
    let listed = admin.get("/flags?key=a").await.json();
    assert_eq!(metadata_of(&listed["items"][0]), full());
    let page = async |path: &str| browser.page(path).await;
    let shown = page("/dashboard/flags/a").await;
    for text in [
        "Team Payments",
        "Kill switch",
        "/dashboard/flags?tag=checkout",
    ] {
        assert!(shown.contains(text), "{text}");
    }
    for query in ["tag=web", "owner=team+payments", "kind=kill_switch"] {
        let list = page(&format!("/dashboard/flags?{query}")).await;
        assert!(list.contains("/dashboard/flags/a\""), "{query}");
        assert!(!list.contains("/dashboard/flags/plain\""), "{query}");
    }
    let refused = browser
        .post("/dashboard/new-flag", "key=b&name=B&type=boolean&kind=huge")
        .await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
}
