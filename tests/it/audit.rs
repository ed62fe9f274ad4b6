//! The audit log: recorded entries, filters, and groups.

use pennon_tests::{Caller, EMAIL, FlagEnvironment, START, TestApp, equals, rollout, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

#[tokio::test]
async fn an_entry_has_its_actor_action_time_and_object() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        flag, environment, ..
    } = admin.flag_environment().await;
    admin.switch(&flag, &environment, true).await;
    let mut entry = admin
        .get("/audit?limit=1")
        .await
        .expect(StatusCode::OK)
        .json()["items"][0]
        .take();
    assert_eq!(entry["groupId"], entry["id"]);
    entry["id"] = json!("an id");
    entry["groupId"] = json!("an id");
    let configuration = |enabled: bool| json!({ "flagId": flag, "environmentId": environment, "isEnabled": enabled, "ttlOverrideSeconds": null });
    assert_eq!(
        entry,
        json!({
            "id": "an id", "groupId": "an id", "action": "FLAG_ENVIRONMENT_UPDATED", "actorIdentity": EMAIL, "occurredAt": START,
            "flagKey": "checkout", "environment": "prod", "product": "shop",
            "oldValue": configuration(false), "newValue": configuration(true),
        })
    );
}

#[tokio::test]
async fn an_entry_has_the_rule_or_rollout_before_and_after() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment { path, .. } = admin.flag_environment().await;
    let newest = async || {
        let mut entries = admin.get("/audit?limit=1").await.json();
        let mut entry = entries["items"][0].take();
        (entry["oldValue"].take(), entry["newValue"].take())
    };
    let rule = |value: bool| {
        let condition = equals("vip", true);
        json!({ "priority": 1, "logic": "and", "value": value, "conditions": [condition] })
    };
    let created = admin.post(&format!("{path}/rules"), rule(true)).await;
    let created = created.expect(StatusCode::CREATED).json();
    assert_eq!(newest().await, (Value::Null, created.clone()));
    let rule_path = format!("/rules/{}", created["id"].as_str().expect("an ID"));
    let replaced = admin.put(&rule_path, rule(false)).await;
    let replaced = replaced.expect(StatusCode::OK).json();
    assert_eq!(newest().await, (created, replaced.clone()));
    let deleted = admin.delete(&rule_path).await;
    deleted.expect(StatusCode::NO_CONTENT);
    assert_eq!(newest().await, (replaced, Value::Null));
    let rollout_path = format!("{path}/rollout");
    let mut before = Value::Null;
    for percentage in [5, 6] {
        let after = admin.put(&rollout_path, rollout(percentage)).await.json();
        assert_eq!(newest().await, (before, after.clone()));
        before = after;
    }
    let deleted = admin.delete(&rollout_path).await;
    deleted.expect(StatusCode::NO_CONTENT);
    assert_eq!(newest().await, (before, Value::Null));
}

#[tokio::test]
async fn every_action_is_recorded_once() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        flag,
        environment,
        path,
        ..
    } = admin.flag_environment().await;
    admin.switch(&flag, &environment, true).await;
    let rule = rule(1, equals("vip", true));
    admin.rule(&path, rule.clone()).await;
    admin
        .post(&format!("{path}/rules"), rule)
        .await
        .expect(StatusCode::CONFLICT);
    admin.rollout(&path, 5).await;
    admin
        .delete(&format!("/flags/{flag}"))
        .await
        .expect(StatusCode::CONFLICT);
    admin.switch(&flag, &environment, false).await;
    admin.archive(&flag).await;
    assert_eq!(
        admin.audited().await,
        [
            "FLAG_ARCHIVED",
            "FLAG_ENVIRONMENT_UPDATED",
            "ROLLOUT_CONFIGURED",
            "RULE_CREATED",
            "FLAG_ENVIRONMENT_UPDATED",
            "FLAG_CREATED",
            "ENVIRONMENT_CREATED",
        ]
    );
}

