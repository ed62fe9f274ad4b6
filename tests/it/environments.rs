//! Environments: creating, listing, renaming and revoking them, and rotating their keys.

use pennon_tests::{FlagEnvironment, START, TestApp, UNKNOWN_ID, equals, rollout, rule};
use reqwest::StatusCode;
use serde_json::{Value, json};

#[tokio::test]
async fn a_new_environment_shows_its_key_once() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let created = admin
        .post(
            "/environments",
            json!({ "product": "shop", "name": "prod" }),
        )
        .await;
    let created = created.expect(StatusCode::CREATED);
    let (id, key) = (created.text("/id"), created.text("/sdkKey"));
    assert!(key.starts_with("pnk_") && key.len() == 47, "{key}");
    assert_eq!(created.header("location"), format!("/environments/{id}"));
    assert_eq!(created.header("cache-control"), "no-store");
    let without_key = json!({
        "id": id, "product": "shop", "name": "prod", "sdkKeyPrefix": &key[..12], "visibility": "server",
        "clientRules": "full", "protected": false, "reasonRequired": false, "status": "active", "createdAt": START,
    });
    assert_eq!(
        admin
            .get(&format!("/environments/{id}"))
            .await
            .expect(StatusCode::OK)
            .json(),
        without_key
    );
    assert_eq!(
        admin.get("/environments").await.json()["items"],
        json!([without_key])
    );
    let audit = admin.get("/audit").await;
    assert_eq!(audit.json()["items"][0]["newValue"], without_key);
    assert!(!audit.body().contains(&key));
}

#[tokio::test]
async fn product_and_name_are_unique_among_active_environments() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    admin.environment("shop", "prod").await;
    let again = admin
        .post(
            "/environments",
            json!({ "product": "shop", "name": "prod" }),
        )
        .await;
    again.expect_problem(StatusCode::CONFLICT, "ENVIRONMENT_NAME_TAKEN");
    admin.environment("shop", "Prod").await;
    admin.environment("blog", "prod").await;
    assert_eq!(admin.audited().await, ["ENVIRONMENT_CREATED"; 3]);
}

#[tokio::test]
async fn lists_are_newest_first_and_paginated() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for name in ["one", "two", "three"] {
        admin.environment("shop", name).await;
    }
    admin.environment("blog", "four").await;
    let names = async |query: &str| -> Vec<Value> {
        let page = admin
            .get(&format!("/environments{query}"))
            .await
            .expect(StatusCode::OK)
            .json();
        page["items"]
            .as_array()
            .expect("a page has items")
            .iter()
            .map(|item| item["name"].clone())
            .collect()
    };
    assert_eq!(names("").await, ["four", "three", "two", "one"]);
    assert_eq!(names("?product=shop").await, ["three", "two", "one"]);
    assert_eq!(names("?product=Shop").await, [] as [Value; 0]);
    assert_eq!(names("?product=%00").await, [] as [Value; 0]);
    assert_eq!(names("?name=two").await, ["two"]);
    assert_eq!(names("?name=tw").await, [] as [Value; 0]);
    assert_eq!(names("?status=revoked").await, [] as [Value; 0]);
    assert_eq!(names("?status=active&limit=3&page=2").await, ["one"]);
    let past_the_end = admin.get("/environments?page=9").await.json();
    assert_eq!(
        past_the_end,
        json!({ "items": [], "pagination": { "page": 9, "limit": 20, "total": 4 } })
    );
}

#[tokio::test]
async fn every_invalid_member_is_reported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (longest, too_long) = ("é".repeat(64), "é".repeat(65));
    admin.environment(&longest, "  padded  ").await;
    for (body, faults) in [
        (json!({}), vec!["/product", "/name"]),
        (
            json!({ "product": too_long, "name": "" }),
            vec!["/product", "/name"],
        ),
        (
            json!({ "product": " ", "name": "a\nb" }),
            vec!["/product", "/name"],
        ),
        (
            json!({ "product": null, "name": 1, "~/x": 1 }),
            vec!["/product", "/name", "/~0~1x"],
        ),
    ] {
        let answer = admin.post("/environments", body).await;
        answer.expect_faults(&faults);
    }
    for (query, faults) in [
        ("?page=0&limit=101", vec!["page", "limit"]),
        ("?page=x&status=gone", vec!["page", "status"]),
        ("?page=1&page=2", vec!["page"]),
        ("?prodct=shop", vec!["prodct"]),
    ] {
        let answer = admin.get(&format!("/environments{query}")).await;
        answer.expect_faults(&faults);
    }
}

