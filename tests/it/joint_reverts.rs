//! Reverting several actions as one, on the page for an incident.

use pennon_tests::{Browser, Caller, EMAIL, TestApp, equals, fingerprint, rollout, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// Returns the ids of the newest audit entries, newest first.
async fn newest(caller: &Caller<'_>, count: usize) -> Vec<String> {
    listed(caller, &format!("/audit?limit={count}")).await
}

async fn listed(caller: &Caller<'_>, address: &str) -> Vec<String> {
    let entries = caller.get(address).await.items();
    let id = |entry: &Value| entry["id"].as_str().unwrap_or_default().to_owned();
    entries.iter().map(id).collect()
}

/// Returns the address of the page that reverts the actions of these entries.
fn address(entries: &[String]) -> String {
    let entries: Vec<_> = entries.iter().map(|id| format!("entry={id}")).collect();
    format!("/dashboard/incident/revert?{}", entries.join("&"))
}

/// Returns the body of the form of a preview.
fn form(preview: &str) -> String {
    let fingerprint = fingerprint(preview).expect("the preview has a form");
    format!("fingerprint={fingerprint}&confirmed=yes")
}

/// Reverts the actions of these entries as previewed, and returns the preview.
async fn revert(browser: &Browser<'_>, entries: &[String]) -> String {
    let address = address(entries);
    let preview = browser.page(&address).await;
    let reverted = browser.post(&address, &form(&preview)).await;
    let reverted = reverted.expect(StatusCode::SEE_OTHER);
    assert_eq!(reverted.header("location"), "/dashboard/incident");
    preview
}

async fn set_rollout(caller: &Caller<'_>, path: &str, percentage: u8) {
    let path = format!("{path}/rollout");
    let set = caller.put(&path, rollout(percentage)).await;
    assert!(set.status.is_success());
}

async fn percentage(caller: &Caller<'_>, path: &str) -> Value {
    let rollout = caller.get(&format!("{path}/rollout")).await.json();
    rollout["percentage"].clone()
}

async fn is_enabled(caller: &Caller<'_>, path: &str) -> Value {
    caller.get(path).await.json()["isEnabled"].clone()
}

async fn rename(admin: &Caller<'_>, environment: &str, name: &str) {
    let path = format!("/environments/{environment}");
    let renamed = admin.patch(&path, json!({ "name": name })).await;
    renamed.expect(StatusCode::OK);
}

async fn restore(admin: &Caller<'_>, flag: &str) {
    let path = format!("/flags/{flag}/restore");
    let restored = admin.send(admin.request(Method::POST, &path)).await;
    restored.expect(StatusCode::OK);
}

async fn rename_and_archive(admin: &Caller<'_>, flag: &str) {
    let path = format!("/flags/{flag}");
    let renamed = admin.patch(&path, json!({ "name": "Till" })).await;
    renamed.expect(StatusCode::OK);
    let archived = admin.delete(&path).await;
    archived.expect(StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn two_changes_of_a_flag_are_reverted_to_the_state_before_both_in_one_action() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let other = admin.flag("search").await;
    set_rollout(&admin, &checkout.path, 10).await;
    set_rollout(&admin, &checkout.path, 30).await;
    admin.switch(&other, &checkout.environment, true).await;
    set_rollout(&admin, &checkout.path, 70).await;
    let mut entries = newest(&admin, 3).await;
    // The order in the address does not matter, and an action may occur twice.
    entries.rotate_left(1);
    entries.push(entries[0].clone());
    let browser = Browser::signed_in(&app).await;
    let preview = revert(&browser, &entries).await;
    assert!(preview.contains("Revert 3 changes in prod"));
    assert!(!preview.contains("It has been changed again since."));
    assert_eq!(percentage(&admin, &checkout.path).await, 10);
    let path = format!("/flags/{other}/environments/{}", checkout.environment);
    assert_eq!(is_enabled(&admin, &path).await, false);

    let written = admin.get("/audit?limit=2").await.json();
    let groups = [0, 1].map(|index| &written["items"][index]["groupId"]);
    assert_eq!(groups[0], groups[1]);
    // That action can be reverted like any other one.
    let undone = newest(&admin, 1).await;
    revert(&browser, &undone).await;
    assert_eq!(percentage(&admin, &checkout.path).await, 70);
    assert_eq!(is_enabled(&admin, &path).await, true);
}

#[tokio::test]
async fn changes_and_their_revert_leave_nothing_to_revert() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    admin.switch_off(&checkout).await;
    let entries = newest(&admin, 2).await;
    let browser = Browser::signed_in(&app).await;
    let preview = browser.page(&address(&entries)).await;
    assert!(preview.contains("These changes are already reverted."));
    assert!(!preview.contains("name=\"fingerprint\""));
    let refused = browser.post(&address(&entries), "fingerprint=x").await;
    refused.expect(StatusCode::CONFLICT);
}

#[tokio::test]
async fn a_mixed_selection_restores_flags_rules_and_environments() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let environment = format!("/environments/{}", checkout.environment);
    for name in ["live", "main"] {
        let renamed = admin.patch(&environment, json!({ "name": name })).await;
        renamed.expect(StatusCode::OK);
    }
    let rule = rule(1, equals("vip", true));
    let added = admin.rule(&checkout.path, rule.clone()).await;
    let deleted = admin.delete(&format!("/rules/{added}")).await;
    deleted.expect(StatusCode::NO_CONTENT);
    admin.rule(&checkout.path, rule).await;
    rename_and_archive(&admin, &checkout.flag).await;
    let created = admin.flag("search").await;
    admin.switch(&created, &checkout.environment, true).await;

    let entries = newest(&admin, 9).await;
    let preview = revert(&Browser::signed_in(&app).await, &entries).await;
    assert!(preview.contains("Revert 9 changes"));
    assert!(!preview.contains("Cannot be reverted"));
    assert_eq!(admin.get(&environment).await.text("/name"), "prod");
    let flag = admin.get(&format!("/flags/{}", checkout.flag)).await.json();
    assert_eq!(
        [&flag["name"], &flag["archivedAt"]],
        [&json!("checkout"), &Value::Null]
    );
    let rules = admin.get(&format!("{}/rules", checkout.path)).await;
    assert_eq!(rules.json(), json!([]));
    let search = admin.get(&format!("/flags/{created}")).await.json();
    assert_ne!(search["archivedAt"], Value::Null);
}

