//! The flag list of the dashboard: filters, order, charts, and stale flags.

use pennon_tests::{Browser, TestApp, equals, rule};
use reqwest::StatusCode;
use serde_json::{Value, json};

const DAY: i64 = 24 * 60 * 60;

/// Returns the keys in a list, in order.
async fn keys(app: &TestApp, query: &str) -> Vec<String> {
    let browser = Browser::signed_in(app).await;
    let page = browser.page(&format!("/dashboard/flags?{query}")).await;
    let keys = page.split("data-copy=\"").skip(1);
    keys.filter_map(|rest| rest.split('"').next().map(str::to_owned))
        .collect()
}

/// Returns the title of the chart that shows the only flag's last day.
async fn chart_title(app: &TestApp, query: &str) -> String {
    let browser = Browser::signed_in(app).await;
    let page = browser.page(&format!("/dashboard/flags{query}")).await;
    let title = page.split("<title>").nth(2).unwrap_or_default();
    title
        .split("</title>")
        .next()
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test]
async fn flags_can_be_filtered_by_status() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (staging, _) = admin.environment("shop", "staging").await;
    let (production, _) = admin.environment("shop", "production").await;
    for key in ["off", "on", "partly"] {
        let flag = admin.flag(key).await;
        if key != "off" {
            admin.switch(&flag, &staging, true).await;
        }
        if key == "partly" {
            let path = format!("/flags/{flag}/environments/{staging}");
            admin.rollout(&path, 25).await;
        }
    }
    assert_eq!(keys(&app, "").await, ["partly", "on", "off"]);
    let there = format!("environment={staging}");
    assert_eq!(keys(&app, &format!("{there}&is=on")).await, ["on"]);
    assert_eq!(keys(&app, &format!("{there}&is=off")).await, ["off"]);
    assert_eq!(keys(&app, &format!("{there}&is=partly")).await, ["partly"]);
    // Without an environment, the status in any environment counts.
    assert_eq!(keys(&app, "is=on").await, ["on"]);
    assert_eq!(keys(&app, "is=off").await, ["partly", "on", "off"]);
    let elsewhere = format!("environment={production}&is=on");
    assert!(keys(&app, &elsewhere).await.is_empty());
    // Invalid values in the address mean the defaults.
    let all = keys(&app, "environment=nowhere&is=maybe&sort=luck&page=-1").await;
    assert_eq!(all, ["partly", "on", "off"]);
}

#[tokio::test]
async fn every_page_of_a_filtered_list_shows_the_total() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (staging, _) = admin.environment("shop", "staging").await;
    let on = admin.flag("on").await;
    admin.switch(&on, &staging, true).await;
    for number in 0..60 {
        admin.flag(&format!("off_{number}")).await;
    }
    let browser = Browser::signed_in(&app).await;
    for (query, shown) in [
        ("is=off", "1 to 30 of 60"),
        ("is=off&page=2", "31 to 60 of 60"),
        ("is=off&page=3", "Page 3 is past the end of 60"),
        ("page=2", "31 to 60 of 61"),
        ("q=off_1&page=2", "Page 2 is past the end of 11"),
    ] {
        let page = browser.page(&format!("/dashboard/flags?{query}")).await;
        assert!(page.contains(shown), "{query}: {page}");
    }
}

#[tokio::test]
async fn flags_can_be_sorted_by_name_or_last_evaluation() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, key) = admin.environment("shop", "production").await;
    let (staging, staging_key) = admin.environment("shop", "staging").await;
    for key in ["b", "A", "never", "c"] {
        admin.flag(key).await;
    }
    let (there, sdk) = (app.sdk(&staging_key), app.sdk(&key));
    let evaluations = [
        ("b", &there),
        ("A", &there),
        ("A", &sdk),
        ("c", &sdk),
        ("b", &sdk),
    ];
    for (key, sdk) in evaluations {
        sdk.evaluate(key).await;
        app.flush_usage().await;
        app.advance(120);
    }
    assert_eq!(keys(&app, "").await, ["c", "never", "A", "b"]);
    assert_eq!(keys(&app, "sort=name").await, ["A", "b", "c", "never"]);
    assert_eq!(keys(&app, "sort=evaluated").await, ["b", "c", "A", "never"]);
    let there = format!("sort=evaluated&environment={staging}");
    assert_eq!(keys(&app, &there).await, ["A", "b", "c", "never"]);
}

#[tokio::test]
async fn the_chart_shows_the_last_day_of_one_or_all_environments() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (staging, staging_key) = admin.environment("shop", "staging").await;
    let (_, production_key) = admin.environment("shop", "production").await;
    admin.flag("checkout").await;
    assert_eq!(chart_title(&app, "").await, "", "nothing was evaluated");

    for (key, times) in [(&staging_key, 2), (&production_key, 3)] {
        for _ in 0..times {
            app.sdk(key).evaluate("checkout").await;
        }
        app.flush_usage().await;
        app.advance(3_600);
    }
    assert_eq!(
        chart_title(&app, "").await,
        "5 evaluations in the last 24 hours"
    );
    let there = chart_title(&app, &format!("?environment={staging}")).await;
    assert_eq!(there, "2 evaluations in the last 24 hours");
    app.advance(22 * 3_600);
    assert_eq!(
        chart_title(&app, "").await,
        "3 evaluations in the last 24 hours"
    );
    app.advance(3_600);
    assert_eq!(chart_title(&app, "").await, "");
}

#[tokio::test]
async fn the_hourly_sums_include_older_counts() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, staging) = admin.environment("shop", "staging").await;
    let (_, production) = admin.environment("shop", "production").await;
    admin.flag("checkout").await;
    for key in [&staging, &staging, &production] {
        app.sdk(key).evaluate("checkout").await;
    }
    app.flush_usage().await;
    app.tamper("drop table flag_hours").await;
    app.tamper("delete from _sqlx_migrations where version = 10")
        .await;

    let updated = app.beside().await;
    let day = chart_title(&updated, "").await;
    assert_eq!(day, "3 evaluations in the last 24 hours");
}

