//! Which products a flag may name.

use pennon_tests::TestApp;
use reqwest::StatusCode;
use serde_json::json;

use super::{Place, Scene, served};

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
    answer.expect_faults(&["/force"]);
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
    refused.expect_faults(&["/products"]);
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
