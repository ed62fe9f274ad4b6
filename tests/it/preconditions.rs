//! `ETag` and `If-Match`: no write overwrites an unseen change.

use pennon_tests::{Answer, Caller, FlagEnvironment, PASSWORD, TestApp, equals, rollout, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// The paths of one object of each kind that can change.
struct Objects {
    checkout: FlagEnvironment,
    rule: String,
}

impl Objects {
    async fn create(admin: &Caller<'_>) -> Self {
        let checkout = admin.flag_environment().await;
        let rule = admin.rule(&checkout.path, rule_with(1)).await;
        admin.rollout(&checkout.path, 10).await;
        Self { checkout, rule }
    }

    /// Returns the requests that change an object: method, path and body.
    fn changes(&self) -> [(Method, String, Value); 5] {
        let FlagEnvironment {
            flag,
            environment,
            path,
            ..
        } = &self.checkout;
        let (patch, put) = (Method::PATCH, Method::PUT);
        [
            (
                patch.clone(),
                format!("/flags/{flag}"),
                json!({ "name": "New" }),
            ),
            (
                patch,
                format!("/environments/{environment}"),
                json!({ "name": "new" }),
            ),
            (
                put.clone(),
                path.clone(),
                json!({ "ttlOverrideSeconds": 5 }),
            ),
            (put.clone(), format!("/rules/{}", self.rule), rule_with(2)),
            (put, format!("{path}/rollout"), rollout(20)),
        ]
    }

    /// Returns the requests that delete, archive, restore or revoke an object, in an order in which each is possible:
    /// method, path, and the path that has the object's tag.
    fn ends(&self) -> [(Method, String, String); 5] {
        let FlagEnvironment {
            flag,
            environment,
            path,
            ..
        } = &self.checkout;
        let (rule, rollout) = (format!("/rules/{}", self.rule), format!("{path}/rollout"));
        let (flag, environment) = (
            format!("/flags/{flag}"),
            format!("/environments/{environment}"),
        );
        let twice = |path: String| (path.clone(), path);
        let ((rollout, rollout_), (flag, flag_)) = (twice(rollout), twice(flag));
        [
            (Method::DELETE, rule.clone(), rule),
            (Method::DELETE, rollout, rollout_),
            (Method::DELETE, flag.clone(), flag_.clone()),
            (Method::POST, format!("{flag}/restore"), flag_),
            (Method::POST, format!("{environment}/revoke"), environment),
        ]
    }
}

/// Returns a rule with this priority.
fn rule_with(priority: usize) -> Value {
    rule(priority, equals("country", "DE"))
}

async fn send(caller: &Caller<'_>, method: &Method, path: &str, body: &Value, tag: &str) -> Answer {
    let mut request = caller.request(method.clone(), path).header("if-match", tag);
    if !body.is_null() {
        request = request.json(body);
    }
    caller.send(request).await
}

#[tokio::test]
async fn every_object_has_an_etag_and_changes_only_if_it_matches() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let objects = Objects::create(&admin).await;
    for (method, path, body) in objects.changes() {
        let read = admin.get(&path).await.expect(StatusCode::OK);
        let first = read.header("etag").to_owned();
        assert!(
            first.starts_with('"') && first.ends_with('"'),
            "{path}: {first}"
        );
        let leading_zero = format!("\"0{}", first.trim_start_matches('"'));
        for stale in [
            "\"999\"",
            "\"\"",
            &format!("W/{first}"),
            "1",
            "\"1.0\"",
            &leading_zero,
            "",
        ] {
            let refused = send(&admin, &method, &path, &body, stale).await;
            let refused = refused.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
            assert_eq!(refused.header("etag"), first, "{path} under {stale}");
        }
        let changed = send(&admin, &method, &path, &body, &format!("\"998\", {first}")).await;
        assert!(changed.status.is_success(), "{path}: {}", changed.status);
        let second = changed.header("etag").to_owned();
        assert_ne!(second, first, "{path}");
        let behind = send(&admin, &method, &path, &json!({ "bad": 1 }), &first).await;
        behind.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        let behind = send(&admin, &method, &path, &body, &first).await;
        let behind = behind.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
        assert_eq!(behind.header("etag"), second, "{path}");
        let again = send(&admin, &method, &path, &body, "*").await;
        assert_eq!(again.header("etag"), second, "{path}: nothing changed");
    }
}

