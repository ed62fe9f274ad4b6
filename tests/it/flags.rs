//! Flags: creating, listing, changing, archiving and restoring them.

use pennon_tests::{EMAIL, FlagEnvironment, START, TestApp, equals, rollout, rule};
use reqwest::StatusCode;
use serde_json::json;

#[tokio::test]
async fn a_new_flag_is_disabled_in_every_active_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (shop, _) = admin.environment("shop", "prod").await;
    let (blog, _) = admin.environment("blog", "prod").await;
    let new = json!({ "key": "checkout_v2", "name": "New checkout", "description": "a\nb", "type": "boolean" });
    let created = admin.post("/flags", new).await.expect(StatusCode::CREATED);
    let id = created.text("/id");
    let expected = json!({
        "id": id, "key": "checkout_v2", "name": "New checkout", "description": "a\nb", "type": "boolean",
        "products": null, "public": false, "createdBy": EMAIL, "createdAt": START, "archivedAt": null,
    });
    assert_eq!(created.json(), expected);
    assert_eq!(created.header("location"), format!("/flags/{id}"));
    assert_eq!(admin.get(&format!("/flags/{id}")).await.json(), expected);
    for environment in [shop, blog] {
        let configuration = admin
            .get(&format!("/flags/{id}/environments/{environment}"))
            .await;
        assert_eq!(
            configuration.expect(StatusCode::OK).json(),
            json!({
                "flagId": id, "environmentId": environment, "isEnabled": false, "ttlOverrideSeconds": null,
            })
        );
    }
}

#[tokio::test]
async fn a_new_environment_has_every_active_flag_disabled() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (active, archived) = (admin.flag("active").await, admin.flag("archived").await);
    admin.archive(&archived).await;
    let (environment, key) = admin.environment("shop", "prod").await;
    let configuration = admin
        .get(&format!("/flags/{active}/environments/{environment}"))
        .await;
    assert_eq!(
        configuration.expect(StatusCode::OK).json()["isEnabled"],
        false
    );
    let missing = admin
        .get(&format!("/flags/{archived}/environments/{environment}"))
        .await;
    missing.expect_problem(StatusCode::NOT_FOUND, "CONFIGURATION_NOT_FOUND");
    let answer = app
        .sdk(&key)
        .post("/sdk/v1/evaluate", json!({ "flagKey": "archived" }))
        .await;
    assert_eq!(
        answer.json(),
        json!({ "enabled": false, "reason": "flag_archived" })
    );
}

#[tokio::test]
async fn keys_are_validated_and_stay_taken() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for key in ["a", "9", "_", "A-b.c:d_1", "__proto__", &"k".repeat(128)] {
        admin.flag(key).await;
    }
    for key in ["", "-a", ".a", ":a", "a b", "é", "a/b", &"k".repeat(129)] {
        let answer = admin
            .post(
                "/flags",
                json!({ "key": key, "name": "x", "type": "boolean" }),
            )
            .await;
        assert_eq!(
            answer
                .expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT")
                .faults(),
            ["/key"],
            "{key}"
        );
    }
    let id = admin.flag("Once").await;
    admin.archive(&id).await;
    let again = admin
        .post(
            "/flags",
            json!({ "key": "Once", "name": "x", "type": "boolean" }),
        )
        .await;
    again.expect_problem(StatusCode::CONFLICT, "FLAG_KEY_TAKEN");
    admin.flag("once").await;
}

#[tokio::test]
async fn every_invalid_member_is_reported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let body = json!({ "key": "a", "name": "n".repeat(201), "description": "\u{0}", "type": "Boolean", "on": 1 });
    let answer = admin
        .post("/flags", body)
        .await
        .expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    assert_eq!(answer.faults(), ["/name", "/description", "/type", "/on"]);
    assert_eq!(admin.audited().await, [] as [&str; 0]);
}

#[tokio::test]
async fn lists_can_be_filtered_by_archived_or_active() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let mut ids = Vec::new();
    for key in ["one", "two", "three"] {
        ids.push(admin.flag(key).await);
    }
    admin.archive(&ids[1]).await;
    assert_eq!(admin.flag_keys("").await, ["three", "two", "one"]);
    assert_eq!(admin.flag_keys("?archived=false").await, ["three", "one"]);
    assert_eq!(admin.flag_keys("?archived=true").await, ["two"]);
    assert_eq!(
        admin.flag_keys("?archived=false&limit=1&page=2").await,
        ["one"]
    );
    let answer = admin.get("/flags?archived=yes").await;
    answer.expect_faults(&["archived"]);
}