#[tokio::test]
async fn a_flag_leaves_the_environments_in_which_it_was_turned_on() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, _) = admin.environment("shop", "prod").await;
    let (blog, _) = admin.environment("blog", "prod").await;
    let body =
        json!({ "key": "banner", "name": "Banner", "type": "boolean", "products": ["shop"] });
    let flag = admin.post("/flags", body).await.expect(StatusCode::CREATED);
    let flag = flag.text("/id");
    let path = format!("/flags/{flag}");
    let widened = admin
        .patch(&path, json!({ "products": ["shop", "blog"] }))
        .await;
    widened.expect(StatusCode::OK);
    admin.switch(&flag, &blog, true).await;
    let [switched, widened] = <[String; 2]>::try_from(newest(&admin, 2).await).expect("two");
    let browser = Browser::signed_in(&app).await;
    // Without the switch, the flag would still be on where it is taken out.
    let alone = browser.get(&address(std::slice::from_ref(&widened))).await;
    let alone = alone.expect(StatusCode::OK).body();
    assert!(alone.contains("The flag is still enabled in blog/prod; disable it there first."));
    revert(&browser, &[switched, widened]).await;
    assert_eq!(admin.get(&path).await.json()["products"], json!(["shop"]));
}

#[tokio::test]
async fn environments_that_are_written_alike_are_distinguished() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (one, _) = admin.environment("a", "b/c").await;
    let (other, _) = admin.environment("a/b", "c").await;
    let flag = admin.flag("banner").await;
    admin.switch(&flag, &one, true).await;
    admin.switch(&flag, &other, true).await;
    let entries = newest(&admin, 3).await;
    let browser = Browser::signed_in(&app).await;
    // The flag would be archived while it is on in the other environment.
    let preview = browser.page(&address(&entries[1..])).await;
    assert!(preview.contains("The flag is still enabled in a/b/c; disable it there first."));
}

