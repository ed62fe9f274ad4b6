//! Undo and revert in the dashboard.

use pennon_tests::{Browser, Caller, TestApp, equals};
use reqwest::StatusCode;
use serde_json::json;

#[tokio::test]
async fn undo_leaves_what_others_and_scripts_with_a_token_of_the_same_user_did() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let (mine, other) = (admin.flag("mine").await, admin.flag("other").await);
    let theirs = admin.flag("theirs").await;
    admin.switch(&mine, &environment, true).await;
    app.advance(1);
    let (_, token) = admin.personal_token("deploy", "editor").await;
    let script = app.with_token(&token);
    script.switch(&other, &environment, true).await;
    let eve = app.user("eve@example.com", "editor").await;
    eve.switch(&theirs, &environment, true).await;
    let browser = Browser::signed_in(&app).await;
    browser.post("/dashboard/undo", "back=/dashboard").await;
    let is_enabled = async |flag: &str| {
        let path = format!("/flags/{flag}/environments/{environment}");
        admin.get(&path).await.json()["isEnabled"].clone()
    };
    assert_eq!(is_enabled(&mine).await, false);
    assert_eq!(is_enabled(&other).await, true);
    assert_eq!(is_enabled(&theirs).await, true);
}

#[tokio::test]
async fn a_change_can_be_undone_for_ten_minutes() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    app.advance(601);
    let browser = Browser::signed_in(&app).await;
    let late = browser.post("/dashboard/undo", "back=/dashboard").await;
    let page = late.expect(StatusCode::CONFLICT).body();
    assert!(page.contains("You have changed nothing in the last 10 minutes."));
    let read = admin.get(&checkout.path).await.json();
    assert_eq!(read["isEnabled"], true);
}

#[tokio::test]
async fn undoing_leads_back_to_a_page_of_the_dashboard_only() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let browser = Browser::signed_in(&app).await;
    for (back, expected) in [
        ("/dashboard/flags?page=2", "/dashboard/flags?page=2"),
        ("https://evil.example/dashboard", "/dashboard/audit"),
        ("//evil.example/dashboard/", "/dashboard/audit"),
        ("/dashboard.evil.example", "/dashboard/audit"),
        ("", "/dashboard/audit"),
    ] {
        admin.switch_on(&checkout).await;
        app.advance(1);
        let undone = browser
            .post("/dashboard/undo", &format!("back={back}"))
            .await;
        let undone = undone.expect(StatusCode::SEE_OTHER);
        assert_eq!(undone.header("location"), expected);
        let read = admin.get(&checkout.path).await.json();
        assert_eq!(read["isEnabled"], false, "{back}");
    }
}

#[tokio::test]
async fn the_last_change_is_undone_even_if_the_clock_was_set_back() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let (first, last) = (admin.flag("first").await, admin.flag("last").await);
    admin.switch(&first, &environment, true).await;
    app.advance(-4);
    admin.switch(&last, &environment, true).await;
    let browser = Browser::signed_in(&app).await;
    browser.post("/dashboard/undo", "back=/dashboard").await;
    for (flag, expected) in [(&first, true), (&last, false)] {
        let path = format!("/flags/{flag}/environments/{environment}");
        assert_eq!(admin.get(&path).await.json()["isEnabled"], expected);
    }
}

