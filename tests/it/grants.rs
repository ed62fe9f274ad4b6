//! Grants: roles in single products and environments.

use pennon_tests::{Answer, Browser, Caller, TestApp, UNKNOWN_ID, equals, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// A flag of the product `Shop` with a rule, in the environment `staging` of two.
struct Scene {
    staging: String,
    flag: String,
    rule: String,
}

impl Scene {
    async fn with(admin: &Caller<'_>) -> Self {
        let (staging, _) = admin.environment("Shop", "staging").await;
        admin.environment("Shop", "production").await;
        admin.environment("Blog", "production").await;
        let flag = flag("checkout", &json!(["Shop"]));
        let flag = admin.post("/flags", flag).await;
        let flag = flag.expect(StatusCode::CREATED).text("/id");
        let path = format!("/flags/{flag}/environments/{staging}");
        let rule = admin.rule(&path, rule(1, equals("country", "DE"))).await;
        Self {
            staging,
            flag,
            rule,
        }
    }

    /// Returns every request that a grant can allow, with the grants that suffice.
    fn requests(&self) -> Vec<(&'static str, String, &'static [&'static str])> {
        const FLAG: &[&str] = &["product editor", "product admin"];
        const CONFIGURATION: &[&str] = &["editor", "admin", "product editor", "product admin"];
        const ENVIRONMENT: &[&str] = &["admin", "product admin"];
        let Self {
            staging,
            flag,
            rule,
        } = self;
        let (flag, rule) = (format!("/flags/{flag}"), format!("/rules/{rule}"));
        let pair = format!("{flag}/environments/{staging}");
        let environment = format!("/environments/{staging}");
        vec![
            ("PATCH", flag.clone(), FLAG),
            ("DELETE", flag.clone(), FLAG),
            ("POST", format!("{flag}/restore"), FLAG),
            ("PUT", pair.clone(), CONFIGURATION),
            ("POST", format!("{pair}/copy-from/{staging}"), CONFIGURATION),
            ("POST", format!("{pair}/rules"), CONFIGURATION),
            ("PUT", format!("{pair}/rules/order"), CONFIGURATION),
            ("PUT", rule.clone(), CONFIGURATION),
            ("DELETE", rule, CONFIGURATION),
            ("PUT", format!("{pair}/rollout"), CONFIGURATION),
            ("DELETE", format!("{pair}/rollout"), CONFIGURATION),
            ("PATCH", environment.clone(), ENVIRONMENT),
            ("POST", format!("{environment}/revoke"), ENVIRONMENT),
            ("POST", format!("{environment}/rotate-key"), ENVIRONMENT),
            ("DELETE", format!("{environment}/previous-key"), ENVIRONMENT),
        ]
    }

    /// Returns the grants by the names of [`Self::requests`], and one that allows none of these requests.
    fn grants(&self) -> Vec<(&'static str, Value)> {
        let here = |role| json!([{ "environmentId": self.staging, "role": role }]);
        let product = |product, role| json!([{ "product": product, "role": role }]);
        vec![
            ("editor", here("editor")),
            ("admin", here("admin")),
            ("product editor", product("Shop", "editor")),
            ("product admin", product("Shop", "admin")),
            ("other", product("Blog", "admin")),
        ]
    }
}

fn flag(key: &str, products: &Value) -> Value {
    json!({ "key": key, "name": key, "type": "boolean", "products": products })
}

/// Sends a request with a malformed body and an outdated precondition, so that it changes nothing.
async fn attempt(caller: &Caller<'_>, method: &str, path: &str) -> Answer {
    let method: Method = method.parse().expect("a method");
    let request = caller.request(method.clone(), path);
    let request = request.header("if-match", "\"999999\"");
    let request = if method == Method::DELETE {
        request
    } else {
        request
            .header("content-type", "application/json")
            .body("no JSON")
    };
    caller.send(request).await
}

/// Gives a user only these grants: roles in products.
async fn give(admin: &Caller<'_>, user: &Caller<'_>, grants: &[(&str, &str)]) {
    let grants = grants.iter();
    let grants = grants.map(|(product, role)| json!({ "product": product, "role": role }));
    set_grants(admin, user, &grants.collect()).await;
}

/// Gives a user only these grants, some of which are for environments.
async fn set_grants(admin: &Caller<'_>, user: &Caller<'_>, grants: &Value) {
    let id = user.get("/users/me").await.text("/id");
    let path = format!("/users/{id}");
    let changed = admin.patch(&path, json!({ "grants": grants })).await;
    changed.expect(StatusCode::OK);
}

/// Creates a token of the signed-in user, and returns its secret.
async fn token(user: &Caller<'_>, role: &str, grants: &Value) -> Answer {
    let name: String = grants.to_string().chars().take(60).collect();
    let new = json!({ "name": name, "role": role, "grants": grants });
    user.post("/users/me/tokens", new).await
}

#[tokio::test]
async fn every_request_requires_a_role_for_its_subject() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin).await;
    let editor = app.user("owner@example.com", "editor").await;
    let administrator = app.user("admin2@example.com", "admin").await;
    for (name, grants) in scene.grants() {
        let address = format!("{}@example.com", name.replace(' ', "-"));
        let user = app.user(&address, "viewer").await;
        set_grants(&admin, &user, &grants).await;
        // Tokens of an administrator and of an editor, who may do more everywhere, narrowed to the same grants.
        let owner = if grants.to_string().contains("admin") {
            &administrator
        } else {
            &editor
        };
        let secret = token(owner, "viewer", &grants).await;
        let secret = secret.expect(StatusCode::CREATED).text("/token");
        let narrowed = app.with_token(&secret);
        for caller in [&user, &narrowed] {
            for (method, path, sufficient) in scene.requests() {
                let answer = attempt(caller, method, &path).await;
                let is_allowed = sufficient.contains(&name);
                let is_refused = answer.status == StatusCode::FORBIDDEN;
                assert_eq!(is_refused, !is_allowed, "{method} {path} as {name}");
            }
        }
    }
    let viewer = app.user("viewer@example.com", "viewer").await;
    for (method, path, _) in scene.requests() {
        let missing = path
            .replace(&scene.flag, UNKNOWN_ID)
            .replace(&scene.staging, UNKNOWN_ID)
            .replace(&scene.rule, UNKNOWN_ID);
        let refused = attempt(&viewer, method, &missing).await;
        refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    }
}