#[tokio::test]
async fn a_flag_that_is_enabled_somewhere_cannot_be_archived() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (shop, _) = admin.environment("shop", "prod").await;
    let (blog, _) = admin.environment("blog", "stage").await;
    let flag = admin.flag("checkout").await;
    for environment in [&shop, &blog] {
        admin.switch(&flag, environment, true).await;
    }
    let refused = admin.delete(&format!("/flags/{flag}")).await;
    let detail = refused
        .expect_problem(StatusCode::CONFLICT, "FLAG_ENABLED")
        .text("/detail");
    assert!(detail.contains("blog/stage, shop/prod"), "{detail}");
    for environment in [&shop, &blog] {
        admin.switch(&flag, environment, false).await;
    }
    admin.archive(&flag).await;
    assert_eq!(
        admin.get(&format!("/flags/{flag}")).await.json()["archivedAt"],
        START
    );
    assert_eq!(admin.audited().await[0], "FLAG_ARCHIVED");
}

#[tokio::test]
async fn an_archived_flag_cannot_be_changed_but_can_be_read() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        flag, environment, ..
    } = admin.flag_environment().await;
    admin.archive(&flag).await;
    let path = format!("/flags/{flag}/environments/{environment}");
    let rule = rule(1, equals("country", "DE"));
    let refusals = [
        admin.delete(&format!("/flags/{flag}")).await,
        admin.put(&path, json!({ "isEnabled": true })).await,
        admin.post(&format!("{path}/rules"), rule).await,
        admin.put(&format!("{path}/rollout"), rollout(1)).await,
    ];
    for refused in refusals {
        refused.expect_problem(StatusCode::CONFLICT, "FLAG_ARCHIVED");
    }
    admin.get(&path).await.expect(StatusCode::OK);
    assert_eq!(admin.get(&format!("{path}/rules")).await.json(), json!([]));
}

#[tokio::test]
async fn name_and_description_can_be_changed_and_null_clears_the_description() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let path = format!("/flags/{}", admin.flag("checkout").await);
    for (body, name, description) in [
        (
            json!({ "name": "New checkout", "description": "a" }),
            "New checkout",
            json!("a"),
        ),
        (json!({ "description": null }), "New checkout", json!(null)),
        (json!({ "description": "b" }), "New checkout", json!("b")),
        (json!({ "name": "Checkout" }), "Checkout", json!("b")),
        (json!({}), "Checkout", json!("b")),
        (json!({ "name": "Checkout" }), "Checkout", json!("b")),
    ] {
        let flag = admin.patch(&path, body).await.expect(StatusCode::OK).json();
        assert_eq!(flag["name"], name);
        assert_eq!(flag["description"], description);
        assert_eq!(admin.get(&path).await.json(), flag);
    }
    assert_eq!(
        admin.audited().await,
        [["FLAG_UPDATED"; 4].as_slice(), &["FLAG_CREATED"]].concat()
    );
    for (body, faults) in [
        (json!({ "name": null, "key": "x" }), vec!["/name", "/key"]),
        (
            json!({ "name": "\n", "description": 1 }),
            vec!["/name", "/description"],
        ),
    ] {
        let answer = admin.patch(&path, body).await;
        answer.expect_faults(&faults);
    }
    admin
        .patch("/flags/x", json!(0))
        .await
        .expect_problem(StatusCode::NOT_FOUND, "FLAG_NOT_FOUND");
}