#[tokio::test]
async fn a_change_of_several_flags_has_one_reason_and_is_reverted_by_editors_of_all() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (staging, _) = admin.environment("shop", "staging").await;
    let (production, _) = admin.environment("shop", "production").await;
    let flags = [admin.flag("a").await, admin.flag("b").await];
    let change = |environment: &str| {
        json!({
            "flagIds": flags, "action": "enable", "environmentId": environment, "reason": "Launch day",
        })
    };
    let eve = admin.user("eve@example.com", "viewer").await;
    let grants = json!({ "grants": [{ "environmentId": staging, "role": "editor" }] });
    let granted = admin.patch(&format!("/users/{eve}"), grants).await;
    granted.expect(StatusCode::OK);
    let eve = Browser::signed_in_as(&app, "eve@example.com").await;
    for (environment, reverts) in [(&production, 0), (&staging, 1)] {
        app.advance(1);
        admin
            .post("/flags/bulk", change(environment))
            .await
            .expect(StatusCode::OK);
        let page = eve.page("/dashboard/audit").await;
        assert_eq!(
            page.matches("href=\"/dashboard/audit/0").count(),
            reverts,
            "{page}"
        );
    }
    let page = eve.page("/dashboard/audit").await;
    assert_eq!(page.matches("Launch day").count(), 2, "{page}");

    let entry = admin.newest_entry().await;
    let address = format!("/dashboard/audit/{entry}");
    let page = eve.page(&address).await;
    assert!(page.contains("One action made these 2 changes; they are reverted together."));
    let reverted = eve.revert(&entry).await;
    let reverted = reverted.expect(StatusCode::SEE_OTHER);
    // No flag is the only one.
    assert_eq!(reverted.header("location"), "/dashboard/audit");
}

#[tokio::test]
async fn a_change_of_flags_of_other_products_too_is_not_for_editors_of_one() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let create = async |key: &str, product: &str| {
        let new = json!({ "key": key, "name": key, "type": "boolean", "products": [product] });
        admin.post("/flags", new).await.text("/id")
    };
    let flags = [create("a", "Blog").await, create("b", "shop").await];
    let eve = admin.user("eve@example.com", "viewer").await;
    let grants = json!({ "grants": [{ "product": "shop", "role": "editor" }] });
    let granted = admin.patch(&format!("/users/{eve}"), grants).await;
    granted.expect(StatusCode::OK);
    let eve = Browser::signed_in_as(&app, "eve@example.com").await;
    for (flags, tag, reverts) in [(&flags[..], "q2", 0), (&flags[1..], "q3", 1)] {
        app.advance(1);
        let tag = json!({ "flagIds": flags, "action": "tag", "addTags": [tag] });
        admin.post("/flags/bulk", tag).await.expect(StatusCode::OK);
        let page = eve.page("/dashboard/audit").await;
        let links = page.matches("href=\"/dashboard/audit/0").count();
        // The creation of her flag could be reverted, too.
        assert_eq!(links, reverts + 1, "{page}");
    }
}

#[tokio::test]
async fn the_revert_in_several_environments_requires_a_reason_if_one_does() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let flag = admin.flag("checkout").await;
    let mut entries = Vec::new();
    for (name, guard) in [("staging", "reasonRequired"), ("production", "protected")] {
        let (environment, _) = admin.environment("shop", name).await;
        admin.switch(&flag, &environment, true).await;
        let entry = admin.newest_entry().await;
        entries.push(format!("entry={entry}"));
        let guarded = admin
            .patch(
                &format!("/environments/{environment}"),
                json!({ guard: true }),
            )
            .await;
        guarded.expect(StatusCode::OK);
    }
    let browser = Browser::signed_in(&app).await;
    for entries in [
        entries.join("&"),
        entries.iter().rev().cloned().collect::<Vec<_>>().join("&"),
    ] {
        let address = format!("/dashboard/incident/revert?{entries}");
        let page = browser.page(&address).await;
        assert!(
            page.contains("Revert 2 changes in 2 environments"),
            "{page}"
        );
        let (_, field) = page.split_once("<textarea id=\"reason\"").expect("a field");
        let (field, _) = field.split_once('>').unwrap_or_default();
        assert!(field.contains(" required"), "{field}");
    }
}