#[tokio::test]
async fn an_unchanged_flag_is_stale_if_it_is_unused_or_constant() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (staging, _) = admin.environment("shop", "staging").await;
    let (production, key) = admin.environment("shop", "production").await;
    let (former, _) = admin.environment("shop", "former").await;
    let sdk = app.sdk(&key);
    for key in [
        "unasked", "never", "always", "differs", "decided", "changed",
    ] {
        let flag = admin.flag(key).await;
        if key != "never" {
            admin.switch(&flag, &staging, true).await;
        }
        // A revoked environment does not count.
        let decided_in = match key {
            "always" => Some(&former),
            "decided" => Some(&production),
            _ => None,
        };
        if let Some(environment) = decided_in {
            admin.switch(&flag, &production, true).await;
            let path = format!("/flags/{flag}/environments/{environment}");
            admin.rollout(&path, 25).await;
        }
    }
    admin.revoke(&former).await;
    let permanent =
        json!({ "key": "permanent", "name": "P", "type": "boolean", "kind": "kill_switch" });
    admin
        .post("/flags", permanent)
        .await
        .expect(StatusCode::CREATED);
    assert!(keys(&app, "stale=yes").await.is_empty(), "all are new");

    app.advance(31 * DAY);
    let stale = keys(&app, "stale=yes").await;
    let constant = ["always", "never"];
    assert_eq!(stale, constant, "no application has evaluated a flag");
    for key in [
        "never",
        "always",
        "differs",
        "decided",
        "changed",
        "permanent",
    ] {
        sdk.evaluate(key).await;
    }
    app.flush_usage().await;
    let admin = app.admin().await;
    let found = admin.get("/flags?key=changed").await.json();
    let changed = found["items"][0]["id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    admin.switch(&changed, &staging, false).await;
    let stale = keys(&app, "stale=yes").await;
    assert_eq!(stale, ["always", "never", "unasked"]);

    let browser = Browser::signed_in(&app).await;
    let page = browser.page("/dashboard/flags").await;
    assert!(page.contains("not evaluated for 14 days\""));
    assert!(page.contains("the same for everyone in every environment\""));
    assert_eq!(page.matches(">Stale<").count(), 3);
}

#[tokio::test]
async fn every_change_updates_the_stored_states() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (staging, _) = admin.environment("shop", "staging").await;
    let (production, key) = admin.environment("shop", "production").await;
    let mut flags = Vec::new();
    for key in ["a", "b", "c"] {
        flags.push(admin.flag(key).await);
    }
    admin.environment("blog", "production").await;
    app.check_stored_states("the creation of flags and environments")
        .await;
    for flag in &flags {
        admin.switch(flag, &staging, true).await;
    }
    admin.switch(&flags[0], &production, true).await;
    app.check_stored_states("the switches").await;

    let path = format!("/flags/{}/environments/{production}", flags[0]);
    let vip = rule(1, equals("vip", true));
    let first = admin.rule(&path, vip.clone()).await;
    app.check_stored_states("the creation of a rule").await;
    let gone = admin.delete(&format!("/rules/{first}")).await;
    gone.expect(StatusCode::NO_CONTENT);
    app.check_stored_states("the deletion of the only rule")
        .await;
    admin.rollout(&path, 5).await;
    app.check_stored_states("the creation of a rollout").await;
    let rule = admin.rule(&path, vip).await;
    app.check_stored_states("the creation of a rule beside a rollout")
        .await;
    let copy = json!({ "name": "copy" });
    let copy = admin
        .post(&format!("/environments/{production}/clone"), copy)
        .await;
    let copy = copy.expect(StatusCode::CREATED).text("/id");
    app.check_stored_states("a clone").await;
    let gone = admin.delete(&format!("/rules/{rule}")).await;
    gone.expect(StatusCode::NO_CONTENT);
    app.check_stored_states("the deletion of the rule").await;
    let gone = admin.delete(&format!("{path}/rollout")).await;
    gone.expect(StatusCode::NO_CONTENT);
    app.check_stored_states("the deletion of the rollout").await;

    let (staging, _) = admin.rotate_key(&staging).await;
    app.check_stored_states("a rotation").await;
    admin.revoke(&copy).await;
    app.check_stored_states("a revocation").await;

    let products = |products: Value| json!({ "products": products, "force": true });
    let flag = format!("/flags/{}", flags[1]);
    for limits in [json!(["blog"]), json!(["shop"]), json!(null)] {
        let limited = admin.patch(&flag, products(limits)).await;
        limited.expect(StatusCode::OK);
        app.check_stored_states("a change of products").await;
    }
    let bulk = json!({ "flagIds": flags, "action": "disable", "environmentId": staging });
    let bulk = admin.post("/flags/bulk", bulk).await;
    bulk.expect(StatusCode::OK);
    app.check_stored_states("changes of several flags").await;
    admin.archive(&flags[2]).await;
    app.check_stored_states("archiving").await;
    let restored = admin
        .post(&format!("/flags/{}/restore", flags[2]), json!({}))
        .await;
    restored.expect(StatusCode::OK);
    app.check_stored_states("restoring").await;

    for _ in 0..2 {
        app.sdk(&key).evaluate("a").await;
        app.flush_usage().await;
        app.check_stored_states("an evaluation").await;
        app.advance(120);
    }
    let used = "select count(*) from flags where evaluated_at is not null and on_count > 0";
    assert_eq!(app.database().count(used).await, 1);
}
