//! Public environments: only public flags exist in them, and their SDK keys need not reveal rules.

use pennon_tests::{Answer, Browser, Caller, TestApp, description, equals, eventually, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// An application with a public environment and a server environment of one product, and two flags that are on.
struct Scene {
    web: Place,
    server: Place,
    /// The flag `banner`, which is public and has a rule and a rollout.
    banner: String,
    /// The flag `secret`, which is not public.
    secret: String,
}

/// An environment.
struct Place {
    id: String,
    sdk_key: String,
}

/// A text that only rules contain.
const TENANT: &str = "acme-confidential";

impl Scene {
    /// Creates the scene, with these client rules in the public environment.
    async fn with(admin: &Caller<'_>, client_rules: &str) -> Self {
        let web = json!({
            "product": "Shop", "name": "web", "visibility": "public", "clientRules": client_rules,
        });
        let web = create_environment(admin, web).await;
        let server = create_environment(admin, json!({ "product": "Shop", "name": "api" })).await;
        let banner =
            json!({ "key": "banner", "name": "Banner", "type": "boolean", "public": true });
        let banner = admin.post("/flags", banner).await;
        let banner = banner.expect(StatusCode::CREATED).text("/id");
        let secret = admin.flag("secret").await;
        let scene = Self {
            web,
            server,
            banner,
            secret,
        };
        admin.switch(&scene.banner, &scene.web.id, true).await;
        admin.switch(&scene.secret, &scene.server.id, true).await;
        let path = within(&scene.banner, &scene.web);
        admin.rule(&path, rule(1, equals("tenantId", TENANT))).await;
        admin.rollout(&path, 37).await;
        scene
    }
}

async fn create_environment(admin: &Caller<'_>, body: Value) -> Place {
    let created = admin.post("/environments", body).await;
    let created = created.expect(StatusCode::CREATED);
    Place {
        id: created.text("/id"),
        sdk_key: created.text("/sdkKey"),
    }
}

/// Returns the path of a flag in an environment.
fn within(flag: &str, place: &Place) -> String {
    format!("/flags/{flag}/environments/{}", place.id)
}

async fn evaluate_all(app: &TestApp, place: &Place, body: Value) -> Answer {
    let sdk = app.sdk(&place.sdk_key);
    sdk.post("/sdk/v1/evaluate/all", body).await
}

/// Returns the keys of the flags that an SDK key reveals.
async fn keys(app: &TestApp, place: &Place) -> Vec<String> {
    let all = evaluate_all(app, place, json!({})).await;
    let all = all.expect(StatusCode::OK).json();
    let flags = all["flags"].as_array().cloned().unwrap_or_default();
    let key = |flag: &Value| flag["key"].as_str().unwrap_or_default().to_owned();
    flags.iter().map(key).collect()
}

#[tokio::test]
async fn a_public_environment_has_a_key_of_its_own_kind() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let new = json!({ "product": "Shop", "name": "web", "visibility": "public" });
    let created = admin.post("/environments", new).await;
    let created = created.expect(StatusCode::CREATED);
    let key = created.text("/sdkKey");
    assert!(key.starts_with("pnp_") && key.len() == 47, "{key}");
    let environment = created.json();
    assert_eq!(environment["visibility"], "public");
    assert_eq!(environment["clientRules"], "full");
    assert_eq!(environment["sdkKeyPrefix"], key[..12]);
    let with_sdk_key = app.sdk(&key).get("/flags").await;
    with_sdk_key.expect_problem(StatusCode::FORBIDDEN, "WRONG_CREDENTIAL");
    let unknown = app.sdk("pnp_unknown").get("/sdk/v1/config").await;
    assert_eq!(
        unknown.bytes,
        app.sdk("pnk_unknown").get("/sdk/v1/config").await.bytes
    );
    let audit = admin.get("/audit").await;
    assert_eq!(audit.json()["items"][0]["newValue"]["visibility"], "public");
    assert!(!audit.body().contains(&key));
    admin.environment("Shop", "api").await;
    for (visibility, name) in [("public", "web"), ("server", "api")] {
        let list = admin
            .get(&format!("/environments?visibility={visibility}"))
            .await
            .json();
        assert_eq!(list["pagination"]["total"], 1);
        assert_eq!(list["items"][0]["name"], name);
    }
}

