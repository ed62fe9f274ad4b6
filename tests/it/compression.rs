//! Compression of the responses with the results of all flags, and their size.

use pennon_tests::{Caller, TestApp};
use reqwest::header::{ACCEPT_ENCODING, IF_NONE_MATCH};
use reqwest::{Method, StatusCode};
use serde_json::json;

/// The number of flags with [`long_key`]s whose results do not fit into the part of a response that is made first.
const MANY: usize = 150;

/// Returns a key of the maximum length. Keys are ordered like their numbers.
fn long_key(number: usize) -> String {
    format!("flag_{number:0>123}")
}

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
            assert_eq!(answer.decompressed(), plain.bytes, "{path}");
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
async fn large_responses_arrive_completely() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let key = create_environment(&admin).await;
    create_flags(&admin, (0..MANY).map(long_key)).await;
    let sdk = app.sdk(&key);
    let filter: Vec<String> = (0..MANY)
        .map(|number| format!("keys={}", long_key(number)))
        .collect();
    let filtered = format!("/sdk/v1/config?{}", filter.join("&"));
    let requests = paths(&key).map(|path| (Method::POST, path));
    for (method, path) in requests.into_iter().chain([(Method::GET, filtered)]) {
        let request = || {
            let request = sdk.request(method.clone(), &path);
            request.json(&json!({ "context": { "targetingKey": "ada" } }))
        };
        let plain = sdk.send(request()).await.expect(StatusCode::OK);
        let length = plain.header("content-length");
        match method {
            Method::GET => assert_eq!(length, plain.bytes.len().to_string(), "{path}"),
            // Without a length, the response was not made at once.
            _ => assert_eq!(length, "", "{path}"),
        }
        let flags = plain.json()["flags"].as_array().expect("a list").clone();
        let keys: Vec<&str> = flags
            .iter()
            .filter_map(|flag| flag["key"].as_str())
            .collect();
        let all: Vec<String> = (0..MANY).map(long_key).collect();
        assert_eq!(keys, all, "{path}");
        for coding in ["gzip", "br"] {
            let answer = sdk.send(request().header(ACCEPT_ENCODING, coding)).await;
            let answer = answer.expect(StatusCode::OK);
            assert_eq!(answer.decompressed(), plain.bytes, "{path}");
            assert_eq!(answer.header("etag"), plain.header("etag"), "{path}");
        }
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
