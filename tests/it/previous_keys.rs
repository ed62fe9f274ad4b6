//! Rotations after which the previous key keeps working for some time.

use pennon_tests::{Answer, Caller, ConfigStream, TestApp, eventually};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// An environment after a rotation.
struct Rotated {
    id: String,
    key: String,
}

async fn rotate(admin: &Caller<'_>, environment: &str, query: &str) -> Answer {
    let path = format!("/environments/{environment}/rotate-key{query}");
    admin.send(admin.request(Method::POST, &path)).await
}

/// Rotates a key with an overlap of an hour.
async fn overlap(admin: &Caller<'_>, environment: &str) -> Rotated {
    let rotated = rotate(admin, environment, "?overlapSeconds=3600").await;
    let rotated = rotated.expect(StatusCode::CREATED);
    Rotated {
        id: rotated.text("/id"),
        key: rotated.text("/sdkKey"),
    }
}

fn previous_key(environment: &str) -> String {
    format!("/environments/{environment}/previous-key")
}

/// Evaluates `checkout`, which is on in the environment.
async fn works(app: &TestApp, keys: [&str; 2]) -> bool {
    app.sdk(keys[0]).is_on("checkout").await && app.sdk(keys[1]).is_on("checkout").await
}

#[tokio::test]
async fn the_previous_key_gives_access_to_the_new_environment_until_its_end() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let Rotated { id, key } = overlap(&admin, &checkout.environment).await;
    assert!(works(&app, [&checkout.sdk_key, &key]).await);
    // Both keys serve later changes.
    admin.switch(&checkout.flag, &id, false).await;
    assert!(
        !app.sdk(&checkout.sdk_key).is_on("checkout").await
            && !app.sdk(&key).is_on("checkout").await
    );
    admin.switch(&checkout.flag, &id, true).await;
    let prefix = &checkout.sdk_key[..12];
    let shown = json!({ "prefix": prefix, "endsAt": "2026-03-01T10:30:00.000Z" });
    let path = format!("/environments/{id}");
    assert_eq!(admin.get(&path).await.json()["previousKey"], shown);
    let listed = admin.get("/environments?status=active").await.json();
    assert_eq!(listed["items"][0]["previousKey"], shown);
    let entry = admin.get("/audit").await.items()[2].clone();
    assert_eq!(entry["action"], "SDK_KEY_ROTATED");
    assert_eq!(entry["newValue"]["previousKey"], shown);
    assert_eq!(entry["oldValue"]["previousKey"], Value::Null);
    let mut streams = [
        ConfigStream::open(&app.sdk(&checkout.sdk_key)).await,
        ConfigStream::open(&app.sdk(&key)).await,
    ];
    for stream in &mut streams {
        stream.tag().await.expect("the first event");
    }
    app.advance(3599);
    assert!(works(&app, [&checkout.sdk_key, &key]).await);
    app.advance(1);
    assert!(app.sdk(&checkout.sdk_key).is_refused().await);
    assert!(app.sdk(&key).is_on("checkout").await);
    let [old, new] = &mut streams;
    assert_eq!(old.block().await, None);
    let admin = app.admin().await;
    admin.switch(&checkout.flag, &id, false).await;
    new.tag().await.expect("the new key's stream stays open");
    assert_eq!(admin.get(&path).await.json().get("previousKey"), None);
    let listed = admin.get("/environments?status=active").await.json();
    assert_eq!(listed["items"][0].get("previousKey"), None);
    for method in [Method::GET, Method::DELETE] {
        let gone = admin.send(admin.request(method, &previous_key(&id))).await;
        gone.expect_problem(StatusCode::NOT_FOUND, "PREVIOUS_KEY_NOT_FOUND");
    }
}

#[tokio::test]
async fn without_an_overlap_nothing_is_new_and_invalid_overlaps_change_nothing() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (id, old_key) = admin.environment("shop", "prod").await;
    for (query, fault) in [
        ("overlapSeconds=-1", "must be an integer from 0 to 604800"),
        (
            "overlapSeconds=604801",
            "must be an integer from 0 to 604800",
        ),
        ("overlapSeconds=soon", "must be an integer"),
        ("overlapSeconds=1.5", "must be an integer"),
        ("overlapSeconds=", "must be an integer"),
        ("overlap=1", "is unknown"),
    ] {
        let refused = rotate(&admin, &id, &format!("?{query}")).await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(refused.json()["errors"][0]["detail"], fault, "{query}");
    }
    assert!(!app.sdk(&old_key).is_refused().await);
    let mut stream = ConfigStream::open(&app.sdk(&old_key)).await;
    stream.tag().await.expect("the first event");
    let rotated = rotate(&admin, &id, "?overlapSeconds=0").await;
    let rotated = rotated.expect(StatusCode::CREATED);
    assert_eq!(rotated.json().get("previousKey"), None);
    assert_eq!(stream.block().await, None);
    assert!(app.sdk(&old_key).is_refused().await);
    let entry = admin.get("/audit").await.items()[0].clone();
    assert_eq!(entry["newValue"].get("previousKey"), None);
    let longest = rotate(&admin, &rotated.text("/id"), "?overlapSeconds=604800").await;
    let longest = longest.expect(StatusCode::CREATED);
    assert_eq!(
        longest.text("/previousKey/endsAt"),
        "2026-03-08T09:30:00.000Z"
    );
}

