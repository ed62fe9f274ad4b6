//! The content of pages of the dashboard, and the requests of their islands.

use pennon_tests::{Browser, TestApp, UNKNOWN_ID, equals, rule};
use reqwest::StatusCode;
use serde_json::json;

#[tokio::test]
async fn an_island_gets_the_status_and_code_of_an_error() {
    let app = TestApp::start().await;
    let browser = Browser::signed_in(&app).await;
    let form = format!("flag={UNKNOWN_ID}&environment={UNKNOWN_ID}&enabled=true");
    let switch = async |browser: &Browser<'_>, form: &str| {
        let path = "/dashboard/api/set-enabled";
        browser
            .post_from("same-origin", "application/json", path, form)
            .await
    };
    let answer = switch(&browser, &form).await.expect(StatusCode::NOT_FOUND);
    assert_eq!(answer.text("/code"), "NotFound");
    let answer = switch(&browser, "flag=1")
        .await
        .expect(StatusCode::BAD_REQUEST);
    assert_eq!(answer.text("/code"), "Transport");
    let answer = switch(&Browser::new(&app), &form)
        .await
        .expect(StatusCode::UNAUTHORIZED);
    assert_eq!(answer.text("/code"), "SignedOut");
}

#[tokio::test]
async fn the_palette_finds_people_by_any_part_of_their_address() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for email in ["eve_b@example.com", "Eve.B@example.org", "vic@example.com"] {
        admin.user(email, "viewer").await;
    }
    let browser = Browser::signed_in(&app).await;
    let people = async |text: &str| -> Vec<String> {
        let form = format!("text={text}");
        let path = "/dashboard/api/destinations";
        let answer = browser.post_from("same-origin", "application/json", path, &form);
        let answer = answer.await.expect(StatusCode::OK).json();
        let found = answer.as_array().expect("destinations").iter();
        let people = found.filter(|each| each["kind"] == "Person");
        let names = people.map(|each| each["name"].as_str().unwrap_or_default().to_owned());
        names.collect()
    };
    let newest_first = ["Eve.B@example.org", "eve_b@example.com"];
    assert_eq!(people("EVE").await, newest_first);
    assert_eq!(people("e_b").await, ["eve_b@example.com"]);
    assert_eq!(people("%25").await, [] as [&str; 0]);
    assert_eq!(people("%00").await, [] as [&str; 0]);
    // A pasted document is longer than the patterns of SQLite.
    assert_eq!(people(&"x".repeat(60_000)).await, [] as [&str; 0]);
    let list = format!("/dashboard/flags?q={}", "%25".repeat(1_001));
    browser.get(&list).await.expect(StatusCode::OK);
}

#[tokio::test]
async fn an_unknown_address_shows_a_page_and_an_unknown_asset_is_empty() {
    let app = TestApp::start().await;
    let browser = Browser::signed_in(&app).await;
    let page = browser
        .get("/dashboard/nowhere/at/all")
        .await
        .expect(StatusCode::NOT_FOUND);
    assert!(page.body().contains("Go to the flags"));
    let asset = browser
        .get("/dashboard/assets/pennon.js")
        .await
        .expect(StatusCode::NOT_FOUND);
    assert!(asset.bytes.is_empty());
}

#[tokio::test]
async fn the_page_of_a_flag_opens_in_a_protected_environment_or_else_in_production() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (internal, _) = admin.environment("shop", "internal").await;
    admin.environment("shop", "production").await;
    admin.flag("checkout").await;
    let browser = Browser::signed_in(&app).await;
    let current = async || {
        let page = browser.page("/dashboard/flags/checkout").await;
        let (before, _) = page
            .split_once("aria-current=\"page\"><span data-state")
            .expect("a tab");
        let (_, title) = before.rsplit_once("title=\"").expect("a title");
        title.split(':').next().unwrap_or_default().to_owned()
    };
    assert_eq!(current().await, "production");
    let protected = admin
        .patch(
            &format!("/environments/{internal}"),
            json!({ "protected": true }),
        )
        .await;
    protected.expect(StatusCode::OK);
    assert_eq!(current().await, "internal");
}

#[tokio::test]
async fn the_audit_log_is_divided_into_days() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    app.advance(24 * 60 * 60);
    let admin = app.admin().await;
    admin.switch_on(&checkout).await;
    let browser = Browser::signed_in(&app).await;
    let page = browser.page("/dashboard/audit").await;
    let (today, yesterday) = page.split_once("<h2>Yesterday · ").expect("two days");
    assert!(
        today.contains("<h2>Today · ") && today.contains(" on in "),
        "{page}"
    );
    assert!(yesterday.contains("created the environment"), "{page}");
}

