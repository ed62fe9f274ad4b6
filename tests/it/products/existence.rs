//! Where a flag exists, for applications and in the API.

use pennon_tests::{TestApp, rollout};
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{Place, Scene, evaluate, expect_absent, rule_for_germany, served};

#[tokio::test]
async fn a_flag_is_configured_in_every_product_unless_it_names_some() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, json!(null)).await;
    let flag = admin.get(&scene.path()).await.json();
    assert_eq!(flag["products"], json!(null));
    for place in [&scene.shop, &scene.blog] {
        assert_eq!(served(&app, place).await, ["checkout"]);
    }
    let named = json!({ "key": "banner", "name": "Banner", "type": "boolean", "products": ["Shop", "Blog", "Shop"] });
    let created = admin
        .post("/flags", named)
        .await
        .expect(StatusCode::CREATED);
    let created = created.json();
    assert_eq!(created["products"], json!(["Blog", "Shop"]));
    assert_eq!(created["warnings"], json!(null));
}

#[tokio::test]
async fn a_flag_does_not_exist_outside_its_products() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, json!(["Blog"])).await;
    assert_eq!(served(&app, &scene.blog).await, ["checkout"]);
    expect_absent(&app, &scene.shop).await;

    let (here, shop, blog) = (
        scene.within(&scene.shop),
        &scene.shop.environment,
        &scene.blog.environment,
    );
    let there = scene.within(&scene.blog);
    for (method, path, body) in [
        (Method::GET, here.clone(), json!(null)),
        (Method::PUT, here.clone(), json!({ "isEnabled": true })),
        (Method::GET, format!("{here}/rules"), json!(null)),
        (Method::POST, format!("{here}/rules"), rule_for_germany()),
        (
            Method::PUT,
            format!("{here}/rules/order"),
            json!({ "ruleIds": [] }),
        ),
        (Method::GET, format!("{here}/rollout"), json!(null)),
        (Method::PUT, format!("{here}/rollout"), rollout(5)),
        (Method::DELETE, format!("{here}/rollout"), json!(null)),
        (Method::POST, format!("{here}/copy-from/{blog}"), json!({})),
        (Method::POST, format!("{there}/copy-from/{shop}"), json!({})),
        (Method::POST, format!("{here}/explain"), json!({})),
    ] {
        let request = admin.request(method.clone(), &path);
        let request = if body.is_null() || body == json!({}) && path.contains("copy-from") {
            request
        } else {
            request.json(&body)
        };
        let answer = admin.send(request).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method} {path}");
        answer.expect_problem(StatusCode::NOT_FOUND, "CONFIGURATION_NOT_FOUND");
    }
    let created = admin.environment("Shop", "staging").await;
    let staging = Place {
        environment: created.0,
        sdk_key: created.1,
    };
    expect_absent(&app, &staging).await;
    admin
        .get(&scene.within(&staging))
        .await
        .expect_problem(StatusCode::NOT_FOUND, "CONFIGURATION_NOT_FOUND");
    let (_, sdk_key) = admin.environment("Blog", "staging").await;
    let staging = Place {
        environment: String::new(),
        sdk_key,
    };
    assert_eq!(served(&app, &staging).await, ["checkout"]);
}

#[tokio::test]
async fn lists_are_filtered_by_product() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    Scene::with(&admin, json!(["Blog"])).await;
    admin.flag("everywhere").await;
    let shop = json!({ "key": "cart", "name": "Cart", "type": "boolean", "products": ["Shop"] });
    let created = admin.post("/flags", shop).await;
    created.expect(StatusCode::CREATED);
    for (query, keys) in [
        ("?sort=key&product=Blog", vec!["checkout", "everywhere"]),
        ("?sort=key&product=Shop", vec!["cart", "everywhere"]),
        ("?product=blog", vec!["everywhere"]),
        ("?product=%00", vec!["everywhere"]),
        ("?sort=key", vec!["cart", "checkout", "everywhere"]),
    ] {
        let list = admin.get(&format!("/flags{query}")).await;
        let list = list.expect(StatusCode::OK).json();
        let items = list["items"].as_array().cloned().unwrap_or_default();
        let found: Vec<_> = items.iter().map(|flag| flag["key"].clone()).collect();
        assert_eq!(found, keys, "{query}");
        assert_eq!(list["pagination"]["total"], keys.len(), "{query}");
    }
    let environments = admin.get("/environments?product=Shop").await.json();
    assert_eq!(environments["pagination"]["total"], 1);
    let audited = admin.get("/audit?product=Shop").await.json();
    assert_eq!(audited["pagination"]["total"], 1);
}

#[tokio::test]
async fn an_archived_flag_is_known_only_in_its_products() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, json!(["Blog"])).await;
    admin
        .delete(&scene.path())
        .await
        .expect(StatusCode::NO_CONTENT);
    let archived = json!({ "enabled": false, "reason": "flag_archived" });
    assert_eq!(evaluate(&app, &scene.blog).await.json(), archived);
    expect_absent(&app, &scene.shop).await;
    let refused = scene.limit(&admin, json!(null)).await;
    refused.expect_problem(StatusCode::CONFLICT, "FLAG_ARCHIVED");
    // These environments have no configuration of the flag.
    for (product, is_known) in [("Blog", true), ("Shop", false)] {
        let (_, sdk_key) = admin.environment(product, "new").await;
        let place = Place {
            environment: String::new(),
            sdk_key,
        };
        if is_known {
            assert_eq!(evaluate(&app, &place).await.json(), archived);
        } else {
            expect_absent(&app, &place).await;
        }
    }
    let restored = admin.request(Method::POST, &format!("{}/restore", scene.path()));
    admin.send(restored).await.expect(StatusCode::OK);
    assert_eq!(served(&app, &scene.blog).await, ["checkout"]);
    expect_absent(&app, &scene.shop).await;
}

#[tokio::test]
async fn a_rotation_keeps_hidden_configurations() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, json!(null)).await;
    admin
        .rule(&scene.within(&scene.shop), rule_for_germany())
        .await;
    let limited = scene.limit(&admin, json!(["Blog"])).await;
    limited.expect(StatusCode::OK);
    let (environment, sdk_key) = admin.rotate_key(&scene.shop.environment).await;
    let shop = Place {
        environment,
        sdk_key,
    };
    expect_absent(&app, &shop).await;
    let everywhere = scene.limit(&admin, json!(null)).await;
    everywhere.expect(StatusCode::OK);
    let rules = admin.get(&format!("{}/rules", scene.within(&shop))).await;
    let rules = rules.expect(StatusCode::OK).json();
    assert_eq!(rules.as_array().map(Vec::len), Some(1));
    assert_eq!(served(&app, &shop).await, ["checkout"]);
}

#[tokio::test]
async fn clients_of_unaffected_environments_notice_nothing() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, json!(["Blog"])).await;
    let shop = app.sdk(&scene.shop.sdk_key);
    let tag = shop.get("/sdk/v1/config").await.header("etag").to_owned();
    admin
        .switch(&scene.flag, &scene.blog.environment, true)
        .await;
    admin
        .switch(&scene.flag, &scene.blog.environment, false)
        .await;
    let archived = admin.delete(&scene.path()).await;
    archived.expect(StatusCode::NO_CONTENT);
    let request = shop.request(Method::GET, "/sdk/v1/config");
    let unchanged = shop.send(request.header("if-none-match", tag)).await;
    assert_eq!(unchanged.status, StatusCode::NOT_MODIFIED);
}