#[tokio::test]
async fn invalid_visibilities_and_client_rules_are_refused() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for (visibility, client_rules, faults) in [
        (json!("secret"), json!("full"), ["/visibility"].as_slice()),
        (json!("public"), json!(true), &["/clientRules"]),
        (json!(null), json!("none"), &["/clientRules", "/visibility"]),
        (json!("server"), json!("answers"), &["/clientRules"]),
    ] {
        let new = json!({
            "product": "Shop", "name": "web", "visibility": visibility, "clientRules": client_rules,
        });
        let refused = admin.post("/environments", new).await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        let mut found = refused.faults();
        found.sort();
        assert_eq!(found, faults);
    }
    let (id, _) = admin.environment("Shop", "api").await;
    let answers = json!({ "clientRules": "answers" });
    let refused = admin.patch(&format!("/environments/{id}"), answers).await;
    refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
}

#[tokio::test]
async fn the_visibility_never_changes() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, "full").await;
    let before = admin.audited().await;
    for (place, visibility) in [(&scene.web, "server"), (&scene.server, "public")] {
        let path = format!("/environments/{}", place.id);
        let changed = json!({ "name": "other", "visibility": visibility });
        let refused = admin.patch(&path, changed).await;
        refused.expect_problem(StatusCode::CONFLICT, "VISIBILITY_FIXED");
        let current = admin.get(&path).await.text("/visibility");
        let unchanged = admin.patch(&path, json!({ "visibility": current })).await;
        unchanged.expect(StatusCode::OK);
    }
    assert_eq!(admin.audited().await, before);
}

#[tokio::test]
async fn a_flag_that_is_not_public_does_not_exist_in_a_public_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, "full").await;
    let sdk = app.sdk(&scene.web.sdk_key);
    assert_eq!(keys(&app, &scene.web).await, ["banner"]);
    assert_eq!(keys(&app, &scene.server).await, ["banner", "secret"]);
    let config = sdk.get("/sdk/v1/config").await.expect(StatusCode::OK);
    assert!(!config.body().contains("secret"));
    let question = json!({ "flagKey": "secret" });
    for path in ["/sdk/v1/evaluate", "/sdk/v1/explain"] {
        let answer = sdk.post(path, question.clone()).await;
        answer.expect_problem(StatusCode::NOT_FOUND, "FLAG_NOT_FOUND");
    }
    let batch = json!({ "evaluations": [question] });
    let batch = sdk.post("/sdk/v1/evaluate/batch", batch).await;
    let off = json!([{ "enabled": false, "reason": "flag_disabled" }]);
    assert_eq!(batch.expect(StatusCode::OK).json(), off);
    let configuration = admin.get(&within(&scene.secret, &scene.web)).await;
    configuration.expect_problem(StatusCode::NOT_FOUND, "CONFIGURATION_NOT_FOUND");
    let later = json!({ "product": "Shop", "name": "app", "visibility": "public" });
    let later = create_environment(&admin, later).await;
    assert_eq!(keys(&app, &later).await, ["banner"]);
    for (public, key) in [("true", "banner"), ("false", "secret")] {
        let list = admin.get(&format!("/flags?public={public}")).await.json();
        assert_eq!(list["pagination"]["total"], 1);
        assert_eq!(list["items"][0]["key"], key);
    }
}

#[tokio::test]
async fn a_flag_leaves_public_environments_like_a_product_and_returns_off() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, "full").await;
    let path = format!("/flags/{}", scene.banner);
    let private = json!({ "public": false });
    let refused = admin.patch(&path, private.clone()).await;
    let refused = refused.expect_problem(StatusCode::CONFLICT, "FLAG_ENABLED");
    let detail = refused.text("/detail");
    assert!(detail.contains("Shop/web") && !detail.contains("Shop/api"));
    let forced = admin
        .patch(&path, json!({ "public": false, "force": true }))
        .await;
    assert_eq!(forced.expect(StatusCode::OK).json()["public"], false);
    assert_eq!(keys(&app, &scene.web).await, [""; 0]);
    let entries = admin.get("/audit?limit=2").await.json();
    let actions: Vec<_> = [0, 1]
        .map(|index| &entries["items"][index]["action"])
        .into();
    assert_eq!(actions, ["FLAG_ENVIRONMENT_UPDATED", "FLAG_UPDATED"]);
    assert_eq!(
        entries["items"][0]["groupId"],
        entries["items"][1]["groupId"]
    );

    let public = admin.patch(&path, json!({ "public": true })).await;
    public.expect(StatusCode::OK);
    assert_eq!(keys(&app, &scene.web).await, ["banner"]);
    let configuration = admin.get(&within(&scene.banner, &scene.web)).await;
    assert_eq!(configuration.json()["isEnabled"], false);
    let rules = format!("{}/rules", within(&scene.banner, &scene.web));
    assert_eq!(admin.get(&rules).await.json()[0]["priority"], 1);
}