#[tokio::test]
async fn a_restored_flag_is_disabled_in_every_active_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        flag,
        path,
        sdk_key,
        ..
    } = admin.flag_environment().await;
    admin
        .put(&path, json!({ "ttlOverrideSeconds": 9 }))
        .await
        .expect(StatusCode::NO_CONTENT);
    let restore = format!("/flags/{flag}/restore");
    admin
        .post(&restore, json!({}))
        .await
        .expect_problem(StatusCode::CONFLICT, "FLAG_NOT_ARCHIVED");
    admin.archive(&flag).await;
    let (later, later_key) = admin.environment("shop", "later").await;
    let archived = admin
        .patch(&format!("/flags/{flag}"), json!({ "name": "x" }))
        .await;
    archived.expect_problem(StatusCode::CONFLICT, "FLAG_ARCHIVED");

    let restored = admin.post(&restore, json!({})).await.expect(StatusCode::OK);
    assert_eq!(restored.json()["archivedAt"], json!(null));
    assert_eq!(admin.audited().await[0], "FLAG_UPDATED");
    for key in [&sdk_key, &later_key] {
        let answer = app.sdk(key).evaluate("checkout").await;
        assert_eq!(
            answer.json(),
            json!({ "enabled": false, "reason": "flag_disabled" })
        );
        assert_eq!(
            app.sdk(key).get("/sdk/v1/config").await.json()["flags"][0]["key"],
            "checkout"
        );
    }
    assert_eq!(admin.get(&path).await.json()["ttlOverrideSeconds"], 9);
    admin.switch(&flag, &later, true).await;
    let answer = app.sdk(&later_key).evaluate("checkout").await;
    assert_eq!(answer.json()["reason"], "flag_enabled");
    admin
        .post("/flags/x/restore", json!({}))
        .await
        .expect_problem(StatusCode::NOT_FOUND, "FLAG_NOT_FOUND");
}

#[tokio::test]
async fn flags_can_be_found_by_exact_key_or_part_of_name_or_key() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for (key, name) in [
        ("checkout_v2", "New checkout"),
        ("dark-mode", "Dark 100%_mode"),
        ("Dark", "x\\y"),
    ] {
        let body = json!({ "key": key, "name": name, "type": "boolean" });
        admin.post("/flags", body).await.expect(StatusCode::CREATED);
    }
    assert_eq!(admin.flag_keys("?key=Dark").await, ["Dark"]);
    assert_eq!(admin.flag_keys("?key=dark").await, [""; 0]);
    assert_eq!(admin.flag_keys("?q=DARK").await, ["Dark", "dark-mode"]);
    assert_eq!(admin.flag_keys("?q=new").await, ["checkout_v2"]);
    let umlaut = json!({ "key": "umlaut", "name": "Änderung", "type": "boolean" });
    admin
        .post("/flags", umlaut)
        .await
        .expect(StatusCode::CREATED);
    assert_eq!(admin.flag_keys("?q=%C3%84nder").await, ["umlaut"]);
    assert_eq!(admin.flag_keys("?q=100%25_").await, ["dark-mode"]);
    assert_eq!(admin.flag_keys("?q=_").await, ["dark-mode", "checkout_v2"]);
    assert_eq!(admin.flag_keys("?q=%5C").await, ["Dark"]);
    assert_eq!(admin.flag_keys("?q=%00").await, [""; 0]);
    let longest = "%25".repeat(200);
    assert_eq!(admin.flag_keys(&format!("?q={longest}")).await, [""; 0]);
    let refused = admin.get(&format!("/flags?q={longest}x")).await;
    refused.expect_faults(&["q"]);
    assert_eq!(
        admin
            .flag_keys("?q=dark&key=dark-mode&archived=false&limit=1")
            .await,
        ["dark-mode"]
    );
}

#[tokio::test]
async fn lists_are_ordered_by_age_key_or_name_in_either_direction() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for (key, name) in [("b", "Two"), ("B", "two"), ("a-b", "one"), ("a_b", "Three")] {
        let body = json!({ "key": key, "name": name, "type": "boolean" });
        admin.post("/flags", body).await.expect(StatusCode::CREATED);
        app.advance(1);
    }
    for (sort, expected) in [
        ("createdAt", ["b", "B", "a-b", "a_b"]),
        ("key", ["B", "a-b", "a_b", "b"]),
        ("name", ["a-b", "a_b", "b", "B"]),
    ] {
        let mut expected = expected.to_vec();
        assert_eq!(admin.flag_keys(&format!("?sort={sort}")).await, expected);
        expected.reverse();
        assert_eq!(admin.flag_keys(&format!("?sort=-{sort}")).await, expected);
        let rest = admin
            .flag_keys(&format!("?sort=-{sort}&limit=3&page=2"))
            .await;
        assert_eq!(rest, expected[3..]);
    }
    assert_eq!(
        admin.flag_keys("").await,
        admin.flag_keys("?sort=-createdAt").await
    );
    let refused = admin.get("/flags?sort=id").await;
    refused.expect_faults(&["sort"]);
}