#[tokio::test]
async fn a_stale_precondition_prevents_deletion() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let objects = Objects::create(&admin).await;
    let before = admin.audited().await;
    for (method, path, seen_at) in objects.ends() {
        let refused = send(&admin, &method, &path, &Value::Null, "\"998\"").await;
        let refused = refused.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
        let current = refused.header("etag").to_owned();
        let shown = admin.get(&seen_at).await.expect(StatusCode::OK);
        assert_eq!(shown.header("etag"), current, "{seen_at}");
        let ended = send(&admin, &method, &path, &Value::Null, &current).await;
        assert!(ended.status.is_success(), "{path}: {}", ended.status);
    }
    assert_eq!(
        admin.audited().await.len(),
        before.len() + objects.ends().len()
    );
}

#[tokio::test]
async fn a_stale_precondition_prevents_key_rotation() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let path = format!("/environments/{environment}/rotate-key");
    send(&admin, &Method::POST, &path, &Value::Null, "\"2\"")
        .await
        .expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
    let rotated = send(&admin, &Method::POST, &path, &Value::Null, "\"1\"").await;
    assert_eq!(rotated.expect(StatusCode::CREATED).header("etag"), "\"1\"");
}

#[tokio::test]
async fn a_missing_rollout_cannot_be_overwritten_and_a_new_one_has_a_new_etag() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let path = admin.flag_environment().await.path + "/rollout";
    let body = rollout(10);
    for tag in ["*", "\"1\""] {
        let refused = send(&admin, &Method::PUT, &path, &body, tag).await;
        let refused = refused.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
        assert_eq!(refused.header("etag"), "");
    }
    let first = admin
        .put(&path, body.clone())
        .await
        .expect(StatusCode::CREATED);
    admin.delete(&path).await.expect(StatusCode::NO_CONTENT);
    let second = admin
        .put(&path, body.clone())
        .await
        .expect(StatusCode::CREATED);
    assert_ne!(first.header("etag"), second.header("etag"));
    let read = admin.get(&path).await;
    assert_eq!(read.header("etag"), second.header("etag"));
    send(
        &admin,
        &Method::DELETE,
        &path,
        &Value::Null,
        first.header("etag"),
    )
    .await
    .expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
}

#[tokio::test]
async fn a_rule_is_added_only_to_the_rules_that_the_caller_has_read() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let objects = Objects::create(&admin).await;
    let path = format!("{}/rules", objects.checkout.path);
    let tag = admin.get(&path).await.header("etag").to_owned();
    let post = Method::POST;
    let stale = send(&admin, &post, &path, &rule_with(2), "\"999\"").await;
    stale.expect(StatusCode::PRECONDITION_FAILED);
    let added = send(&admin, &post, &path, &rule_with(2), &tag).await;
    added.expect(StatusCode::CREATED);
    let stale = send(&admin, &post, &path, &rule_with(3), &tag).await;
    stale.expect(StatusCode::PRECONDITION_FAILED);

    let (path, put) = ("/users/me/password", Method::PUT);
    let change = json!({ "currentPassword": PASSWORD, "newPassword": "another long password" });
    let stale = send(&admin, &put, path, &change, "\"999\"").await;
    stale.expect(StatusCode::PRECONDITION_FAILED);
    let tag = admin.get("/users/me").await.header("etag").to_owned();
    let changed = send(&admin, &put, path, &change, &tag).await;
    changed.expect(StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn one_of_two_concurrent_changes_with_the_same_etag_succeeds() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let flag = format!("/flags/{}", admin.flag("checkout").await);
    let (one, two) = (json!({ "name": "One" }), json!({ "name": "Two" }));
    let (one, two) = tokio::join!(
        send(&admin, &Method::PATCH, &flag, &one, "\"1\""),
        send(&admin, &Method::PATCH, &flag, &two, "\"1\""),
    );
    let mut statuses = [one.status, two.status];
    statuses.sort();
    assert_eq!(statuses, [StatusCode::OK, StatusCode::PRECONDITION_FAILED]);
}

#[tokio::test]
async fn the_etag_of_a_rule_is_stale_after_a_key_rotation() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let created = admin
        .post(&format!("{}/rules", checkout.path), rule_with(1))
        .await;
    let created = created.expect(StatusCode::CREATED);
    let path = format!("/rules/{}", created.text("/id"));
    admin.rotate_key(&checkout.environment).await;
    send(
        &admin,
        &Method::PUT,
        &path,
        &rule_with(2),
        created.header("etag"),
    )
    .await
    .expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
}