#[tokio::test]
async fn a_revert_makes_a_flag_public_again_and_restores_its_switch() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, "full").await;
    let forced = json!({ "public": false, "force": true });
    let forced = admin
        .patch(&format!("/flags/{}", scene.banner), forced)
        .await;
    forced.expect(StatusCode::OK);
    let browser = Browser::signed_in(&app).await;
    let reverted = browser.revert_newest(&admin).await;
    reverted.expect(StatusCode::SEE_OTHER);
    let configuration = admin.get(&within(&scene.banner, &scene.web)).await;
    assert_eq!(configuration.json()["isEnabled"], true);
}

#[tokio::test]
async fn a_rotation_keeps_the_visibility_and_the_client_rules() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, "answers").await;
    let rotate = format!("/environments/{}/rotate-key", scene.web.id);
    let rotated = admin.send(admin.request(Method::POST, &rotate)).await;
    let rotated = rotated.expect(StatusCode::CREATED);
    assert_eq!(rotated.text("/visibility"), "public");
    assert_eq!(rotated.text("/clientRules"), "answers");
    let next = Place {
        id: rotated.text("/id"),
        sdk_key: rotated.text("/sdkKey"),
    };
    assert!(next.sdk_key.starts_with("pnp_"), "{}", next.sdk_key);
    assert_eq!(keys(&app, &next).await, ["banner"]);
    let config = app.sdk(&next.sdk_key).get("/sdk/v1/config").await;
    config.expect_problem(StatusCode::FORBIDDEN, "CONFIG_NOT_PUBLIC");
}

/// The response of a route to a key of an environment with the client rules `answers`.
enum Expected {
    /// An answer without anything of a rule or a rollout.
    Results(Value),
    /// 403.
    Refused(Value),
    /// The beginning of a stream, which is read elsewhere.
    Stream,
}

/// Returns every route for SDK keys, with the expected answer. A new route must be added here.
fn expected(method: &str, path: &str) -> Option<Expected> {
    use Expected::{Refused, Results, Stream};
    let context = json!({ "userId": "ada", "tenantId": TENANT });
    let question = json!({ "flagKey": "banner", "context": context });
    Some(match (method, path) {
        ("post", "/sdk/v1/evaluate") => Results(question),
        ("post", "/sdk/v1/evaluate/batch") => Results(json!({ "evaluations": [question] })),
        (
            "post",
            "/sdk/v1/evaluate/all"
            | "/sdk/v1/public/{key}/evaluate/all"
            | "/ofrep/v1/evaluate/flags"
            | "/ofrep/v1/evaluate/flags/{key}",
        ) => Results(json!({ "context": context })),
        ("post", "/sdk/v1/usage") => Results(json!({
            "counts": [{ "flagKey": "banner", "reason": "flag_enabled", "count": 1 }],
        })),
        ("post", "/sdk/v1/explain") => Refused(question),
        ("post", "/sdk/v1/bootstrap" | "/sdk/v1/public/{key}/bootstrap") => {
            Refused(json!({ "context": context }))
        }
        ("get", "/sdk/v1/config" | "/sdk/v1/public/{key}/config") => Refused(json!(null)),
        ("get", "/sdk/v1/stream") => Stream,
        _ => return None,
    })
}

