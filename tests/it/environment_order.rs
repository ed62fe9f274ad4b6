//! The order of the environments of a product.

use pennon_tests::{Answer, Caller, TestApp, TestDatabase, fixtures};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// Creates an environment, and returns its ID.
async fn environment(admin: &Caller<'_>, product: &str, name: &str) -> String {
    admin.environment(product, name).await.0
}

/// Returns the products and names of the active environments in the order of their products.
async fn ordered(caller: &Caller<'_>) -> Vec<String> {
    let answer = caller.get("/environments?sort=order&status=active").await;
    names(&answer.expect(StatusCode::OK).json()["items"])
}

fn names(environments: &Value) -> Vec<String> {
    let name = |each: &Value| {
        let text = |member: &str| each[member].as_str().unwrap_or_default().to_owned();
        format!("{}/{}", text("product"), text("name"))
    };
    let environments = environments.as_array().cloned().unwrap_or_default();
    environments.iter().map(name).collect()
}

async fn put(caller: &Caller<'_>, product: &str, ids: &[&String]) -> Answer {
    let order = json!({ "product": product, "environmentIds": ids });
    caller.put("/environments/order", order).await
}

#[tokio::test]
async fn environments_are_listed_in_the_order_of_their_product_and_new_ones_come_last() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let production = environment(&admin, "Shop", "production").await;
    let staging = environment(&admin, "Shop", "staging").await;
    environment(&admin, "Blog", "staging").await;
    assert_eq!(
        ordered(&admin).await,
        ["Blog/staging", "Shop/production", "Shop/staging"]
    );
    app.advance(1);
    let test = environment(&admin, "Shop", "test").await;
    let answer = put(&admin, "Shop", &[&test, &staging, &production]).await;
    let answer = answer.expect(StatusCode::OK);
    let order = ["Shop/test", "Shop/staging", "Shop/production"];
    assert_eq!(names(&answer.json()), order);
    assert_eq!(ordered(&admin).await[1..], order);
    let product = admin
        .get("/environments?sort=order&product=Shop&limit=2")
        .await;
    assert_eq!(names(&product.json()["items"]), order[..2]);
    app.advance(1);
    environment(&admin, "Shop", "demo").await;
    assert_eq!(ordered(&admin).await[4], "Shop/demo");
    // The default order stays.
    let newest = admin.get("/environments").await.json();
    assert_eq!(names(&newest["items"])[0], "Shop/demo");
    assert_eq!(
        newest,
        admin.get("/environments?sort=-createdAt").await.json()
    );
    let refused = admin.get("/environments?sort=name").await;
    refused.expect_faults(&["sort"]);
}

#[tokio::test]
async fn rotation_keeps_the_place_and_a_clone_comes_last() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let one = environment(&admin, "Shop", "one").await;
    let two = environment(&admin, "Shop", "two").await;
    put(&admin, "Shop", &[&two, &one])
        .await
        .expect(StatusCode::OK);
    app.advance(1);
    let (two, _) = admin.rotate_key(&two).await;
    let cloned = json!({ "name": "three" });
    let cloned = admin
        .post(&format!("/environments/{two}/clone"), cloned)
        .await;
    let three = cloned.expect(StatusCode::CREATED).text("/id");
    assert_eq!(
        ordered(&admin).await,
        ["Shop/two", "Shop/one", "Shop/three"]
    );
    let answer = put(&admin, "Shop", &[&three, &two, &one]).await;
    answer.expect(StatusCode::OK);
    assert_eq!(
        ordered(&admin).await,
        ["Shop/three", "Shop/two", "Shop/one"]
    );
    // A renamed environment keeps its place, and a revoked one is not part of the order.
    let renamed = json!({ "name": "0" });
    let renamed = admin.patch(&format!("/environments/{one}"), renamed).await;
    renamed.expect(StatusCode::OK);
    admin.revoke(&two).await;
    assert_eq!(ordered(&admin).await, ["Shop/three", "Shop/0"]);
    let answer = put(&admin, "Shop", &[&one, &three]).await;
    answer.expect(StatusCode::OK);
    assert_eq!(ordered(&admin).await, ["Shop/0", "Shop/three"]);
}

#[tokio::test]
async fn an_order_has_every_active_environment_of_the_product_exactly_once() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let one = environment(&admin, "Shop", "one").await;
    let two = environment(&admin, "Shop", "two").await;
    let gone = environment(&admin, "Shop", "gone").await;
    let other = environment(&admin, "Blog", "one").await;
    admin.revoke(&gone).await;
    let before = admin.audited().await;
    for ids in [
        vec![&one],
        vec![&one, &one],
        vec![&one, &two, &two],
        vec![&one, &two, &gone],
        vec![&one, &two, &other],
    ] {
        let refused = put(&admin, "Shop", &ids).await;
        refused.expect_faults(&["/environmentIds"]);
    }
    put(&admin, "Wiki", &[&one])
        .await
        .expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    for (body, faults) in [
        (json!({}), vec!["/product", "/environmentIds"]),
        (
            json!({ "product": "Shop", "environmentIds": [] }),
            vec!["/environmentIds"],
        ),
        (
            json!({ "product": "Shop", "environmentIds": ["x"], "dryRun": true }),
            vec!["/environmentIds/0", "/dryRun"],
        ),
    ] {
        let refused = admin.put("/environments/order", body).await;
        refused.expect_faults(&faults);
    }
    assert_eq!(ordered(&admin).await, ["Blog/one", "Shop/one", "Shop/two"]);
    assert_eq!(admin.audited().await, before);
}

