//! The export of the audit log through the API.

use pennon_tests::{Browser, Caller, TestApp};
use reqwest::{Method, StatusCode};
use serde_json::Value;

/// Returns the exported entries.
async fn exported(caller: &Caller<'_>, query: &str) -> Vec<Value> {
    let answer = caller.get(&format!("/audit/export{query}")).await;
    let answer = answer.expect(StatusCode::OK);
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    assert_eq!(answer.header("cache-control"), "no-store");
    let text = String::from_utf8(answer.bytes).expect("text");
    assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    let entry = |line| serde_json::from_str(line).expect("a line is an entry");
    text.lines().map(entry).collect()
}

#[tokio::test]
async fn an_export_has_every_selected_entry_on_a_line() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let flag = admin.flag("checkout").await;
    for number in 0..201 {
        admin.switch(&flag, &environment, number % 2 == 0).await;
        app.advance(1);
    }
    let viewer = app.user("vic@example.com", "viewer").await;
    let all = exported(&viewer, "").await;
    assert_eq!(all.len(), 203);
    let listed = viewer.get("/audit?limit=100").await.items();
    assert_eq!(all.get(..100), Some(listed.as_slice()));
    let ids = all.iter().map(|entry| entry["id"].to_string());
    let ids: std::collections::BTreeSet<String> = ids.collect();
    assert_eq!(ids.len(), 203);

    assert_eq!(exported(&viewer, "?environment=prod").await.len(), 202);
    assert_eq!(exported(&viewer, "?flagKey=checkout").await.len(), 202);
    assert_eq!(
        exported(&viewer, "?from=2026-03-01T09:33:20Z").await.len(),
        1
    );
    assert!(exported(&viewer, "?product=blog").await.is_empty());
    app.advance(1);
    let admin = app.admin().await;
    assert!(exported(&admin, "?include=accounts").await.len() > 203);
}

#[tokio::test]
async fn the_dashboard_exports_every_entry_about_a_product_and_its_flags_once() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    admin.environment("blog", "prod").await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let flag = admin.flag("checkout").await;
    admin.switch(&flag, &environment, true).await;
    let browser = Browser::signed_in(&app).await;
    let file = browser.get("/dashboard/audit/export?product=shop").await;
    let entries = file.expect(StatusCode::OK).json();
    let entries = entries.as_array().expect("entries").iter();
    let actions: Vec<_> = entries.map(|entry| &entry["action"]).collect();
    assert_eq!(
        actions,
        [
            "FLAG_ENVIRONMENT_UPDATED",
            "FLAG_CREATED",
            "ENVIRONMENT_CREATED"
        ]
    );
}

#[tokio::test]
async fn an_export_refuses_what_the_list_refuses() {
    let app = TestApp::start().await;
    let viewer = app.user("vic@example.com", "viewer").await;
    let refused = viewer.get("/audit/export?from=yesterday&page=1").await;
    refused.expect_faults(&["from", "page"]);
    let refused = viewer.get("/audit/export?include=accounts").await;
    refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
}

#[tokio::test]
async fn an_export_ends_with_the_account() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    // More than fits into the buffers of both sides.
    app.tamper(if app.database().is_postgres() {
        "insert into audit_entries (id, action, actor_identity, occurred_at, new_value)
         select gen_random_uuid(), 'FLAG_UPDATED', 'import', 1772357400000, to_jsonb(repeat('x', 20000))
         from generate_series(1, 1000)"
    } else {
        "with recursive series (i) as (select 1 union all select i + 1 from series where i < 1000)
         insert into audit_entries (id, action, actor_identity, occurred_at, new_value)
         select randomblob(16), 'FLAG_UPDATED', 'import', 1772357400000, '\"' || hex(zeroblob(10000)) || '\"' from series"
    })
    .await;
    let vic = app.user("vic@example.com", "viewer").await;
    let mut export = vic
        .request(Method::GET, "/audit/export")
        .send()
        .await
        .expect("the export begins");
    assert!(export.chunk().await.expect("a part").is_some());
    let users = admin.get("/users?email=vic@example.com").await;
    let path = format!("/users/{}", users.text("/items/0/id"));
    admin.delete(&path).await.expect(StatusCode::NO_CONTENT);
    let mut end = export.chunk().await;
    while let Ok(Some(_)) = end {
        end = export.chunk().await;
    }
    assert!(end.is_err(), "the export is complete");
}