#[tokio::test]
async fn no_route_shows_rules_to_a_key_that_gives_access_to_answers() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, "answers").await;
    let sdk = app.sdk(&scene.web.sdk_key);
    let paths = description()["paths"].as_object().cloned();
    let mut routes = 0;
    for (path, operations) in paths.expect("paths") {
        if !path.starts_with("/sdk/") && !path.starts_with("/ofrep/") {
            continue;
        }
        for method in operations.as_object().expect("operations").keys() {
            routes += 1;
            let request = |body: &Value| {
                let verb = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
                let key = if path.contains("/public/") {
                    &scene.web.sdk_key
                } else {
                    "banner"
                };
                let request = sdk.request(verb, &path.replace("{key}", key));
                if body.is_null() {
                    request
                } else {
                    request.json(body)
                }
            };
            let Some(expected) = expected(method, &path) else {
                panic!("say what a key with access to answers gets from {method} {path}");
            };
            match expected {
                Expected::Results(body) => {
                    let answer = sdk.send(request(&body)).await;
                    assert!(answer.status.is_success(), "{path}: {}", answer.status);
                    let text = answer.body();
                    for hidden in [TENANT, "37", "ruleId", "conditions", "bucket", "percentage"] {
                        assert!(!text.contains(hidden), "{path}: {text}");
                    }
                }
                Expected::Refused(body) => {
                    let answer = sdk.send(request(&body)).await;
                    answer.expect_problem(StatusCode::FORBIDDEN, "CONFIG_NOT_PUBLIC");
                }
                Expected::Stream => {
                    let mut answer = request(&json!(null)).send().await.expect("an answer");
                    let chunk = answer.chunk().await.expect("a chunk").unwrap_or_default();
                    let text = String::from_utf8_lossy(&chunk).into_owned();
                    assert!(text.contains("event: config"), "{text}");
                    assert!(!text.contains("banner") && !text.contains(TENANT), "{text}");
                }
            }
        }
    }
    assert_eq!(routes, 13);
    let filtered = sdk.get("/sdk/v1/config?keys[]=banner").await;
    filtered.expect_problem(StatusCode::FORBIDDEN, "CONFIG_NOT_PUBLIC");
    let head = sdk.request(Method::HEAD, "/sdk/v1/config");
    assert_eq!(sdk.send(head).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn changed_client_rules_take_effect_at_once_and_can_be_reverted() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, "full").await;
    let path = format!("/environments/{}", scene.web.id);
    let config = async |app: &TestApp| {
        let sdk = app.sdk(&scene.web.sdk_key);
        sdk.get("/sdk/v1/config").await.status
    };
    other.watch();
    assert_eq!(config(&app).await, StatusCode::OK);
    let before = admin.get(&path).await.header("etag").to_owned();
    let answers = json!({ "clientRules": "answers" });
    let changed = admin.patch(&path, answers.clone()).await;
    let changed = changed.expect(StatusCode::OK);
    assert_eq!(changed.text("/clientRules"), "answers");
    assert_ne!(changed.header("etag"), before);
    assert_eq!(config(&app).await, StatusCode::FORBIDDEN);
    eventually("the other instance refuses, too", async || {
        config(&other).await == StatusCode::FORBIDDEN
    })
    .await;
    let audited = admin.get("/audit?limit=1").await.json();
    assert_eq!(audited["items"][0]["action"], "ENVIRONMENT_UPDATED");
    assert_eq!(audited["items"][0]["oldValue"]["clientRules"], "full");
    assert_eq!(audited["items"][0]["newValue"]["clientRules"], "answers");
    let before = admin.audited().await;
    let again = admin.patch(&path, answers).await;
    again.expect(StatusCode::OK);
    assert_eq!(admin.audited().await, before);
    // A change of a flag does not read the environment again.
    admin.switch(&scene.banner, &scene.web.id, false).await;
    assert_eq!(config(&app).await, StatusCode::FORBIDDEN);
    let full = admin.patch(&path, json!({ "clientRules": "full" })).await;
    full.expect(StatusCode::OK);
    assert_eq!(config(&app).await, StatusCode::OK);
    let browser = Browser::signed_in(&app).await;
    let reverted = browser.revert_newest(&admin).await;
    reverted.expect(StatusCode::SEE_OTHER);
    assert_eq!(config(&app).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn all_results_are_sorted_and_depend_on_the_context() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, "answers").await;
    let ttl = json!({ "isEnabled": true, "ttlOverrideSeconds": 9 });
    let ttl = admin.put(&within(&scene.secret, &scene.server), ttl).await;
    ttl.expect(StatusCode::NO_CONTENT);
    admin.flag("a").await;
    let all = evaluate_all(&app, &scene.server, json!({})).await;
    let all = all.expect(StatusCode::OK).json();
    let off = |key: &str| json!({ "key": key, "enabled": false, "reason": "flag_disabled", "ttlOverrideSeconds": null });
    let secret = json!({
        "key": "secret", "enabled": true, "reason": "flag_enabled", "ttlOverrideSeconds": 9,
    });
    assert_eq!(all, json!({ "flags": [off("a"), off("banner"), secret] }));
    let of_tenant = json!({ "context": { "tenantId": TENANT } });
    let of_tenant = evaluate_all(&app, &scene.web, of_tenant).await.json();
    assert_eq!(of_tenant["flags"][0]["reason"], "targeting_rule");
    for context in [json!(null), json!({})] {
        let nobody = evaluate_all(&app, &scene.web, json!({ "context": context })).await;
        assert_eq!(nobody.json()["flags"][0]["enabled"], false);
    }
    let archived = admin.delete(&format!("/flags/{}", scene.secret)).await;
    archived.expect_problem(StatusCode::CONFLICT, "FLAG_ENABLED");
    for context in [json!("x"), json!({ "userId": 1 })] {
        let refused = evaluate_all(&app, &scene.web, json!({ "context": context })).await;
        refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    }
}