#[tokio::test]
async fn an_unknown_or_malformed_id_is_not_found() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for id in [UNKNOWN_ID, "x", "%00"] {
        let answer = admin.get(&format!("/environments/{id}")).await;
        answer.expect_problem(StatusCode::NOT_FOUND, "ENVIRONMENT_NOT_FOUND");
    }
}

#[tokio::test]
async fn only_listed_products_are_accepted() {
    let app = TestApp::with_settings(&["--products", "shop,blog"]).await;
    let admin = app.admin().await;
    admin.environment("blog", "prod").await;
    let refused = admin
        .post(
            "/environments",
            json!({ "product": "Shop", "name": "prod" }),
        )
        .await;
    refused.expect_faults(&["/product"]);
}

#[tokio::test]
async fn an_environment_cannot_be_renamed_to_the_name_of_another_active_one() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (id, key) = admin.environment("shop", "prod").await;
    admin.environment("shop", "stage").await;
    let path = format!("/environments/{id}");
    let renamed = admin
        .patch(&path, json!({ "name": "production" }))
        .await
        .expect(StatusCode::OK);
    assert_eq!(renamed.text("/name"), "production");
    assert_eq!(renamed.json(), admin.get(&path).await.json());
    admin
        .patch(&path, json!({ "name": "production" }))
        .await
        .expect(StatusCode::OK);
    admin.patch(&path, json!({})).await.expect(StatusCode::OK);
    let taken = admin.patch(&path, json!({ "name": "stage" })).await;
    taken.expect_problem(StatusCode::CONFLICT, "ENVIRONMENT_NAME_TAKEN");
    let invalid = admin
        .patch(&path, json!({ "name": "", "product": "x" }))
        .await;
    invalid.expect_faults(&["/name", "/product"]);
    admin
        .patch("/environments/x", json!(0))
        .await
        .expect_problem(StatusCode::NOT_FOUND, "ENVIRONMENT_NOT_FOUND");
    app.sdk(&key)
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::OK);
    let entry = &admin.get("/audit").await.items()[0];
    assert_eq!(entry["action"], "ENVIRONMENT_UPDATED");
    assert_eq!(entry["environment"], "production");
    assert_eq!(
        [&entry["oldValue"]["name"], &entry["newValue"]["name"]],
        ["prod", "production"]
    );
    assert_eq!(admin.audited().await.len(), 3);
}

#[tokio::test]
async fn a_revoked_environment_refuses_its_key_at_once_and_cannot_be_changed() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        environment,
        sdk_key,
        path,
        flag,
    } = admin.flag_environment().await;
    let sdk = app.sdk(&sdk_key);
    let unknown = app.sdk("pnk_unknown").get("/sdk/v1/config").await.bytes;
    admin.switch(&flag, &environment, true).await;
    sdk.get("/sdk/v1/config").await.expect(StatusCode::OK);
    let revoke = format!("/environments/{environment}/revoke");
    let revoked = admin.post(&revoke, json!({})).await.expect(StatusCode::OK);
    assert_eq!(revoked.text("/status"), "revoked");
    let read = admin.get(&format!("/environments/{environment}")).await;
    assert_eq!(
        (read.json(), read.header("etag")),
        (revoked.json(), revoked.header("etag"))
    );
    let refused = sdk.get("/sdk/v1/config").await;
    let refused = refused.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    assert_eq!(refused.bytes, unknown);
    let rule = rule(1, equals("vip", true));
    for refused in [
        admin.post(&revoke, json!({})).await,
        admin
            .post(
                &format!("/environments/{environment}/rotate-key"),
                json!({}),
            )
            .await,
        admin
            .patch(
                &format!("/environments/{environment}"),
                json!({ "name": "x" }),
            )
            .await,
        admin.put(&path, json!({ "isEnabled": false })).await,
        admin.post(&format!("{path}/rules"), rule).await,
        admin.put(&format!("{path}/rollout"), rollout(1)).await,
    ] {
        refused.expect_problem(StatusCode::CONFLICT, "ENVIRONMENT_REVOKED");
    }
    assert_eq!(
        admin.get(&path).await.expect(StatusCode::OK).json()["isEnabled"],
        true
    );
    assert_eq!(admin.audited().await[0], "ENVIRONMENT_REVOKED");
    // The name is free again. The flag can be archived, because it is enabled in no active environment.
    admin.environment("shop", "prod").await;
    admin.archive(&flag).await;
}