#[tokio::test]
async fn a_missing_subject_is_not_found_for_callers_with_a_grant() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin).await;
    let user = app.user("vic@example.com", "viewer").await;
    give(&admin, &user, &[("Shop", "admin")]).await;
    for (method, path, _) in scene.requests() {
        let missing = path
            .replace(&scene.flag, UNKNOWN_ID)
            .replace(&scene.staging, UNKNOWN_ID)
            .replace(&scene.rule, UNKNOWN_ID);
        let answer = attempt(&user, method, &missing).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method} {missing}");
    }
    for path in ["/users", "/audit?include=accounts"] {
        let refused = user.get(path).await;
        refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    }
}

#[tokio::test]
async fn a_flag_requires_the_role_in_its_products_before_and_after() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin).await;
    let user = app.user("vic@example.com", "viewer").await;
    give(&admin, &user, &[("Shop", "editor")]).await;
    let created = user.post("/flags", flag("mine", &json!(["Shop"]))).await;
    created.expect(StatusCode::CREATED);
    for products in [json!(["Blog"]), json!(["Shop", "Blog"]), Value::Null] {
        let refused = user.post("/flags", flag("theirs", &products)).await;
        refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
        let path = format!("/flags/{}", scene.flag);
        let refused = user.patch(&path, json!({ "products": products })).await;
        let refused = refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
        let subject = if products.is_null() {
            "all products"
        } else {
            "the product `Blog`"
        };
        let detail = format!("the role editor is required for {subject}");
        assert_eq!(refused.text("/detail"), detail);
    }
    give(&admin, &user, &[("Shop", "editor"), ("Blog", "editor")]).await;
    let path = format!("/flags/{}", scene.flag);
    let changed = user.patch(&path, json!({ "products": ["Blog"] })).await;
    changed.expect(StatusCode::OK);
    let newest = async || admin.newest_entry().await;
    let revert = async |entry: &str, query: &str| {
        let path = format!("/audit/{entry}/revert{query}");
        user.post(&path, json!({})).await
    };
    let only_blog = [("Blog", "editor")];
    let both = [("Shop", "editor"), ("Blog", "editor")];
    let moved = newest().await;
    give(&admin, &user, &only_blog).await;
    for query in ["", "?dryRun=true"] {
        let refused = revert(&moved, query).await;
        refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    }
    give(&admin, &user, &both).await;
    revert(&moved, "").await.expect(StatusCode::OK);
    give(&admin, &user, &only_blog).await;
    let back = newest().await;
    for query in ["", "?dryRun=true"] {
        let refused = revert(&back, query).await;
        refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    }
}

