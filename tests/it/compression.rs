//! Compression of the responses with the results of all flags.

use pennon_tests::{Caller, TestApp};
use reqwest::header::{ACCEPT_ENCODING, IF_NONE_MATCH};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::config::decompressed;

/// Creates public flags.
async fn create_flags(admin: &Caller<'_>, keys: impl Iterator<Item = String>) {
    for key in keys {
        let flag = json!({ "key": key, "name": "Banner", "type": "boolean", "public": true });
        let flag = admin.post("/flags", flag).await;
        flag.expect(StatusCode::CREATED);
    }
}

/// Creates a public environment, and returns its key.
async fn create_environment(admin: &Caller<'_>) -> String {
    let environment = json!({ "product": "Shop", "name": "web", "visibility": "public" });
    let environment = admin.post("/environments", environment).await;
    environment.expect(StatusCode::CREATED).text("/sdkKey")
}

/// The paths that return the results of all flags.
fn paths(key: &str) -> [String; 5] {
    [
        "/sdk/v1/evaluate/all".to_owned(),
        "/sdk/v1/bootstrap".to_owned(),
        format!("/sdk/v1/public/{key}/evaluate/all"),
        format!("/sdk/v1/public/{key}/bootstrap"),
        "/ofrep/v1/evaluate/flags".to_owned(),
    ]
}

#[tokio::test]
async fn the_results_of_all_flags_are_compressed_if_the_client_accepts_it() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let key = create_environment(&admin).await;
    create_flags(&admin, (0..20).map(|index| format!("flag_{index}"))).await;
    let sdk = app.sdk(&key);
    let body = json!({ "context": { "targetingKey": "ada" } });
    for path in paths(&key) {
        let request = || sdk.request(Method::POST, &path).json(&body);
        let plain = sdk.send(request()).await.expect(StatusCode::OK);
        assert_eq!(plain.header("content-encoding"), "", "{path}");
        for (accepted, coding) in [
            ("gzip, deflate, br, zstd", "gzip"),
            ("gzip;q=0.5", "gzip"),
            ("gzip;q=0", ""),
            ("identity", ""),
        ] {
            let answer = sdk.send(request().header(ACCEPT_ENCODING, accepted)).await;
            let answer = answer.expect(StatusCode::OK);
            assert_eq!(answer.header("content-encoding"), coding, "{path}");
            assert_eq!(answer.header("content-type"), "application/json", "{path}");
            assert_eq!(answer.header("etag"), plain.header("etag"), "{path}");
            assert_eq!(answer.header("vary"), plain.header("vary"), "{path}");
            assert_eq!(decompressed(coding, &answer.bytes), plain.bytes, "{path}");
            if coding == "gzip" {
                assert!(answer.bytes.len() * 4 < plain.bytes.len(), "{path}");
            }
        }
        assert!(plain.header("vary").contains("Accept-Encoding"), "{path}");
        let known = request()
            .header(ACCEPT_ENCODING, "gzip")
            .header(IF_NONE_MATCH, plain.header("etag"));
        let known = sdk.send(known).await.expect(StatusCode::NOT_MODIFIED);
        assert_eq!(known.header("content-encoding"), "", "{path}");
        assert_eq!(known.header("vary"), plain.header("vary"), "{path}");
        assert!(known.bytes.is_empty(), "{path}");
    }
}

#[tokio::test]
async fn the_results_of_few_flags_are_not_compressed() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let key = create_environment(&admin).await;
    create_flags(&admin, ["banner".to_owned()].into_iter()).await;
    let sdk = app.sdk(&key);
    let body = json!({ "context": { "targetingKey": "ada" } });
    for path in paths(&key) {
        let request = sdk.request(Method::POST, &path).json(&body);
        let answer = sdk.send(request.header(ACCEPT_ENCODING, "gzip")).await;
        let answer = answer.expect(StatusCode::OK);
        assert_eq!(answer.header("content-encoding"), "", "{path}");
        assert!(answer.json().to_string().contains("banner"), "{path}");
    }
}