#[tokio::test]
async fn an_overlap_ends_early_by_request_and_is_audited_and_never_reverted() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let Rotated { id, key } = overlap(&admin, &checkout.environment).await;
    let mut stream = ConfigStream::open(&app.sdk(&checkout.sdk_key)).await;
    stream.tag().await.expect("the first event");
    let path = previous_key(&id);
    let request = admin.request(Method::DELETE, &path);
    let stale = admin.send(request.header("if-match", "\"7\"")).await;
    stale.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
    assert!(!app.sdk(&checkout.sdk_key).is_refused().await);
    let request = admin.request(Method::DELETE, &path);
    let ended = admin.send(request.header("if-match", "\"1\"")).await;
    ended.expect(StatusCode::NO_CONTENT);
    assert!(app.sdk(&checkout.sdk_key).is_refused().await);
    assert!(!app.sdk(&key).is_refused().await);
    assert_eq!(stream.block().await, None);
    let environment = admin.get(&format!("/environments/{id}")).await;
    assert_eq!(environment.header("etag"), "\"2\"");
    assert_eq!(environment.json().get("previousKey"), None);
    let entry = admin.get("/audit").await.items()[0].clone();
    assert_eq!(entry["action"], "ENVIRONMENT_UPDATED");
    assert_eq!(
        entry["oldValue"]["previousKey"]["prefix"],
        checkout.sdk_key[..12]
    );
    assert_eq!(entry["newValue"].get("previousKey"), None);
    let entry = entry["id"].as_str().unwrap_or_default();
    let revert = admin
        .post(&format!("/audit/{entry}/revert"), json!({}))
        .await;
    revert.expect_problem(StatusCode::CONFLICT, "NOT_REVERTIBLE");
    let again = admin.delete(&path).await;
    again.expect_problem(StatusCode::NOT_FOUND, "PREVIOUS_KEY_NOT_FOUND");
    let old = admin.delete(&previous_key(&checkout.environment)).await;
    old.expect_problem(StatusCode::CONFLICT, "ENVIRONMENT_REVOKED");
}

#[tokio::test]
async fn a_second_rotation_and_a_revocation_end_the_overlap_at_once() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let second = overlap(&admin, &checkout.environment).await;
    let third = overlap(&admin, &second.id).await;
    assert!(app.sdk(&checkout.sdk_key).is_refused().await);
    assert!(works(&app, [&second.key, &third.key]).await);
    let revoke = format!("/environments/{}/revoke", third.id);
    let revoked = admin.post(&revoke, json!({})).await.expect(StatusCode::OK);
    assert_eq!(revoked.json().get("previousKey"), None);
    for key in [&checkout.sdk_key, &second.key, &third.key] {
        assert!(app.sdk(key).is_refused().await);
    }
    let stored = "select count(*) from environments where previous_key_hash is not null";
    assert_eq!(app.database().count(stored).await, 0);
}

#[tokio::test]
async fn other_instances_accept_the_previous_key_without_a_gap_and_refuse_it_when_it_ends() {
    let one = TestApp::start().await;
    let other = one.beside().await;
    other.follow();
    let admin = one.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let mut current = Rotated {
        id: checkout.environment.clone(),
        key: checkout.sdk_key.clone(),
    };
    eventually("the other instance serves the flag", async || {
        other.sdk(&current.key).is_on("checkout").await
    })
    .await;
    for _ in 0..3 {
        let next = overlap(&admin, &current.id).await;
        assert!(works(&one, [&current.key, &next.key]).await);
        eventually("the other instance accepts the new key", async || {
            assert!(
                other.sdk(&current.key).is_on("checkout").await,
                "the key always works"
            );
            other.sdk(&next.key).is_on("checkout").await
        })
        .await;
        current = next;
    }
    eventually("the other instance refuses the first key", async || {
        other.sdk(&checkout.sdk_key).is_refused().await
    })
    .await;
    // A start reads the previous keys, too.
    let started = one.beside().await;
    let next = overlap(&admin, &current.id).await;
    let restarted = one.beside().await;
    for app in [&started, &restarted] {
        app.follow();
    }
    let others = [&other, &started, &restarted];
    for app in others {
        eventually("both keys work", async || {
            works(app, [&current.key, &next.key]).await
        })
        .await;
    }
    let ended = admin.delete(&previous_key(&next.id)).await;
    ended.expect(StatusCode::NO_CONTENT);
    assert!(one.sdk(&current.key).is_refused().await);
    for app in others {
        eventually("all instances refuse the previous key", async || {
            app.sdk(&current.key).is_refused().await
        })
        .await;
        assert!(app.sdk(&next.key).is_on("checkout").await);
    }
}

