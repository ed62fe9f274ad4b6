//! Changes of the products of a flag, and their reverts.

use pennon_tests::{Browser, TestApp, eventually};
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{Scene, evaluate, expect_absent, rule_for_germany, served};

#[tokio::test]
async fn a_flag_that_returns_has_its_configuration_and_is_off() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, json!(null)).await;
    let path = scene.within(&scene.shop);
    let rule_path = format!("/rules/{}", admin.rule(&path, rule_for_germany()).await);
    admin.rollout(&path, 30).await;
    let configured = json!({ "isEnabled": true, "ttlOverrideSeconds": 9 });
    let configured = admin.put(&path, configured).await;
    configured.expect(StatusCode::NO_CONTENT);
    let before = admin.get(&path).await.header("etag").to_owned();

    let forced = json!({ "products": ["Blog"], "force": true });
    let forced = admin.patch(&scene.path(), forced).await;
    assert_eq!(
        forced.expect(StatusCode::OK).json()["products"],
        json!(["Blog"])
    );
    expect_absent(&app, &scene.shop).await;
    assert_eq!(served(&app, &scene.blog).await, ["checkout"]);
    for (method, body) in [
        (Method::PUT, rule_for_germany()),
        (Method::DELETE, json!(null)),
    ] {
        let request = admin.request(method, &rule_path).json(&body);
        let answer = admin.send(request).await;
        answer.expect_problem(StatusCode::NOT_FOUND, "RULE_NOT_FOUND");
    }

    let everywhere = scene.limit(&admin, json!(null)).await;
    everywhere.expect(StatusCode::OK);
    let configuration = admin.get(&path).await.expect(StatusCode::OK);
    assert_ne!(configuration.header("etag"), before);
    let configuration = configuration.json();
    assert_eq!(configuration["isEnabled"], false);
    assert_eq!(configuration["ttlOverrideSeconds"], 9);
    let rules = admin.get(&format!("{path}/rules")).await.json();
    assert_eq!(
        format!("/rules/{}", rules[0]["id"].as_str().unwrap_or_default()),
        rule_path
    );
    let rollout = admin.get(&format!("{path}/rollout")).await.json();
    assert_eq!(rollout["percentage"], 30);
    let off = evaluate(&app, &scene.shop).await.json();
    assert_eq!(off, json!({ "enabled": false, "reason": "flag_disabled" }));
    admin
        .put(&rule_path, rule_for_germany())
        .await
        .expect(StatusCode::OK);
}

#[tokio::test]
async fn leaving_an_environment_in_which_the_flag_is_on_requires_force() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, json!(null)).await;
    admin
        .switch(&scene.flag, &scene.shop.environment, true)
        .await;
    admin
        .switch(&scene.flag, &scene.blog.environment, true)
        .await;
    let before = admin.audited().await;
    for body in [
        json!({ "products": ["Blog"] }),
        json!({ "products": ["Blog"], "force": false }),
    ] {
        let refused = admin.patch(&scene.path(), body).await;
        let refused = refused.expect_problem(StatusCode::CONFLICT, "FLAG_ENABLED");
        let detail = refused.text("/detail");
        assert!(
            detail.contains("Shop/prod") && !detail.contains("Blog/prod"),
            "{detail}"
        );
    }
    assert_eq!(admin.audited().await, before);
    let everywhere = evaluate(&app, &scene.shop).await.json();
    assert_eq!(everywhere["enabled"], true);

    let forced = json!({ "products": ["Blog"], "force": true });
    let forced = admin.patch(&scene.path(), forced).await;
    forced.expect(StatusCode::OK);
    expect_absent(&app, &scene.shop).await;
    assert_eq!(evaluate(&app, &scene.blog).await.json()["enabled"], true);
}

