//! Environments: creating, listing and reading them.

use pennon_tests::{START, TestApp};
use reqwest::StatusCode;
use serde_json::{Value, json};

#[tokio::test]
async fn a_new_environment_is_answered_with_its_key_once() {
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
        "id": id, "product": "shop", "name": "prod", "sdkKeyPrefix": &key[..12], "status": "active",
        "createdAt": START,
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
    assert!(!String::from_utf8_lossy(&audit.bytes).contains(&key));
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
async fn lists_are_newest_first_and_come_in_pages() {
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
    assert_eq!(names("?status=revoked").await, [] as [Value; 0]);
    assert_eq!(names("?status=active&limit=3&page=2").await, ["one"]);
    let past_the_end = admin.get("/environments?page=9").await.json();
    assert_eq!(
        past_the_end,
        json!({ "items": [], "pagination": { "page": 9, "limit": 20, "total": 4 } })
    );
}

#[tokio::test]
async fn bad_input_is_named_member_by_member() {
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
        assert_eq!(
            answer
                .expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT")
                .faults(),
            faults
        );
    }
    for (query, faults) in [
        ("?page=0&limit=101", vec!["page", "limit"]),
        ("?page=x&status=gone", vec!["page", "status"]),
        ("?page=1&page=2", vec!["page"]),
        ("?prodct=shop", vec!["prodct"]),
    ] {
        let answer = admin.get(&format!("/environments{query}")).await;
        assert_eq!(
            answer
                .expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT")
                .faults(),
            faults
        );
    }
}

#[tokio::test]
async fn an_unknown_or_malformed_id_does_not_exist() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for id in ["0190a000-0000-7000-8000-000000000000", "x", "%00"] {
        let answer = admin.get(&format!("/environments/{id}")).await;
        answer.expect_problem(StatusCode::NOT_FOUND, "ENVIRONMENT_NOT_FOUND");
    }
}

#[tokio::test]
async fn products_can_be_restricted() {
    let app = TestApp::with_settings(&["--products", "shop,blog"]).await;
    let admin = app.admin().await;
    admin.environment("blog", "prod").await;
    let refused = admin
        .post(
            "/environments",
            json!({ "product": "Shop", "name": "prod" }),
        )
        .await;
    assert_eq!(
        refused
            .expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT")
            .faults(),
        ["/product"]
    );
}