#[tokio::test]
async fn the_revert_of_a_rule_of_a_flag_that_is_off_says_when_it_takes_effect() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let rule = json!({ "priority": 1, "logic": "and", "value": false, "conditions": [equals("plan", "pro")] });
    admin.rule(&checkout.path, rule).await;
    let entry = admin.newest_entry().await;
    let browser = Browser::signed_in(&app).await;
    let page = browser.page(&format!("/dashboard/audit/{entry}")).await;
    for text in [
        "The flag is off here. This takes effect when you switch it on.",
        "Once switched on, now",
        "<del>OFF when plan is pro; everyone else is ON.</del>",
        "<ins>ON for everyone.</ins>",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[tokio::test]
async fn a_revert_that_turns_a_flag_on_is_a_danger_and_lists_the_ttl() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let off = json!({ "isEnabled": false, "ttlOverrideSeconds": 300 });
    let off = admin.put(&checkout.path, off).await;
    off.expect(StatusCode::NO_CONTENT);
    let entry = admin.newest_entry().await;
    let browser = Browser::signed_in(&app).await;
    let page = browser.page(&format!("/dashboard/audit/{entry}")).await;
    let (_, will) = page.split_once("id=\"will\"").expect("a plan");
    for text in [
        "effect-words alarming",
        "Some users who now get OFF will get ON.",
        "<ins>ON for everyone.</ins>",
        "<dt>TTL</dt><dd><del>5 min</del> <ins>60 s (default)</ins>",
        "class=\"button primary danger\"",
    ] {
        assert!(will.contains(text), "{text}: {will}");
    }
}

#[tokio::test]
async fn the_preview_of_a_revert_has_the_rules_in_their_order() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let mut rules = Vec::new();
    for (priority, plan, value) in [(1, "free", false), (2, "pro", true), (3, "old", false)] {
        let rule = json!({ "priority": priority, "logic": "and", "value": value, "conditions": [equals("plan", plan)] });
        rules.push(admin.rule(&checkout.path, rule).await);
    }
    admin.switch_on(&checkout).await;
    let browser = Browser::signed_in(&app).await;
    let expect_revert = async |from: &str, to: &str, alarming: bool| {
        let entry = admin.newest_entry().await;
        let page = browser.page(&format!("/dashboard/audit/{entry}")).await;
        let (_, will) = page.split_once("id=\"will\"").expect("a plan");
        for text in [format!("<del>{from}</del>"), format!("<ins>{to}</ins>")] {
            assert!(will.contains(&text), "{text}: {will}");
        }
        assert_eq!(will.contains("now get OFF will get ON"), alarming, "{will}");
    };

    let deleted = admin.delete(&format!("/rules/{}", rules[0])).await;
    deleted.expect(StatusCode::NO_CONTENT);
    let all = "OFF when plan is free; otherwise ON when plan is pro; otherwise OFF when plan is old; everyone else is ON.";
    expect_revert(
        "ON when plan is pro; otherwise OFF when plan is old; everyone else is ON.",
        all,
        false,
    )
    .await;

    let entry = admin.newest_entry().await;
    browser.revert(&entry).await.expect(StatusCode::SEE_OTHER);
    let conditions = json!({ "priority": 9, "logic": "or", "value": true, "conditions": [equals("plan", "free"), equals("vip", true)] });
    let catch_all = admin.rule(&checkout.path, conditions).await;
    let listed = admin.get(&format!("{}/rules", checkout.path)).await.json();
    let ids: Vec<&str> = listed
        .as_array()
        .expect("rules")
        .iter()
        .filter_map(|rule| rule["id"].as_str())
        .collect();
    let mut moved = vec![ids[3]];
    moved.extend(&ids[..3]);
    assert_eq!(moved[0], catch_all);
    let order = json!({ "ruleIds": moved });
    let reordered = admin
        .put(&format!("{}/rules/order", checkout.path), order)
        .await;
    reordered.expect(StatusCode::OK);
    expect_revert(
        &format!("ON when plan is free or vip is true; otherwise {all}"),
        "OFF when plan is free; otherwise ON when plan is pro; otherwise OFF when plan is old; otherwise ON when plan is free or vip is true; everyone else is ON.",
        false,
    )
    .await;
    let entry = admin.newest_entry().await;
    browser.revert(&entry).await.expect(StatusCode::SEE_OTHER);
    expect_revert(
        "OFF when plan is free; otherwise ON when plan is pro; otherwise OFF when plan is old; otherwise ON when plan is free or vip is true; everyone else is ON.",
        &format!("ON when plan is free or vip is true; otherwise {all}"),
        true,
    )
    .await;
}