#[tokio::test]
async fn a_change_of_products_is_one_action_with_an_entry_for_each_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, json!(["Blog"])).await;
    admin
        .switch(&scene.flag, &scene.blog.environment, true)
        .await;
    let moved = json!({ "products": ["Shop"], "force": true });
    admin
        .patch(&scene.path(), moved)
        .await
        .expect(StatusCode::OK);
    let mut entries = admin.get("/audit?limit=3").await.items();
    entries.sort_by_key(|entry| entry["product"].as_str().unwrap_or_default().to_owned());
    let groups: Vec<_> = entries.iter().map(|entry| &entry["groupId"]).collect();
    assert_eq!(groups, [groups[0]; 3]);
    let [flag, left, joined] = &entries[..] else {
        panic!("{entries:?}");
    };
    assert_eq!(flag["action"], "FLAG_UPDATED");
    assert_eq!(flag["oldValue"]["products"], json!(["Blog"]));
    assert_eq!(flag["newValue"]["products"], json!(["Shop"]));
    for entry in [left, joined] {
        assert_eq!(entry["action"], "FLAG_ENVIRONMENT_UPDATED");
        assert_eq!(entry["flagKey"], "checkout");
    }
    assert_eq!(left["product"], "Blog");
    assert_eq!(left["oldValue"]["isEnabled"], true);
    assert_eq!(left["newValue"], json!(null));
    assert_eq!(joined["product"], "Shop");
    assert_eq!(joined["oldValue"], json!(null));
    assert_eq!(joined["newValue"]["isEnabled"], false);
    let again = scene.limit(&admin, json!(["Shop"])).await;
    again.expect(StatusCode::OK);
    let newest = admin.get("/audit?limit=1").await.json();
    assert_eq!(newest["items"][0]["groupId"], *groups[0]);
}

#[tokio::test]
async fn a_revert_restores_the_products_and_the_switch() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, json!(null)).await;
    let path = scene.within(&scene.shop);
    admin.rule(&path, rule_for_germany()).await;
    admin
        .switch(&scene.flag, &scene.shop.environment, true)
        .await;
    let forced = json!({ "products": ["Blog"], "force": true });
    let forced = admin.patch(&scene.path(), forced).await;
    forced.expect(StatusCode::OK);
    let browser = Browser::signed_in(&app).await;
    let limited = browser.revert_newest(&admin).await;
    limited.expect(StatusCode::SEE_OTHER);
    let flag = admin.get(&scene.path()).await.json();
    assert_eq!(flag["products"], json!(null));
    assert_eq!(admin.get(&path).await.json()["isEnabled"], true);
    let answer = app.sdk(&scene.shop.sdk_key);
    let answer = answer
        .post(
            "/sdk/v1/evaluate",
            json!({ "flagKey": "checkout", "context": { "country": "DE" } }),
        )
        .await;
    assert_eq!(answer.json()["reason"], "targeting_rule");

    // The revert is an action that can be reverted. The flag is turned off before it leaves.
    let again = browser.revert_newest(&admin).await;
    again.expect(StatusCode::SEE_OTHER);
    let flag = admin.get(&scene.path()).await.json();
    assert_eq!(flag["products"], json!(["Blog"]));
}

#[tokio::test]
async fn a_change_in_an_environment_that_the_flag_has_left_cannot_be_reverted() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, json!(null)).await;
    admin
        .switch(&scene.flag, &scene.shop.environment, true)
        .await;
    let switch = admin.newest_entry().await;
    admin
        .switch(&scene.flag, &scene.shop.environment, false)
        .await;
    let off = admin.newest_entry().await;
    scene
        .limit(&admin, json!(["Blog"]))
        .await
        .expect(StatusCode::OK);
    let browser = Browser::signed_in(&app).await;
    let page = browser.page(&format!("/dashboard/audit/{off}")).await;
    assert!(
        page.contains("no longer configured in this environment"),
        "{page}"
    );
    let refused = browser.revert(&off).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    // It is already off, so this changes nothing.
    let refused = browser.revert(&switch).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn all_instances_follow_a_change_of_products() {
    let one = TestApp::start().await;
    let other = one.beside().await;
    other.watch();
    let admin = one.admin().await;
    let scene = Scene::with(&admin, json!(null)).await;
    eventually("the other instance has the flag", async || {
        evaluate(&other, &scene.shop).await.status.is_success()
    })
    .await;
    let limited = scene.limit(&admin, json!(["Blog"])).await;
    limited.expect(StatusCode::OK);
    eventually("the flag is gone in one product", async || {
        evaluate(&other, &scene.shop).await.status == StatusCode::NOT_FOUND
    })
    .await;
    assert!(evaluate(&other, &scene.blog).await.status.is_success());
}