#[tokio::test]
async fn all_results_are_sent_again_only_after_a_change() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, "answers").await;
    let sdk = app.sdk(&scene.web.sdk_key);
    let ask = async |context: Value, tag: &str| {
        let request = sdk.request(Method::POST, "/sdk/v1/evaluate/all");
        let request = request.header("if-none-match", tag);
        sdk.send(request.json(&json!({ "context": context }))).await
    };
    let ada = json!({ "userId": "ada" });
    let first = ask(ada.clone(), "\"other\"").await.expect(StatusCode::OK);
    let tag = first.header("etag").to_owned();
    assert_eq!(first.header("cache-control"), "private, no-cache");
    let same = ask(ada.clone(), &tag).await;
    let same = same.expect(StatusCode::NOT_MODIFIED);
    assert_eq!((same.header("etag"), same.bytes.len()), (&*tag, 0));
    let other = ask(json!({ "userId": "ben" }), &tag).await;
    assert_ne!(other.expect(StatusCode::OK).header("etag"), tag);

    // A client of the stream finds the ID of the last event before the full stop.
    let id = tag.trim_start_matches("W/\"").split('.').next();
    let request = sdk.request(Method::GET, "/sdk/v1/stream");
    let mut stream = request.send().await.expect("an answer");
    let event = stream.chunk().await.expect("a chunk").unwrap_or_default();
    let event = String::from_utf8_lossy(&event).into_owned();
    let id = format!("id: {}\n", id.unwrap_or_default());
    assert!(event.contains(&id), "{event} {tag}");
    drop(stream);

    admin.switch(&scene.banner, &scene.web.id, false).await;
    let changed = ask(ada, &tag).await.expect(StatusCode::OK);
    assert_ne!(changed.header("etag"), tag);
}

#[tokio::test]
async fn all_results_count_as_a_poll_and_not_as_evaluations() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let scene = Scene::with(&admin, "answers").await;
    for _ in 0..2 {
        evaluate_all(&app, &scene.web, json!({})).await;
    }
    app.flush_usage().await;
    let usage = admin.get(&format!("/flags/{}/usage", scene.banner)).await;
    let usage = usage.expect(StatusCode::OK).json();
    assert!(!usage.to_string().contains("flag_enabled"), "{usage}");
    let clients = admin
        .get(&format!("/environments/{}/clients", scene.web.id))
        .await;
    let clients = clients.expect(StatusCode::OK).json();
    assert_eq!(clients["pagination"]["total"], 1, "{clients}");
}

#[tokio::test]
async fn an_export_carries_public_flags_to_another_installation() {
    let (app, other) = (TestApp::start().await, TestApp::start().await);
    let scene = Scene::with(&app.admin().await, "full").await;
    assert!(!scene.banner.is_empty());
    let document = app.command(&["export"]).await.expect_success();
    let document: Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!(document["flags"][0]["public"], true);
    assert_eq!(document["flags"][1]["public"], json!(null));

    let admin = other.admin().await;
    let web = json!({ "product": "Shop", "name": "web", "visibility": "public" });
    let web = create_environment(&admin, web).await;
    admin.environment("Shop", "api").await;
    let import = async |document: &Value| {
        let text = document.to_string();
        other.command_with_input(&["import", "-"], &text).await
    };
    import(&document).await.expect_success();
    other.watch();
    eventually("the flag is served", async || {
        keys(&other, &web).await == ["banner"]
    })
    .await;
    let text = import(&document).await.expect_success();
    assert!(!text.contains("FLAG_"), "{text}");
    let mut private = document.clone();
    private["flags"][0]["public"] = json!(false);
    let refused = import(&private).await;
    refused.expect_failure("Shop/web is public here, so the flag needs `\"public\": true`");
}