/// Opens the preview of a revert of the last changes together.
async fn preview_of_last(admin: &Caller<'_>, browser: &Browser<'_>, count: usize) -> String {
    let entries = admin.get("/audit").await.json();
    let entries = entries["items"].as_array().cloned().unwrap_or_default();
    let ids: Vec<_> = entries
        .iter()
        .take(count)
        .filter_map(|entry| Some(format!("entry={}", entry["id"].as_str()?)))
        .collect();
    let address = format!("/dashboard/incident/revert?{}", ids.join("&"));
    let page = browser.page(&address).await;
    let (_, will) = page.split_once("id=\"will\"").expect("a plan");
    will.to_owned()
}

#[tokio::test]
async fn a_revert_of_only_the_ttl_has_one_heading_for_each_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let (staging, _) = admin.environment("shop", "staging").await;
    for environment in [&checkout.environment, &staging] {
        let path = format!("/flags/{}/environments/{environment}", checkout.flag);
        let ttl = json!({ "isEnabled": false, "ttlOverrideSeconds": 300 });
        admin.put(&path, ttl).await.expect(StatusCode::NO_CONTENT);
    }
    let browser = Browser::signed_in(&app).await;
    let will = preview_of_last(&admin, &browser, 2).await;
    assert_eq!(will.matches("<h3>").count(), 2, "{will}");
    assert_eq!(will.matches("<dt>TTL</dt>").count(), 2, "{will}");
}

#[tokio::test]
async fn an_effect_that_has_no_description_does_not_displace_another_from_the_preview_of_a_revert()
{
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let off = json!({ "isEnabled": false });
    admin
        .put(&checkout.path, off)
        .await
        .expect(StatusCode::NO_CONTENT);
    for number in 0..21 {
        let (environment, _) = admin
            .environment("shop", &format!("preview-{number}"))
            .await;
        let path = format!("/flags/{}/environments/{environment}", checkout.flag);
        let ttl = json!({ "isEnabled": false, "ttlOverrideSeconds": 300 });
        admin.put(&path, ttl).await.expect(StatusCode::NO_CONTENT);
    }
    let browser = Browser::signed_in(&app).await;
    let entries = admin.get("/audit?limit=100").await.json();
    let entries = entries["items"].as_array().cloned().unwrap_or_default();
    let updates = entries
        .iter()
        .filter(|entry| entry["action"] == "FLAG_ENVIRONMENT_UPDATED");
    let ids: Vec<_> = updates
        .take(22)
        .filter_map(|entry| Some(format!("entry={}", entry["id"].as_str()?)))
        .collect();
    assert_eq!(ids.len(), 22);
    let address = format!("/dashboard/incident/revert?{}", ids.join("&"));
    let page = browser.page(&address).await;
    let (_, will) = page.split_once("id=\"will\"").expect("a plan");
    for text in ["<ins>ON for everyone.</ins>", "… and 1 more change."] {
        assert!(will.contains(text), "{text}: {will}");
    }
    assert!(!will.contains("more flag configuration"), "{will}");
}

#[tokio::test]
async fn the_revert_of_a_creation_that_turns_the_flag_off_first_does_not_warn_that_it_is_on() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let browser = Browser::signed_in(&app).await;
    let will = preview_of_last(&admin, &browser, 2).await;
    let archived =
        "<p>The flag is archived: it is off everywhere, and its key cannot be reused.</p>";
    assert!(will.contains(archived), "{will}");
}
