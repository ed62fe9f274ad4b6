//! The products of flags: a flag exists only in the environments of its products.

mod changes;
mod existence;
mod validation;

use pennon_tests::{Answer, Caller, TestApp, equals, rule};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// An application with the environments `Shop`/`prod` and `Blog`/`prod`, and a flag.
struct Scene {
    flag: String,
    shop: Place,
    blog: Place,
}

/// An environment.
struct Place {
    environment: String,
    sdk_key: String,
}

impl Scene {
    /// Creates the environments and the flag `checkout` with these products.
    async fn with(admin: &Caller<'_>, products: Value) -> Self {
        let place = async |product: &str| {
            let (environment, sdk_key) = admin.environment(product, "prod").await;
            Place {
                environment,
                sdk_key,
            }
        };
        let (shop, blog) = (place("Shop").await, place("Blog").await);
        let new = json!({ "key": "checkout", "name": "Checkout", "type": "boolean", "products": products });
        let created = admin.post("/flags", new).await;
        Self {
            flag: created.expect(StatusCode::CREATED).text("/id"),
            shop,
            blog,
        }
    }

    fn path(&self) -> String {
        format!("/flags/{}", self.flag)
    }

    /// Returns the path of the flag in an environment.
    fn within(&self, place: &Place) -> String {
        format!("/flags/{}/environments/{}", self.flag, place.environment)
    }

    /// Changes the products of the flag.
    async fn limit(&self, admin: &Caller<'_>, products: Value) -> Answer {
        let body = json!({ "products": products });
        admin.patch(&self.path(), body).await
    }
}

/// Returns a rule that turns the flag on in Germany.
fn rule_for_germany() -> Value {
    rule(1, equals("country", "DE"))
}

/// Returns the keys in the config document.
async fn served(app: &TestApp, place: &Place) -> Vec<String> {
    let document = app.sdk(&place.sdk_key).get("/sdk/v1/config").await;
    let document = document.expect(StatusCode::OK).json();
    let flags = document["flags"].as_array().cloned().unwrap_or_default();
    let key = |flag: &Value| flag["key"].as_str().unwrap_or_default().to_owned();
    flags.iter().map(key).collect()
}

/// Evaluates the flag in an environment.
async fn evaluate(app: &TestApp, place: &Place) -> Answer {
    app.sdk(&place.sdk_key).evaluate("checkout").await
}

/// Checks that an environment has no trace of the flag for its applications.
async fn expect_absent(app: &TestApp, place: &Place) {
    let sdk = app.sdk(&place.sdk_key);
    assert_eq!(served(app, place).await, [""; 0]);
    let filtered = sdk.get("/sdk/v1/config?keys[]=checkout").await;
    assert_eq!(filtered.json()["flags"], json!([]));
    let not_found = evaluate(app, place).await;
    not_found.expect_problem(StatusCode::NOT_FOUND, "FLAG_NOT_FOUND");
    let explained = sdk
        .post("/sdk/v1/explain", json!({ "flagKey": "checkout" }))
        .await;
    explained.expect_problem(StatusCode::NOT_FOUND, "FLAG_NOT_FOUND");
    let batch = json!({ "evaluations": [{ "flagKey": "checkout" }] });
    let batch = sdk.post("/sdk/v1/evaluate/batch", batch).await;
    let off = json!([{ "enabled": false, "reason": "flag_disabled" }]);
    assert_eq!(batch.expect(StatusCode::OK).json(), off);
    let ofrep = sdk
        .post("/ofrep/v1/evaluate/flags/checkout", json!({}))
        .await;
    assert_eq!(ofrep.status, StatusCode::NOT_FOUND);
    let bulk = sdk.post("/ofrep/v1/evaluate/flags", json!({})).await;
    assert_eq!(bulk.expect(StatusCode::OK).json()["flags"], json!([]));
}