#[tokio::test]
async fn entries_can_be_filtered_by_flag_environment_and_time() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (prod, _) = admin.environment("shop", "prod").await;
    let flag = admin.flag("checkout").await;
    app.advance(60);
    admin.switch(&flag, &prod, true).await;
    admin.flag("search").await;
    let count = async |query: &str| -> Value {
        admin
            .get(&format!("/audit?{query}"))
            .await
            .expect(StatusCode::OK)
            .json()["pagination"]["total"]
            .take()
    };
    assert_eq!(count("").await, 4);
    assert_eq!(count("flagKey=checkout").await, 2);
    assert_eq!(count("flagKey=CHECKOUT").await, 0);
    assert_eq!(count("flagKey=%00").await, 0);
    assert_eq!(count("environment=prod").await, 2);
    assert_eq!(count("environment=prod&flagKey=checkout").await, 1);
    assert_eq!(count("environment=prod&product=shop").await, 2);
    assert_eq!(count("environment=prod&product=blog").await, 0);
    assert_eq!(count("from=2026-03-01T09:31:00Z").await, 2);
    assert_eq!(count("from=2026-03-01T09:31:00.001Z").await, 0);
    assert_eq!(count("to=2026-03-01T10:30:00%2B01:00").await, 2);
    assert_eq!(count("to=2026-03-01T09:29:59.999Z").await, 0);
    let answer = admin
        .get("/audit?from=yesterday&to=2026-03-01&flag=x")
        .await;
    answer.expect_faults(&["from", "to", "flag"]);
}

#[tokio::test]
async fn entries_are_listed_in_pages_newest_first() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for key in ["one", "two", "three"] {
        admin.flag(key).await;
    }
    for (query, keys) in [
        ("limit=2", &["three", "two"][..]),
        ("limit=2&page=2", &["one"]),
        ("limit=2&page=3", &[]),
        ("limit=1&page=2&flagKey=two", &[]),
    ] {
        let entries = admin.get(&format!("/audit?{query}")).await.items();
        let listed: Vec<_> = entries.iter().map(|entry| &entry["flagKey"]).collect();
        assert_eq!(listed, keys, "{query}");
    }
}

#[tokio::test]
async fn entries_can_be_filtered_by_actor_and_action() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let editor = app.user("eve@example.com", "editor").await;
    let FlagEnvironment { environment, .. } = admin.flag_environment().await;
    let (_, token) = editor.personal_token("deploy", "editor").await;
    let by_token = app.with_token(&token);
    // The days of the first entries are over, and counted from then on.
    app.advance(3 * 24 * 60 * 60);
    let flag = app.signed_in("eve@example.com").await.flag("search").await;
    by_token.switch(&flag, &environment, true).await;
    let admin = app.admin().await;
    let found = async |query: &str| -> Value {
        let log = admin.get(&format!("/audit?{query}")).await;
        let log = log.expect(StatusCode::OK).json();
        let items = log["items"].as_array().map_or(0, Vec::len);
        assert_eq!(log["pagination"]["total"], items, "{query}");
        json!(items)
    };
    assert_eq!(found("").await, 4);
    assert_eq!(found("actor=eve@example.com").await, 1);
    assert_eq!(found("actor=eve@example.com+(deploy)").await, 1);
    assert_eq!(found("actor=eve").await, 0);
    assert_eq!(found("actor=%00").await, 0);
    assert_eq!(found("action=FLAG_CREATED").await, 2);
    assert_eq!(found("action=FLAG_CREATED&actor=eve@example.com").await, 1);
    assert_eq!(
        found("action=FLAG_CREATED&to=2026-03-02T00:00:00Z").await,
        1
    );
    assert_eq!(found("action=TOKEN_CREATED").await, 0);
    assert_eq!(found("action=TOKEN_CREATED&include=accounts").await, 1);
    let exported = admin
        .get("/audit/export?action=FLAG_ENVIRONMENT_UPDATED")
        .await;
    let exported = exported.expect(StatusCode::OK).body();
    assert_eq!(exported.lines().count(), 1);
    let refused = admin.get("/audit?action=flag_created&actor=").await;
    refused.expect_faults(&["action"]);
}