#[tokio::test]
async fn a_revert_and_its_dry_run_require_the_role_for_their_subject() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin).await;
    let user = app.user("vic@example.com", "viewer").await;
    give(&admin, &user, &[("Blog", "admin")]).await;
    let flag = format!("/flags/{}", scene.flag);
    let pair = format!("{flag}/environments/{}", scene.staging);
    for (method, path, change) in [
        (Method::PATCH, flag, json!({ "name": "Checkout" })),
        (Method::PUT, pair, json!({ "isEnabled": true })),
        (
            Method::PATCH,
            format!("/environments/{}", scene.staging),
            json!({ "name": "test" }),
        ),
    ] {
        let changed = admin.request(method, &path).json(&change);
        assert!(admin.send(changed).await.status.is_success(), "{path}");
        let entry = admin.newest_entry().await;
        for query in ["", "?dryRun=true"] {
            let revert = format!("/audit/{entry}/revert{query}");
            let refused = user.post(&revert, json!({})).await;
            refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
        }
    }
}

#[tokio::test]
async fn an_administrator_of_a_product_creates_environments_in_it() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin).await;
    let user = app.user("vic@example.com", "viewer").await;
    give(&admin, &user, &[("New", "admin"), ("Shop", "editor")]).await;
    user.environment("New", "production").await;
    let elsewhere = json!({ "product": "Shop", "name": "qa" });
    let refused = user.post("/environments", elsewhere).await;
    refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    let staging = format!("/environments/{}", scene.staging);
    let refused = user.patch(&staging, json!({ "name": "mine" })).await;
    refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    let clone = format!("{staging}/clone");
    let refused = user.post(&clone, json!({ "name": "copy" })).await;
    refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    let cloned = user
        .post(&clone, json!({ "name": "copy", "product": "New" }))
        .await;
    cloned.expect(StatusCode::CREATED);
    let misspelled = json!({ "nmae": "copy", "product": "New" });
    let refused = user.post(&clone, misspelled.clone()).await;
    refused.expect_faults(&["/name", "/nmae"]);
    let missing = format!("/environments/{UNKNOWN_ID}/clone");
    let missing = user.post(&missing, misspelled.clone()).await;
    missing.expect_problem(StatusCode::NOT_FOUND, "ENVIRONMENT_NOT_FOUND");
    let editor = app.user("eve@example.com", "editor").await;
    let refused = editor.post(&clone, misspelled).await;
    refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
}

#[tokio::test]
async fn grants_stay_with_an_environment_whose_key_is_rotated() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin).await;
    let user = app.user("vic@example.com", "viewer").await;
    let grants = json!([{ "environmentId": scene.staging, "role": "admin" }]);
    set_grants(&admin, &user, &grants).await;
    let secret = token(&user, "viewer", &grants).await;
    let secret = secret.expect(StatusCode::CREATED).text("/token");
    let script = app.with_token(&secret);
    let path = format!("/users/{}", user.get("/users/me").await.text("/id"));
    let before = admin.get(&path).await.header("etag").to_owned();
    let only_in_a_token = token(&admin, "viewer", &grants).await;
    only_in_a_token.expect(StatusCode::CREATED);
    let tag = async || admin.get("/users/me").await.header("etag").to_owned();
    let unchanged = tag().await;
    let (new, _) = script.rotate_key(&scene.staging).await;
    assert_eq!(tag().await, unchanged);
    let unseen = admin
        .request(Method::PATCH, &path)
        .header("if-match", before);
    let unseen = admin.send(unseen.json(&json!({ "grants": [] }))).await;
    unseen.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
    for caller in [&user, &script] {
        let me = user.get("/users/me").await;
        assert_eq!(me.text("/grants/0/environmentId"), new);
        let pair = format!("/flags/{}/environments/{new}", scene.flag);
        let switched = caller.put(&pair, json!({ "isEnabled": true })).await;
        switched.expect(StatusCode::NO_CONTENT);
    }
}

#[tokio::test]
async fn a_reverted_grant_is_for_the_environment_with_the_new_key() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin).await;
    let user = app.user("vic@example.com", "viewer").await;
    let grants = json!([{ "environmentId": scene.staging, "role": "admin" }]);
    set_grants(&admin, &user, &grants).await;
    give(&admin, &user, &[]).await;
    let mut new = scene.staging;
    for _ in 0..2 {
        new = admin.rotate_key(&new).await.0;
    }
    let entries = admin
        .get("/audit?include=accounts&action=USER_UPDATED")
        .await;
    let entry = entries.expect(StatusCode::OK).text("/items/0/id");
    let reverted = admin
        .post(&format!("/audit/{entry}/revert"), json!({}))
        .await;
    reverted.expect(StatusCode::OK);
    let me = user.get("/users/me").await;
    assert_eq!(me.text("/grants/0/environmentId"), new);

    give(&admin, &user, &[]).await;
    admin.revoke(&new).await;
    let refused = admin
        .post(&format!("/audit/{entry}/revert"), json!({}))
        .await;
    refused.expect_problem(StatusCode::CONFLICT, "ENVIRONMENT_REVOKED");
}