#[tokio::test]
async fn an_action_that_cannot_be_reverted_is_named_and_the_others_are_reverted() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let archived = admin.flag("search").await;
    let path = format!("/flags/{archived}/environments/{}", checkout.environment);
    set_rollout(&admin, &path, 20).await;
    admin.switch_on(&checkout).await;
    let (_, _) = admin.environment("shop", "staging").await;
    let entries = newest(&admin, 3).await;
    admin.archive(&archived).await;
    let browser = Browser::signed_in(&app).await;
    let preview = revert(&browser, &entries).await;
    assert!(preview.contains("Cannot be reverted"));
    assert!(preview.contains("The flag is archived; restore it first."));
    assert!(preview.contains("The creation of an environment cannot be reverted"));
    assert!(preview.contains("Revert 1 change in prod"));
    assert_eq!(is_enabled(&admin, &checkout.path).await, false);
}

#[tokio::test]
async fn a_flag_that_was_created_and_archived_since_is_archived_without_its_configuration() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let flag = admin.flag("banner").await;
    let path = format!("/flags/{flag}/environments/{}", checkout.environment);
    set_rollout(&admin, &path, 20).await;
    admin.rule(&path, rule(1, equals("vip", true))).await;
    rename_and_archive(&admin, &flag).await;
    let entries = newest(&admin, 6).await;
    let browser = Browser::signed_in(&app).await;
    let preview = revert(&browser, &entries).await;
    assert!(!preview.contains("Cannot be reverted"));
    assert_eq!(is_enabled(&admin, &checkout.path).await, false);
    let banner = admin.get(&format!("/flags/{flag}")).await.json();
    assert_eq!(banner["name"], "banner");
    assert_ne!(banner["archivedAt"], Value::Null);
    let rollout = admin.get(&format!("{path}/rollout")).await;
    rollout.expect_problem(StatusCode::NOT_FOUND, "ROLLOUT_NOT_FOUND");
    let rules = admin.get(&format!("{path}/rules")).await;
    assert_eq!(rules.json(), json!([]));
    let preview = browser.page(&address(&entries)).await;
    assert!(preview.contains("These changes are already reverted."));
}

#[tokio::test]
async fn a_flag_that_was_archived_before_and_after_has_nothing_to_revert() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let browser = Browser::signed_in(&app).await;
    let flag = admin.flag("banner").await;
    admin.archive(&flag).await;
    let created = address(&newest(&admin, 2).await);
    restore(&admin, &flag).await;
    admin.archive(&flag).await;
    let restored = address(&newest(&admin, 2).await);
    app.advance(60);
    for address in [created, restored] {
        let preview = browser.page(&address).await;
        assert!(preview.contains("These changes are already reverted."));
        assert!(!preview.contains("The flag is restored"));
    }
}

#[tokio::test]
async fn a_flag_is_not_archived_where_the_revert_turns_it_on() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.archive(&checkout.flag).await;
    restore(&admin, &checkout.flag).await;
    let restored = newest(&admin, 1).await;
    admin.switch_on(&checkout).await;
    admin.switch_off(&checkout).await;
    let since = newest(&admin, 1).await;
    let entries = [restored, since].concat();
    let browser = Browser::signed_in(&app).await;
    let preview = browser.page(&address(&entries)).await;
    assert!(preview.contains("The flag is still enabled in shop/prod; disable it there first."));
    admin.archive(&checkout.flag).await;
    let entries = [entries, newest(&admin, 1).await].concat();
    let preview = revert(&browser, &entries).await;
    assert!(preview.contains("The flag is still enabled in shop/prod; disable it there first."));
    assert_eq!(is_enabled(&admin, &checkout.path).await, true);
}

#[tokio::test]
async fn an_archived_flag_is_restored_without_an_environment_in_which_it_was_changed() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, _) = admin.environment("shop", "prod").await;
    let (blog, _) = admin.environment("blog", "prod").await;
    let flag = admin.flag("banner").await;
    let path = format!("/flags/{flag}");
    let limited = admin.patch(&path, json!({ "products": ["shop"] })).await;
    limited.expect(StatusCode::OK);
    let widened = admin.patch(&path, json!({ "products": null })).await;
    widened.expect(StatusCode::OK);
    set_rollout(&admin, &format!("{path}/environments/{blog}"), 20).await;
    admin.archive(&flag).await;
    let entries = newest(&admin, 4).await;
    // The entry about the environment that the flag joined belongs to the change of its products.
    let browser = Browser::signed_in(&app).await;
    revert(&browser, &entries).await;
    let banner = admin.get(&path).await.json();
    assert_eq!(banner["archivedAt"], Value::Null);
    assert_eq!(banner["products"], json!(["shop"]));
}