#[tokio::test]
async fn the_total_counts_whole_and_partial_days() {
    let app = TestApp::start().await;
    for key in ["first", "second", "third", "fourth", "fifth"] {
        let admin = app.admin().await;
        // The first is created at 09:30, and each other one 18 hours after the one before.
        admin.flag(key).await;
        admin.personal_token(key, "viewer").await;
        app.advance(18 * 60 * 60);
    }
    let admin = app.admin().await;
    let totals = async |path: &str| -> [Value; 2] {
        let log = admin.get(path).await.expect(StatusCode::OK).json();
        let items = log["items"].as_array().map_or(0, Vec::len);
        [log["pagination"]["total"].clone(), json!(items)]
    };
    for (query, total) in [
        ("", 5),
        ("from=2026-03-01T00:00:00Z", 5),
        ("from=2026-03-01T09:30:00Z", 5),
        ("from=2026-03-01T09:30:00.001Z", 4),
        ("from=2026-03-02T00:00:00Z", 4),
        ("from=2026-03-02T21:30:00.001Z", 2),
        ("to=2026-03-04T09:30:00Z", 5),
        ("to=2026-03-04T09:29:59.999Z", 4),
        ("to=2026-03-02T23:59:59.999Z", 3),
        ("to=2026-03-03T00:00:00Z", 3),
        ("to=2026-03-01T09:29:59.999Z", 0),
        (
            "from=2026-03-01T09:30:00.001Z&to=2026-03-04T09:29:59.999Z",
            3,
        ),
        ("from=2026-03-02T00:00:00Z&to=2026-03-02T23:59:59.999Z", 2),
        ("from=2026-03-02T03:30:00.001Z&to=2026-03-02T21:30:00Z", 1),
        ("from=2026-03-03T00:00:00Z&to=2026-03-02T00:00:00Z", 0),
    ] {
        let listed = totals(&format!("/audit?{query}")).await;
        assert_eq!(listed, [total, total].map(Value::from), "{query}");
        let [total, items] = totals(&format!("/audit?{query}&include=accounts")).await;
        assert_eq!(total, items, "{query}, with accounts");
    }
    let accounts = "/audit?from=2026-03-02T00:00:00Z&to=2026-03-02T23:59:59.999Z&include=accounts";
    assert_eq!(totals(accounts).await, [4, 4].map(Value::from));
    app.advance(24 * 60 * 60);
    let admin = app.admin().await;
    admin.flag("sixth").await;
    assert_eq!(total(&admin).await, 6, "another day is over");
    app.tamper("delete from audit_entries where flag_key = 'first'")
        .await;
    assert_eq!(total(&admin).await, 5, "entries have been deleted");
}

async fn total(admin: &Caller<'_>) -> Value {
    let log = admin.get("/audit").await.expect(StatusCode::OK).json();
    log["pagination"]["total"].clone()
}

#[tokio::test]
async fn entries_of_one_action_share_a_group() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (staging, _) = admin.environment("shop", "staging").await;
    let (prod, _) = admin.environment("shop", "prod").await;
    let flag = admin.flag("checkout").await;
    admin.switch(&flag, &staging, true).await;
    let path = format!("/flags/{flag}/environments/{staging}");
    admin.rollout(&path, 10).await;
    let path = format!("/flags/{flag}/environments/{prod}/copy-from/{staging}");
    let copied = admin.send(admin.request(Method::POST, &path)).await;
    copied.expect(StatusCode::OK);
    let entries = admin.get("/audit").await.expect(StatusCode::OK).json();
    let group = |place: usize| entries["items"][place]["groupId"].clone();
    // The switch and the rollout of the copy, then the original rollout.
    assert_eq!(group(0), group(1));
    assert_eq!(group(1), entries["items"][1]["id"]);
    assert_ne!(group(1), group(2));
    assert_eq!(group(2), entries["items"][2]["id"]);
}

#[tokio::test]
async fn a_browser_is_redirected_to_the_audit_page() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    for query in ["", "?flagKey=checkout&from=2026-03-01T00:00:00Z"] {
        let request = anonymous
            .request(reqwest::Method::GET, &format!("/audit{query}"))
            .header("accept", "text/html,*/*;q=0.8");
        let answer = anonymous.send(request).await.expect(StatusCode::SEE_OTHER);
        assert_eq!(
            answer.header("location"),
            format!("/dashboard/audit{query}")
        );
    }
    anonymous
        .get("/audit")
        .await
        .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    let admin = app.admin().await;
    let request = admin.request(reqwest::Method::GET, "/audit");
    let page = admin.send(request.header("accept", "text/html,*/*")).await;
    assert_eq!(page.expect(StatusCode::OK).json()["items"], json!([]));
}

#[tokio::test]
async fn sqlite_reads_the_index_of_the_most_selective_filter() {
    let app = TestApp::start().await;
    if !app.is_on_file() {
        return;
    }
    let file = SqliteConnection::connect(app.database().url()).await;
    let mut file = file.expect("the file opens");
    let mut conditions = "occurred_at >= 0 and not about_accounts".to_owned();
    for (condition, index) in [
        ("environment = 'prod'", "audit_of_environment"),
        ("action = 'FLAG_CREATED'", "audit_of_action"),
        ("product = 'shop'", "audit_of_product"),
        ("actor_identity = 'ana@example.com'", "audit_of_actor"),
        ("flag_key = 'checkout'", "audit_of_flag"),
    ] {
        conditions = format!("{conditions} and {condition}");
        let explain =
            format!("explain query plan select count(*) from audit_entries where {conditions}");
        let plan: (i64, i64, i64, String) = sqlx::query_as(AssertSqlSafe(explain))
            .fetch_one(&mut file)
            .await
            .expect("a plan");
        assert!(plan.3.contains(index), "{condition}: {}", plan.3);
    }
}