#[tokio::test]
async fn invalid_and_excessive_grants_are_refused() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin).await;
    let user = app.user("vic@example.com", "viewer").await;
    let id = user.get("/users/me").await.text("/id");
    let path = format!("/users/{id}");
    for (grants, pointer) in [
        (json!([{ "role": "editor" }]), "/grants/0/product"),
        (
            json!([{ "product": "Shop", "role": "viewer" }]),
            "/grants/0/role",
        ),
        (
            json!([{ "environmentId": UNKNOWN_ID, "role": "editor" }]),
            "/grants/0/environmentId",
        ),
        (
            json!([{ "product": "Shop", "environmentId": scene.staging, "role": "editor" }]),
            "/grants/0/environmentId",
        ),
        (
            json!([{ "product": "Shop", "role": "editor" }, { "product": "Shop", "role": "admin" }]),
            "/grants",
        ),
    ] {
        let refused = admin.patch(&path, json!({ "grants": grants })).await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(refused.text("/errors/0/pointer"), pointer);
    }
    let grants = json!([{ "product": "Shop", "role": "editor" }]);
    let refused = user.patch(&path, json!({ "grants": grants })).await;
    refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    let refused = token(&user, "viewer", &grants).await;
    refused.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
    let (old, _) = admin.environment("Shop", "old").await;
    let former = json!([{ "environmentId": old, "role": "editor" }]);
    set_grants(&admin, &user, &former).await;
    admin.revoke(&old).await;
    for environment in [UNKNOWN_ID, &old] {
        let grants = json!([{ "environmentId": environment, "role": "editor" }]);
        let refused = token(&admin, "viewer", &grants).await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(refused.text("/errors/0/pointer"), "/grants/0/environmentId");
    }
    // A grant for an environment that has been revoked since may stay, but none is given anew.
    let kept = json!([{ "environmentId": old, "role": "editor" }, { "product": "Blog", "role": "editor" }]);
    set_grants(&admin, &user, &kept).await;
    let given = admin
        .get("/audit?include=accounts&limit=1")
        .await
        .text("/items/0/id");
    let reverted = admin
        .post(&format!("/audit/{given}/revert"), json!({}))
        .await;
    reverted.expect(StatusCode::OK);
    let grants_left = admin.get(&path).await.json()["grants"].take();
    assert_eq!(grants_left[0]["environmentId"], json!(old));
    assert_eq!(grants_left[1], Value::Null);
    give(&admin, &user, &[]).await;
    let refused = admin.patch(&path, json!({ "grants": former })).await;
    refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    give(&admin, &user, &[("Shop", "editor")]).await;
    token(&user, "viewer", &grants)
        .await
        .expect(StatusCode::CREATED);
    // A token never outlives the rights of its owner, and a change is recorded.
    give(&admin, &user, &[]).await;
    let entry = admin.get("/audit?include=accounts&limit=1").await;
    assert_eq!(entry.text("/items/0/action"), "USER_UPDATED");
    assert_eq!(entry.text("/items/0/oldValue/grants/0/product"), "Shop");
}

#[tokio::test]
async fn the_dashboard_offers_to_revert_only_what_the_role_allows() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let everywhere = admin.flag("everywhere").await;
    let (shop, _) = admin.environment("Shop", "production").await;
    let (blog, _) = admin.environment("Blog", "production").await;
    for environment in [&shop, &blog] {
        admin.switch(&everywhere, environment, true).await;
    }
    let own = flag("own", &json!(["Shop"]));
    admin.post("/flags", own).await.expect(StatusCode::CREATED);
    let renamed = format!("/environments/{shop}");
    let renamed = admin.patch(&renamed, json!({ "name": "live" })).await;
    renamed.expect(StatusCode::OK);
    let eve = app.user("eve@example.com", "viewer").await;
    give(&admin, &eve, &[("Shop", "editor")]).await;

    let browser = Browser::signed_in_as(&app, "eve@example.com").await;
    let page = browser.page("/dashboard/audit").await;
    let entries = admin.get("/audit").await.items();
    let offered = entries.iter().filter(|entry| {
        let id = entry["id"].as_str().expect("an ID");
        page.contains(&format!("href=\"/dashboard/audit/{id}"))
    });
    let offers: Vec<_> = offered
        .map(|entry| (&entry["flagKey"], &entry["product"]))
        .collect();
    assert_eq!(
        offers,
        [
            (&json!("own"), &Value::Null),
            (&json!("everywhere"), &json!("Shop"))
        ]
    );
}
