//! The products of flags: a flag exists only in the environments of its products.

use pennon_tests::{Answer, Browser, Caller, TestApp, equals, eventually, rollout, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// An application with the environments `Shop`/`prod` and `Blog`/`prod`, and a flag.
struct Scene {
    flag: String,
    shop: Place,
    blog: Place,
}

/// An environment.
struct Place {
    environment: String,
    sdk_key: String,
}

impl Scene {
    /// Creates the environments and the flag `checkout` with these products.
    async fn with(admin: &Caller<'_>, products: Value) -> Self {
        let place = async |product: &str| {
            let (environment, sdk_key) = admin.environment(product, "prod").await;
            Place {
                environment,
                sdk_key,
            }
        };
        let (shop, blog) = (place("Shop").await, place("Blog").await);
        let new = json!({ "key": "checkout", "name": "Checkout", "type": "boolean", "products": products });
        let created = admin.post("/flags", new).await;
        Self {
            flag: created.expect(StatusCode::CREATED).text("/id"),
            shop,
            blog,
        }
    }

    fn path(&self) -> String {
        format!("/flags/{}", self.flag)
    }

    /// Returns the path of the flag in an environment.
    fn within(&self, place: &Place) -> String {
        format!("/flags/{}/environments/{}", self.flag, place.environment)
    }

    /// Changes the products of the flag.
    async fn limit(&self, admin: &Caller<'_>, products: Value) -> Answer {
        let body = json!({ "products": products });
        admin.patch(&self.path(), body).await
    }
}

fn rule_for_germany() -> Value {
    rule(1, equals("country", "DE"))
}

/// Returns the keys in the config document.
async fn served(app: &TestApp, place: &Place) -> Vec<String> {
    let document = app.sdk(&place.sdk_key).get("/sdk/v1/config").await;
    let document = document.expect(StatusCode::OK).json();
    let flags = document["flags"].as_array().cloned().unwrap_or_default();
    let key = |flag: &Value| flag["key"].as_str().unwrap_or_default().to_owned();
    flags.iter().map(key).collect()
}

async fn evaluate(app: &TestApp, place: &Place) -> Answer {
    app.sdk(&place.sdk_key).evaluate("checkout").await
}

/// Checks that an environment has no trace of the flag for its applications.
async fn expect_absent(app: &TestApp, place: &Place) {
    let sdk = app.sdk(&place.sdk_key);
    assert_eq!(served(app, place).await, [""; 0]);
    let filtered = sdk.get("/sdk/v1/config?keys[]=checkout").await;
    assert_eq!(filtered.json()["flags"], json!([]));
    let not_found = evaluate(app, place).await;
    not_found.expect_problem(StatusCode::NOT_FOUND, "FLAG_NOT_FOUND");
    let explained = sdk
        .post("/sdk/v1/explain", json!({ "flagKey": "checkout" }))
        .await;
    explained.expect_problem(StatusCode::NOT_FOUND, "FLAG_NOT_FOUND");
    let batch = json!({ "evaluations": [{ "flagKey": "checkout" }] });
    let batch = sdk.post("/sdk/v1/evaluate/batch", batch).await;
    let off = json!([{ "enabled": false, "reason": "flag_disabled" }]);
    assert_eq!(batch.expect(StatusCode::OK).json(), off);
    let ofrep = sdk
        .post("/ofrep/v1/evaluate/flags/checkout", json!({}))
        .await;
    assert_eq!(ofrep.status, StatusCode::NOT_FOUND);
    let bulk = sdk.post("/ofrep/v1/evaluate/flags", json!({})).await;
    assert_eq!(bulk.expect(StatusCode::OK).json()["flags"], json!([]));
}

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
    let entries = admin.get("/audit?limit=3").await.json();
    let mut entries = entries["items"].as_array().cloned().unwrap_or_default();
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
async fn every_invalid_product_is_reported() {
    let app = TestApp::with_settings(&["--products", "Shop,Blog"]).await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, json!(null)).await;
    let many: Vec<String> = (0..101).map(|number| format!("P{number}")).collect();
    for (products, faults) in [
        (json!([]), vec!["/products"]),
        (json!("Shop"), vec!["/products"]),
        (json!(many), vec!["/products"]),
        (
            json!(["Shop", " ", 5, "a\nb"]),
            vec!["/products/1", "/products/2", "/products/3"],
        ),
        (
            json!(["Shop", "Sohp", "Blgo"]),
            vec!["/products", "/products"],
        ),
        (json!(["Shop\u{200b}"]), vec!["/products"]),
    ] {
        let new = json!({ "key": "x", "name": "X", "type": "boolean", "products": products });
        for answer in [
            admin.post("/flags", new).await,
            scene.limit(&admin, products.clone()).await,
        ] {
            let answer = answer.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
            assert_eq!(answer.faults(), faults, "{products}");
        }
    }
    let force = json!({ "force": "yes" });
    let answer = admin.patch(&scene.path(), force).await;
    let answer = answer.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    assert_eq!(answer.faults(), ["/force"]);
}

#[tokio::test]
async fn a_flag_keeps_a_product_that_the_settings_no_longer_list() {
    let app = TestApp::with_settings(&["--products", "shop"]).await;
    let unlimited = app.beside().await;
    let new =
        json!({ "key": "checkout", "name": "Checkout", "type": "boolean", "products": ["blog"] });
    let created = unlimited.admin().await.post("/flags", new).await;
    let path = format!("/flags/{}", created.expect(StatusCode::CREATED).text("/id"));
    let admin = app.admin().await;
    let both = json!({ "products": ["blog", "shop"] });
    let joined = admin.patch(&path, both).await;
    joined.expect(StatusCode::OK);
    let other = json!({ "products": ["blog", "attic"] });
    let refused = admin.patch(&path, other).await;
    let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    assert_eq!(refused.faults(), ["/products"]);
}

#[tokio::test]
async fn a_product_without_an_environment_is_accepted_with_a_warning() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, json!(["Blog"])).await;
    let limited = scene.limit(&admin, json!(["Blog", "Forum"])).await;
    let limited = limited.expect(StatusCode::OK).json();
    assert_eq!(
        limited["warnings"],
        json!([{
            "detail": "No active environment belongs to the product `Forum`, so the flag is not configured there yet.",
            "product": "Forum",
        }])
    );
    let (_, sdk_key) = admin.environment("Forum", "prod").await;
    let forum = Place {
        environment: String::new(),
        sdk_key,
    };
    assert_eq!(served(&app, &forum).await, ["checkout"]);
    let limited = scene.limit(&admin, json!(["Forum"])).await.json();
    assert_eq!(limited["warnings"], json!(null));
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