#[tokio::test]
async fn the_history_of_a_flag_in_another_product_is_empty_and_does_not_name_its_own() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    admin.environment("Blog", "live").await;
    let (environment, _) = admin.environment("Web", "live").await;
    let new =
        json!({ "key": "checkout", "name": "Checkout", "type": "boolean", "products": ["Web"] });
    let flag = admin.post("/flags", new).await.text("/id");
    admin.switch(&flag, &environment, true).await;
    let browser = Browser::signed_in(&app).await;
    let history = async |query: &str| {
        let address = format!("/dashboard/flags/checkout/history{query}");
        browser.page(&address).await
    };
    assert!(
        history("?product=Blog")
            .await
            .contains("No changes in Blog")
    );
    assert!(history("").await.contains(">Web / live</a>"));
    let page = history("?product=Web").await;
    assert!(
        page.contains(">live</a>") && !page.contains("Web / live"),
        "{page}"
    );
}

#[tokio::test]
async fn the_steps_of_a_flag_that_is_off_say_what_comes_once_it_is_on() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let rule = admin
        .rule(&checkout.path, rule(1, equals("plan", "pro")))
        .await;
    let browser = Browser::signed_in(&app).await;
    let page = async |query: &str| {
        let address = format!("/dashboard/flags/checkout?{query}");
        browser.page(&address).await
    };
    let recipes = page("edit=recipe").await;
    assert!(
        recipes.contains("A percentage of everyone left"),
        "{recipes}"
    );
    admin.rollout(&checkout.path, 0).await;
    let steps = page("").await;
    assert!(
        steps.contains("<span class=\"step-mark\">else</span>"),
        "{steps}"
    );
    assert!(!steps.contains("<span class=\"step-mark\">then</span>"));
    // There is nowhere to move the only rule.
    assert!(!steps.contains("Move up") && !steps.contains("Drag to reorder"));
    let deletion = page(&format!("edit=delete-rule&rule={rule}")).await;
    let effect = "The flag is off here, so nothing changes yet. Once it is on: OFF for everyone.";
    assert!(deletion.contains(effect), "{deletion}");
    // Somebody else deleted it.
    let rules = admin.delete(&format!("/rules/{rule}")).await;
    rules.expect(StatusCode::NO_CONTENT);
    let page = page(&format!("edit=delete-rule&rule={rule}")).await;
    assert!(page.contains("Add rule"), "{page}");
}

#[tokio::test]
async fn only_what_a_role_in_one_environment_permits_is_offered() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let flag = admin.flag("checkout").await;
    let (staging, _) = admin.environment("shop", "staging").await;
    let (live, _) = admin.environment("shop", "live").await;
    let user = admin.user("ed@example.com", "viewer").await;
    let grants = json!({ "grants": [{ "environmentId": live, "role": "editor" }] });
    admin
        .patch(&format!("/users/{user}"), grants)
        .await
        .expect(StatusCode::OK);
    let browser = Browser::signed_in_as(&app, "ed@example.com").await;

    let page = async |environment: &str, more: &str| {
        let path = format!("/dashboard/flags/checkout?environment={environment}{more}");
        browser.page(&path).await
    };
    assert!(page(&staging, "").await.contains("Copy to…"));
    assert!(!page(&live, "").await.contains("Copy to…"));
    let copying = page(&staging, "&edit=copy").await;
    assert!(
        copying.contains("already matches"),
        "live is the only target"
    );
    assert!(!page(&live, "&edit=copy").await.contains("Preview changes"));

    let find = async |text: &str| {
        let (path, form) = ("/dashboard/api/destinations", format!("text={text}"));
        let accept = "application/json";
        let found = browser.post_from("same-origin", accept, path, &form).await;
        found.expect(StatusCode::OK).body().clone()
    };
    assert!(find("copy+checkout+in+staging").await.contains(&staging));
    assert!(!find("copy+checkout+in+live").await.contains(&live));

    let list = browser.page("/dashboard/flags").await;
    assert!(list.contains("value=\"enable\"") && !list.contains("value=\"archive\""));
    let path = format!("/dashboard/change-flags?do=enable&flag={flag}");
    let choice = browser.page(&path).await;
    assert!(choice.contains(&live) && !choice.contains(&staging));
}