#[tokio::test]
async fn a_name_that_another_environment_has_now_is_not_restored() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    rename(&admin, &checkout.environment, "old").await;
    let (_, _) = admin.environment("shop", "prod").await;
    let entries = newest(&admin, 3).await;
    let preview = revert(&Browser::signed_in(&app).await, &entries).await;
    assert!(preview.contains("The creation of an environment cannot be reverted"));
    assert!(preview.contains("Another environment now has the old name of this one; rename"));
    assert_eq!(is_enabled(&admin, &checkout.path).await, false);
    let environment = format!("/environments/{}", checkout.environment);
    assert_eq!(admin.get(&environment).await.text("/name"), "old");
}

#[tokio::test]
async fn environments_are_renamed_in_an_order_in_which_the_names_are_free() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (one, _) = admin.environment("shop", "one").await;
    let (two, _) = admin.environment("shop", "two").await;
    let names = async || {
        let [one, two] = [&one, &two].map(|id| format!("/environments/{id}"));
        let (one, two) = (admin.get(&one).await, admin.get(&two).await);
        [one.text("/name"), two.text("/name")]
    };
    let browser = Browser::signed_in(&app).await;
    rename(&admin, &one, "old").await;
    rename(&admin, &two, "one").await;
    rename(&admin, &one, "older").await;
    let preview = revert(&browser, &newest(&admin, 3).await).await;
    assert!(!preview.contains("Cannot be reverted"));
    assert_eq!(names().await, ["one", "two"]);

    // They have exchanged their names, so each would need that of the other one.
    rename(&admin, &one, "old").await;
    rename(&admin, &two, "one").await;
    rename(&admin, &one, "two").await;
    let preview = revert(&browser, &newest(&admin, 3).await).await;
    assert!(preview.contains("Another environment now has the old name of this one; rename"));
    assert_eq!(names().await, ["old", "two"]);
}

#[tokio::test]
async fn a_rule_for_which_there_is_no_room_is_not_restored() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let deleted = admin.rule(&checkout.path, rule(1, equals("vip", true)));
    let deleted = admin.delete(&format!("/rules/{}", deleted.await)).await;
    deleted.expect(StatusCode::NO_CONTENT);
    admin.switch_on(&checkout).await;
    let entries = newest(&admin, 2).await;
    for priority in 2..102 {
        let rule = rule(priority, equals("vip", true));
        admin.rule(&checkout.path, rule).await;
    }
    let preview = revert(&Browser::signed_in(&app).await, &entries).await;
    assert!(preview.contains("The flag would have more than 100 rules; delete others first."));
    assert_eq!(is_enabled(&admin, &checkout.path).await, false);
}

#[tokio::test]
async fn changes_of_accounts_are_not_reverted_together_with_others() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let user = admin.user("eve@example.com", "editor").await;
    let user = format!("/users/{user}");
    let promoted = admin.patch(&user, json!({ "role": "admin" })).await;
    promoted.expect(StatusCode::OK);
    admin
        .switch(&checkout.flag, &checkout.environment, true)
        .await;
    let entries = listed(&admin, "/audit?limit=2&include=accounts").await;
    let browser = Browser::signed_in(&app).await;
    let preview = revert(&browser, &entries).await;
    assert!(preview.contains("Changes of accounts cannot be reverted together with others"));
    assert_eq!(is_enabled(&admin, &checkout.path).await, false);
    assert_eq!(admin.get(&user).await.text("/role"), "admin");
}

#[tokio::test]
async fn changes_since_the_preview_are_not_overwritten() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let other = admin.flag("search").await;
    let path = format!("/flags/{other}/environments/{}", checkout.environment);
    set_rollout(&admin, &checkout.path, 10).await;
    admin.switch(&other, &checkout.environment, true).await;
    let address = address(&newest(&admin, 2).await);
    let browser = Browser::signed_in(&app).await;
    let seen = form(&browser.page(&address).await);
    set_rollout(&admin, &checkout.path, 55).await;
    let stale = browser
        .post(&address, &seen)
        .await
        .expect(StatusCode::CONFLICT)
        .body();
    assert!(stale.contains("Somebody else changed this first."));
    assert!(stale.contains("It has been changed again since."));
    assert_eq!(percentage(&admin, &checkout.path).await, 55);
    assert_eq!(is_enabled(&admin, &path).await, true);
    // The refused page shows the current plan.
    let reverted = browser.post(&address, &form(&stale)).await;
    reverted.expect(StatusCode::SEE_OTHER);
    assert_eq!(is_enabled(&admin, &path).await, false);
}

