//! Clones of environments.

use pennon_tests::{Caller, TestApp, equals, rule};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// Creates an environment with the flag `checkout`, which is on and has two rules and a rollout, and the flag `other`,
/// and returns the IDs of the environment and of `checkout`.
async fn original(admin: &Caller<'_>) -> (String, String) {
    let (environment, _) = admin.environment("Shop", "prod").await;
    let flag = admin.flag("checkout").await;
    admin.flag("other").await;
    let path = format!("/flags/{flag}/environments/{environment}");
    let configured = json!({ "isEnabled": true, "ttlOverrideSeconds": 9 });
    let configured = admin.put(&path, configured).await;
    configured.expect(StatusCode::NO_CONTENT);
    for (priority, country) in [(7, "AT"), (2, "DE")] {
        let rule = rule(priority, equals("country", country));
        admin.rule(&path, rule).await;
    }
    let rollout = json!({ "percentage": 37, "strategy": "per_tenant" });
    let created = admin.put(&format!("{path}/rollout"), rollout).await;
    created.expect(StatusCode::CREATED);
    (environment, flag)
}

/// Returns the config document of an SDK key.
async fn config(app: &TestApp, sdk_key: &str) -> Value {
    let document = app.sdk(sdk_key).get("/sdk/v1/config").await;
    document.expect(StatusCode::OK).json()
}

#[tokio::test]
async fn a_clone_has_the_configurations_and_its_own_key() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, flag) = original(&admin).await;
    let path = format!("/environments/{environment}");
    let before = admin.get(&path).await.json();
    let cloned = admin
        .post(&format!("{path}/clone"), json!({ "name": "prod 2" }))
        .await;
    let cloned = cloned.expect(StatusCode::CREATED);
    let (id, key) = (cloned.text("/id"), cloned.text("/sdkKey"));
    assert_eq!(cloned.header("location"), format!("/environments/{id}"));
    assert_eq!(
        [cloned.text("/product"), cloned.text("/name")],
        ["Shop", "prod 2"]
    );
    assert_eq!(cloned.text("/visibility"), "server");
    assert_ne!(id, environment);
    assert_eq!(admin.get(&path).await.json(), before);

    let here = format!("/flags/{flag}/environments/{environment}");
    let there = format!("/flags/{flag}/environments/{id}");
    let configuration = admin.get(&there).await.json();
    assert_eq!(configuration["isEnabled"], true);
    assert_eq!(configuration["ttlOverrideSeconds"], 9);
    let rules = |list: Value| -> Vec<Value> {
        let rules = list.as_array().cloned().unwrap_or_default();
        let content = |rule: &Value| json!([rule["priority"], rule["conditions"], rule["value"]]);
        rules.iter().map(content).collect()
    };
    let (old, new) = (
        admin.get(&format!("{here}/rules")).await.json(),
        admin.get(&format!("{there}/rules")).await.json(),
    );
    assert_ne!(old[0]["id"], new[0]["id"]);
    assert_eq!(rules(old), rules(new));
    let rollout = admin.get(&format!("{there}/rollout")).await.json();
    assert_eq!(rollout["percentage"], 37);
    assert_eq!(rollout["strategy"], "per_tenant");
    let document = config(&app, &key).await;
    assert_eq!(document["flags"].as_array().map(Vec::len), Some(2));
    assert_eq!(document["flags"][0]["rollout"]["percentage"], 37);

    // A change of the clone leaves the original as it is.
    let rollout = admin.delete(&format!("{there}/rollout")).await;
    rollout.expect(StatusCode::NO_CONTENT);
    let kept = admin.get(&format!("{here}/rollout")).await;
    assert_eq!(kept.json()["percentage"], 37);
}

#[tokio::test]
async fn a_clone_reveals_and_guards_as_much_as_its_original_unless_told_otherwise() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let mut original = json!({
        "product": "Shop", "name": "web", "visibility": "public", "clientRules": "answers",
        "protected": true, "reasonRequired": true,
    });
    let created = admin.post("/environments", original.clone()).await;
    let path = created.expect(StatusCode::CREATED).text("/id");
    let path = format!("/environments/{path}/clone");
    let open = json!({
        "name": "web 3", "visibility": "public", "clientRules": "full", "protected": false, "reasonRequired": false,
    });
    for changes in [json!({ "name": "web 2" }), open] {
        let cloned = admin.post(&path, changes.clone()).await;
        let cloned = cloned.expect(StatusCode::CREATED).json();
        let changed = changes.as_object().expect("an object").clone();
        original.as_object_mut().expect("an object").extend(changed);
        for (name, value) in original.as_object().expect("an object") {
            assert_eq!(cloned[name], *value, "{name}");
        }
    }
}