#[tokio::test]
async fn every_moved_environment_is_recorded_and_an_unchanged_order_is_not() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let one = environment(&admin, "Shop", "one").await;
    let two = environment(&admin, "Shop", "two").await;
    let three = environment(&admin, "Shop", "three").await;
    let before = admin.audited().await.len();
    let revision = admin.get(&format!("/environments/{one}")).await;
    put(&admin, "Shop", &[&one, &two, &three])
        .await
        .expect(StatusCode::OK);
    assert_eq!(admin.audited().await.len(), before);
    put(&admin, "Shop", &[&one, &three, &two])
        .await
        .expect(StatusCode::OK);
    let entries = admin.get("/audit?limit=2").await.items();
    assert_eq!(admin.audited().await.len(), before + 2);
    let move_of = |entry: &Value| {
        let position = |value: &str| entry[value]["position"].as_i64();
        let name = entry["environment"].as_str().map(str::to_owned);
        (name, position("oldValue"), position("newValue"))
    };
    let mut moves: Vec<_> = entries.iter().map(move_of).collect();
    moves.sort();
    assert_eq!(
        moves,
        [
            (Some("three".to_owned()), Some(3), Some(2)),
            (Some("two".to_owned()), Some(2), Some(3)),
        ]
    );
    assert_eq!(entries[0]["groupId"], entries[1]["groupId"]);
    // The environment itself is unchanged, so that its `ETag` stays valid.
    let after = admin.get(&format!("/environments/{one}")).await;
    assert_eq!(revision.header("etag"), after.header("etag"));
    let path = format!(
        "/audit/{}/revert",
        entries[0]["id"].as_str().unwrap_or_default()
    );
    admin.post(&path, json!({})).await.expect(StatusCode::OK);
    let again = admin.post(&path, json!({})).await;
    again.expect_problem(StatusCode::CONFLICT, "ALREADY_REVERTED");
}

#[tokio::test]
async fn an_order_can_be_reverted_unless_its_environments_have_been_moved_since() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let one = environment(&admin, "Shop", "one").await;
    let two = environment(&admin, "Shop", "two").await;
    let three = environment(&admin, "Shop", "three").await;
    let before = ordered(&admin).await;
    let order = put(&admin, "Shop", &[&three, &one, &two]).await;
    order.expect(StatusCode::OK);
    let newest = admin.get("/audit?limit=1").await.json();
    let path = format!(
        "/audit/{}/revert",
        newest["items"][0]["id"].as_str().unwrap_or_default()
    );
    // A new environment is after all others, and stays there.
    let four = environment(&admin, "Shop", "four").await;
    let planned = admin.post(&format!("{path}?dryRun=true"), json!({})).await;
    let planned = planned.expect(StatusCode::OK).json();
    assert_eq!(planned["changes"].as_array().map(Vec::len), Some(3));
    admin.post(&path, json!({})).await.expect(StatusCode::OK);
    assert_eq!(ordered(&admin).await[..3], before);
    assert_eq!(ordered(&admin).await[3], "Shop/four");

    let order = put(&admin, "Shop", &[&two, &one, &three, &four]).await;
    order.expect(StatusCode::OK);
    let first = admin.get("/audit?limit=1").await.json();
    let order = put(&admin, "Shop", &[&three, &two, &one, &four]).await;
    order.expect(StatusCode::OK);
    let before = ordered(&admin).await;
    let path = format!(
        "/audit/{}/revert",
        first["items"][0]["id"].as_str().unwrap_or_default()
    );
    let refused = admin.post(&path, json!({})).await;
    let refused = refused.expect_problem(StatusCode::CONFLICT, "NOT_REVERTIBLE");
    assert!(refused.text("/detail").contains("moved again since"));
    assert_eq!(ordered(&admin).await, before);
}

#[tokio::test]
async fn an_administrator_of_a_product_orders_its_environments() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let one = environment(&admin, "Shop", "one").await;
    let two = environment(&admin, "Shop", "two").await;
    let blog = environment(&admin, "Blog", "one").await;
    let user = app.user("vic@example.com", "viewer").await;
    let id = user.get("/users/me").await.text("/id");
    for (grant, status) in [
        (
            json!({ "product": "Shop", "role": "admin" }),
            StatusCode::OK,
        ),
        (
            json!({ "product": "Shop", "role": "editor" }),
            StatusCode::FORBIDDEN,
        ),
        (
            json!({ "environmentId": one, "role": "admin" }),
            StatusCode::FORBIDDEN,
        ),
    ] {
        let grants = json!({ "grants": [grant] });
        let changed = admin.patch(&format!("/users/{id}"), grants).await;
        changed.expect(StatusCode::OK);
        put(&user, "Shop", &[&two, &one]).await.expect(status);
        put(&user, "Blog", &[&blog])
            .await
            .expect(StatusCode::FORBIDDEN);
    }
    assert_eq!(ordered(&admin).await, ["Blog/one", "Shop/two", "Shop/one"]);
}

#[tokio::test]
async fn an_upgrade_keeps_the_order_from_development_to_production() {
    // `prod` was created first.
    let database = TestDatabase::restored(&fixtures().join("database/0014")).await;
    let app = TestApp::over(database).await;
    let moved = "select count(*) from environments where status = 'active' and product = 'shop'
        and ((name = 'staging' and position = 1) or (name = 'prod' and position = 2))";
    assert_eq!(app.database().count(moved).await, 2);
    let revoked =
        "select count(*) from environments where status = 'revoked' and position is not null";
    assert_eq!(app.database().count(revoked).await, 0);
}