#[tokio::test]
async fn an_action_that_becomes_revertible_is_not_reverted_without_a_preview() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    rename_and_archive(&admin, &checkout.flag).await;
    let other = admin.flag("search").await;
    admin.switch(&other, &checkout.environment, true).await;
    let entries = newest(&admin, 4).await;
    // Everything but the creation and the archiving.
    let address = address(&[entries[0].clone(), entries[3].clone()]);
    let browser = Browser::signed_in(&app).await;
    let preview = browser.page(&address).await;
    assert!(preview.contains("Revert 1 change in prod"));
    restore(&admin, &checkout.flag).await;
    let stale = browser.post(&address, &form(&preview)).await;
    let stale = stale.expect(StatusCode::CONFLICT);
    assert!(stale.body().contains("Revert 2 changes"));
}

#[tokio::test]
async fn a_joint_revert_needs_the_roles_of_its_changes() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let environment = format!("/environments/{}", checkout.environment);
    let renamed = admin.patch(&environment, json!({ "name": "live" })).await;
    renamed.expect(StatusCode::OK);
    let entries = newest(&admin, 2).await;
    let address = address(&entries);
    for (email, role) in [("vic@example.com", "viewer"), ("eve@example.com", "editor")] {
        admin.user(email, role).await;
    }
    let viewer = Browser::signed_in_as(&app, "vic@example.com").await;
    viewer.get(&address).await.expect(StatusCode::FORBIDDEN);
    let refused = viewer.post(&address, "fingerprint=x&confirmed=yes").await;
    refused.expect(StatusCode::FORBIDDEN);
    assert_eq!(is_enabled(&admin, &checkout.path).await, true);
    let listed = viewer.page("/dashboard/incident").await;
    assert!(listed.contains("checkout") && !listed.contains("Revert"));

    let editor = Browser::signed_in_as(&app, "eve@example.com").await;
    let preview = revert(&editor, &entries).await;
    assert!(preview.contains("The role admin is required."));
    assert_eq!(is_enabled(&admin, &checkout.path).await, false);
    assert_eq!(admin.get(&environment).await.text("/name"), "live");
    let written = admin.get("/audit?limit=1").await.json();
    assert_eq!(written["items"][0]["actorIdentity"], "eve@example.com");
}

#[tokio::test]
async fn protected_environments_and_reasons_hold_for_several_actions() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    set_rollout(&admin, &checkout.path, 10).await;
    let entries = newest(&admin, 2).await;
    let address = address(&entries);
    let safeguards = json!({ "protected": true, "reasonRequired": true });
    let environment = format!("/environments/{}", checkout.environment);
    let guarded = admin.patch(&environment, safeguards);
    guarded.await.expect(StatusCode::OK);
    let browser = Browser::signed_in(&app).await;
    let preview = browser.page(&address).await;
    assert!(preview.contains("name=\"reason\""));
    let fields = form(&preview);
    let asked = browser.post(&address, &fields).await;
    assert!(asked.body().contains("A change in prod requires a reason."));
    assert_eq!(is_enabled(&admin, &checkout.path).await, true);
    let reverted = browser
        .post(&address, &format!("{fields}&reason=Payments+fail"))
        .await;
    reverted.expect(StatusCode::SEE_OTHER);
    assert_eq!(is_enabled(&admin, &checkout.path).await, false);
    let written = admin.get("/audit?limit=1").await.json();
    assert_eq!(written["items"][0]["reason"], "Payments fail");
    assert_eq!(written["items"][0]["actorIdentity"], EMAIL);
}

#[tokio::test]
async fn at_most_fifty_actions_are_reverted_together() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    for round in 0..51 {
        set_rollout(&admin, &checkout.path, round).await;
    }
    let entries = newest(&admin, 51).await;
    let browser = Browser::signed_in(&app).await;
    let preview = browser.page(&address(&entries)).await;
    assert!(preview.contains("At most 50 actions can be reverted together"));
    let listed = browser.page("/dashboard/incident").await;
    assert!(listed.contains("These are the newest 50 actions."));
    revert(&browser, &entries[..50]).await;
    assert_eq!(percentage(&admin, &checkout.path).await, 0);
}