#[tokio::test]
async fn a_clone_is_recorded_once_and_refused_like_a_new_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = original(&admin).await;
    let path = format!("/environments/{environment}/clone");
    let before = admin.audited().await;
    for (body, status, code) in [
        (json!({}), StatusCode::BAD_REQUEST, "INVALID_INPUT"),
        (
            json!({ "name": "prod" }),
            StatusCode::CONFLICT,
            "ENVIRONMENT_NAME_TAKEN",
        ),
        (
            json!({ "name": "x", "clientRules": "answers" }),
            StatusCode::BAD_REQUEST,
            "INVALID_INPUT",
        ),
    ] {
        let refused = admin.post(&path, body).await;
        refused.expect_problem(status, code);
    }
    assert_eq!(admin.audited().await, before);
    let cloned = admin.post(&path, json!({ "name": "prod 2" })).await;
    cloned.expect(StatusCode::CREATED);
    let newest = admin.get("/audit?limit=2").await.json();
    assert_eq!(newest["items"][0]["action"], "ENVIRONMENT_CREATED");
    assert_eq!(newest["items"][0]["newValue"]["clonedFrom"], environment);
    assert_eq!(newest["items"][1]["action"], before[0]);
    admin.revoke(&environment).await;
    let refused = admin.post(&path, json!({ "name": "prod 3" })).await;
    refused.expect_problem(StatusCode::CONFLICT, "ENVIRONMENT_REVOKED");
}

#[tokio::test]
async fn a_flag_that_does_not_exist_in_the_clone_is_configured_when_it_joins() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, flag) = original(&admin).await;
    let path = format!("/environments/{environment}/clone");
    let public = json!({ "name": "web", "visibility": "public", "clientRules": "answers" });
    let cloned = admin.post(&path, public).await.expect(StatusCode::CREATED);
    let (id, key) = (cloned.text("/id"), cloned.text("/sdkKey"));
    assert!(key.starts_with("pnp_"), "{key}");
    assert_eq!(cloned.text("/clientRules"), "answers");
    let all = async || {
        let all = app.sdk(&key).post("/sdk/v1/evaluate/all", json!({})).await;
        all.expect(StatusCode::OK).json()
    };
    assert_eq!(all().await, json!({ "flags": [] }));
    let there = format!("/flags/{flag}/environments/{id}");
    let absent = admin.get(&there).await;
    absent.expect_problem(StatusCode::NOT_FOUND, "CONFIGURATION_NOT_FOUND");
    // The flag is off where it does not exist, so its original is all that prevents archiving it.
    let archived = admin.delete(&format!("/flags/{flag}")).await;
    let archived = archived.expect_problem(StatusCode::CONFLICT, "FLAG_ENABLED");
    assert!(!archived.text("/detail").contains("web"));
    let joined = admin
        .patch(&format!("/flags/{flag}"), json!({ "public": true }))
        .await;
    joined.expect(StatusCode::OK);
    assert_eq!(all().await["flags"][0]["reason"], "flag_disabled");
    let rollout = admin.get(&format!("{there}/rollout")).await;
    assert_eq!(rollout.json()["percentage"], 37);
    assert_eq!(admin.get(&there).await.json()["ttlOverrideSeconds"], 9);
    let back = json!({ "name": "api", "visibility": "server" });
    let back = admin.post(&format!("/environments/{id}/clone"), back).await;
    assert_eq!(
        back.expect(StatusCode::CREATED).text("/clientRules"),
        "full"
    );
}

#[tokio::test]
async fn a_clone_in_another_product_has_the_flags_of_that_product() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, flag) = original(&admin).await;
    let limit = json!({ "products": ["Shop"], "force": true });
    let limit = admin.patch(&format!("/flags/{flag}"), limit).await;
    limit.expect(StatusCode::OK);
    let blog = json!({ "key": "post", "name": "Post", "type": "boolean", "products": ["Blog"] });
    let blog = admin.post("/flags", blog).await;
    blog.expect(StatusCode::CREATED);
    let clone = json!({ "product": "Blog", "name": "prod" });
    let path = format!("/environments/{environment}/clone");
    let cloned = admin.post(&path, clone).await.expect(StatusCode::CREATED);
    let document = config(&app, &cloned.text("/sdkKey")).await;
    let flags = document["flags"].as_array().cloned().unwrap_or_default();
    let keys: Vec<_> = flags.iter().map(|flag| flag["key"].clone()).collect();
    assert_eq!(keys, ["other", "post"]);
}