#[tokio::test]
async fn the_end_holds_while_the_database_is_down() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let Rotated { key, .. } = overlap(&admin, &checkout.environment).await;
    let mut stream = ConfigStream::open(&app.sdk(&checkout.sdk_key)).await;
    stream.tag().await.expect("the first event");
    app.lose_database().await;
    assert!(works(&app, [&checkout.sdk_key, &key]).await);
    app.advance(3600);
    let refused = app.sdk(&checkout.sdk_key).get("/sdk/v1/config").await;
    let unknown = format!("pnk_{}", "A".repeat(43));
    let unknown = app.sdk(&unknown).get("/sdk/v1/config").await;
    assert_ne!(unknown.status, StatusCode::OK);
    assert_eq!(refused.status, unknown.status);
    assert_eq!(stream.block().await, None);
    assert!(app.sdk(&key).is_on("checkout").await);
}

#[tokio::test]
async fn the_use_of_the_previous_key_is_shown_by_client() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    app.sdk(&checkout.sdk_key)
        .fetch_as("@pennon/core/0.1.0")
        .await;
    let Rotated { id, key } = overlap(&admin, &checkout.environment).await;
    let path = previous_key(&id);
    let unused = admin.get(&path).await.expect(StatusCode::OK).json();
    assert_eq!(unused["lastUsedAt"], Value::Null);
    assert_eq!(unused["clients"], json!([]));
    app.advance(600);
    app.sdk(&key).fetch_as("@pennon/nest/0.1.0").await;
    let sdk = app.sdk(&checkout.sdk_key);
    sdk.fetch_as("@pennon/core/0.1.0").await;
    sdk.fetch_as("@pennon/core/0.1.0").await;
    sdk.evaluate("checkout").await;
    let counts =
        json!({ "counts": [{ "flagKey": "checkout", "reason": "flag_disabled", "count": 1 }] });
    let reported = sdk.post("/sdk/v1/usage", counts).await;
    reported.expect(StatusCode::NO_CONTENT);
    let bulk = sdk.post("/ofrep/v1/evaluate/flags", json!({})).await;
    bulk.expect(StatusCode::OK);
    app.flush_usage().await;
    let mut stream = ConfigStream::open(&sdk).await;
    stream.tag().await.expect("the first event");
    app.advance(60);
    app.flush_usage().await;
    let viewer = app.user("vic@example.com", "viewer").await;
    let used = viewer.get(&path).await.expect(StatusCode::OK).json();
    let (first, last) = ("2026-03-01T09:40:00.000Z", "2026-03-01T09:41:00.000Z");
    let expected = json!({
        "prefix": checkout.sdk_key[..12], "endsAt": "2026-03-01T10:30:00.000Z", "lastUsedAt": last,
        "clients": [
            { "package": null, "version": null, "requests": 4, "lastSeenAt": last },
            { "package": "@pennon/core", "version": "0.1.0", "requests": 2, "lastSeenAt": first },
        ],
    });
    assert_eq!(used, expected);
    // The environment's own clients include both keys.
    let clients = viewer.get(&format!("/environments/{id}/clients")).await;
    assert_eq!(clients.json()["items"][2]["package"], "@pennon/nest");
}

#[tokio::test]
async fn both_keys_share_the_rate_limit() {
    let app = TestApp::with_settings(&["--rate-limit-evaluate", "2"]).await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let Rotated { key, .. } = overlap(&admin, &checkout.environment).await;
    let mut statuses = Vec::new();
    for key in [&checkout.sdk_key, &key, &checkout.sdk_key, &key] {
        let answer = app.sdk(key).get("/sdk/v1/config").await;
        statuses.push(answer.status.as_u16());
    }
    assert_eq!(statuses, [200, 200, 429, 429]);
}

#[tokio::test]
async fn the_previous_key_of_a_public_environment_keeps_its_limits() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let new = json!({
        "product": "shop", "name": "web", "visibility": "public", "clientRules": "answers",
    });
    let created = admin.post("/environments", new).await;
    let created = created.expect(StatusCode::CREATED);
    let (id, key) = (created.text("/id"), created.text("/sdkKey"));
    let rotated = overlap(&admin, &id).await;
    assert!(rotated.key.starts_with("pnp_"));
    for key in [&key, &rotated.key] {
        let sdk = app.sdk(key);
        let config = sdk.get("/sdk/v1/config").await;
        config.expect_problem(StatusCode::FORBIDDEN, "CONFIG_NOT_PUBLIC");
        let all = sdk.post("/sdk/v1/evaluate/all", json!({})).await;
        all.expect(StatusCode::OK);
    }
}