#[tokio::test]
async fn a_rotation_moves_the_whole_configuration_to_a_new_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let archived = admin.flag("archived").await;
    admin.archive(&archived).await;
    let FlagEnvironment {
        flag,
        environment,
        sdk_key,
        path,
    } = admin.flag_environment().await;
    let rule = json!({ "priority": 7, "logic": "or", "value": false, "conditions": [equals("country", "DE")] });
    let rule = admin.rule(&path, rule).await;
    admin.rollout(&path, 100).await;
    admin
        .put(&path, json!({ "isEnabled": true, "ttlOverrideSeconds": 5 }))
        .await
        .expect(StatusCode::NO_CONTENT);
    let before = app.sdk(&sdk_key).get("/sdk/v1/config").await;

    let rotated = admin
        .post(
            &format!("/environments/{environment}/rotate-key"),
            json!({}),
        )
        .await;
    let rotated = rotated.expect(StatusCode::CREATED);
    let (id, new_key) = (rotated.text("/id"), rotated.text("/sdkKey"));
    assert_eq!(rotated.header("location"), format!("/environments/{id}"));
    assert_eq!(
        [rotated.text("/product"), rotated.text("/name")],
        ["shop", "prod"]
    );
    assert_ne!(id, environment);

    app.sdk(&sdk_key)
        .get("/sdk/v1/config")
        .await
        .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    let after = app
        .sdk(&new_key)
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::OK);
    assert_eq!(
        (after.json(), after.header("etag")),
        (before.json(), before.header("etag"))
    );
    let answer = app
        .sdk(&new_key)
        .post("/sdk/v1/evaluate", json!({ "flagKey": "archived" }))
        .await;
    assert_eq!(answer.json()["reason"], "flag_archived");

    let new_path = format!("/flags/{flag}/environments/{id}");
    assert_eq!(
        admin.get(&format!("{new_path}/rules")).await.json()[0]["id"],
        rule
    );
    admin
        .get(&format!("{new_path}/rollout"))
        .await
        .expect(StatusCode::OK);
    for path in [&path, &format!("{path}/rules"), &format!("{path}/rollout")] {
        admin
            .get(path)
            .await
            .expect_problem(StatusCode::NOT_FOUND, "CONFIGURATION_NOT_FOUND");
    }
}

#[tokio::test]
async fn a_rotation_revokes_the_old_environment_and_is_recorded_once() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        flag, environment, ..
    } = admin.flag_environment().await;
    let (id, new_key) = admin.rotate_key(&environment).await;
    let new_path = format!("/flags/{flag}/environments/{id}");
    assert_eq!(
        admin
            .get(&format!("/environments/{environment}"))
            .await
            .text("/status"),
        "revoked"
    );
    let audited = admin.get("/audit").await;
    let entry = &audited.json()["items"][0];
    assert_eq!(
        [&entry["action"], &entry["environment"]],
        ["SDK_KEY_ROTATED", "prod"]
    );
    assert_eq!(
        [&entry["oldValue"]["id"], &entry["newValue"]["id"]],
        [&environment, &id]
    );
    assert!(!audited.body().contains(&new_key));
    // The new environment serves all later changes.
    admin
        .put(&new_path, json!({ "isEnabled": true }))
        .await
        .expect(StatusCode::NO_CONTENT);
    let answer = app.sdk(&new_key).evaluate("checkout").await;
    assert_eq!(answer.json()["reason"], "flag_enabled");
}
