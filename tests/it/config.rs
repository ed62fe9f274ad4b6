//! The config document: content, filters, entity tags and codings.

use pennon_tests::{Answer, Caller, TestApp, equals, rollout, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

async fn conditional(sdk: &Caller<'_>, path: &str, tag: &str) -> Answer {
    sdk.send(sdk.request(Method::GET, path).header("if-none-match", tag))
        .await
}

#[tokio::test]
async fn the_document_sorts_active_flags_by_key_and_rules_by_priority() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, key) = admin.environment("shop", "prod").await;
    let (b, gone) = (admin.flag("b").await, admin.flag("gone").await);
    admin.flag("a").await;
    admin.flag("B").await;
    let path = format!("/flags/{b}/environments/{environment}");
    let rule = |priority: usize| rule(priority, equals("plan", "pro"));
    for priority in [20, 3] {
        admin.rule(&path, rule(priority)).await;
    }
    admin.rollout(&path, 25).await;
    admin
        .put(&path, json!({ "isEnabled": true, "ttlOverrideSeconds": 5 }))
        .await
        .expect(StatusCode::NO_CONTENT);
    admin.archive(&gone).await;
    let off = |key: &str| json!({ "key": key, "enabled": false, "rules": [], "rollout": null, "ttlOverrideSeconds": null });
    let on = json!({
        "key": "b", "enabled": true, "rules": [rule(3), rule(20)], "rollout": rollout(25), "ttlOverrideSeconds": 5,
    });
    let answer = app
        .sdk(&key)
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::OK);
    assert_eq!(
        answer.json(),
        json!({ "format": 1, "flags": [off("B"), off("a"), on] })
    );
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("cache-control"), "private, no-cache");
    assert_eq!(
        answer.header("vary"),
        "Authorization, Accept-Encoding, Origin"
    );
}

#[tokio::test]
async fn the_etag_depends_only_on_the_content() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    let first = sdk.get("/sdk/v1/config").await.expect(StatusCode::OK);
    let tag = first.header("etag").to_owned();
    assert!(tag.starts_with("W/\"") && tag.ends_with('"'), "{tag}");
    for header in [
        tag.clone(),
        tag.replace("W/", ""),
        format!("\"x\", {tag}"),
        "*".to_owned(),
    ] {
        let answer = conditional(&sdk, "/sdk/v1/config", &header)
            .await
            .expect(StatusCode::NOT_MODIFIED);
        assert!(answer.bytes.is_empty());
        assert_eq!(answer.header("etag"), tag);
        assert_eq!(answer.header("access-control-allow-origin"), "*");
    }
    // A HEAD request reports the length of the document, so a 304 reports none.
    for method in [Method::GET, Method::HEAD] {
        let request = sdk.request(method.clone(), "/sdk/v1/config");
        let answer = sdk.send(request.header("if-none-match", &tag)).await;
        let answer = answer.expect(StatusCode::NOT_MODIFIED);
        assert!(!answer.headers.contains_key("content-length"), "{method}");
        let answer = sdk.send(sdk.request(method, "/sdk/v1/config")).await;
        assert_eq!(
            answer.header("content-length"),
            first.bytes.len().to_string()
        );
    }
    admin.switch_on(&checkout).await;
    let changed = conditional(&sdk, "/sdk/v1/config", &tag)
        .await
        .expect(StatusCode::OK);
    assert_ne!(changed.header("etag"), tag);
    admin.switch_off(&checkout).await;
    conditional(&sdk, "/sdk/v1/config", &tag)
        .await
        .expect(StatusCode::NOT_MODIFIED);
    let stranger = conditional(&app.sdk("pnk_x"), "/sdk/v1/config", &tag).await;
    stranger.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
}

#[tokio::test]
async fn keys_filter_the_document_and_its_etag() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, key) = admin.environment("shop", "prod").await;
    for key in ["a", "c"] {
        admin.flag(key).await;
    }
    let b = admin.flag("b").await;
    let sdk = app.sdk(&key);
    let keys = async |query: &str| -> Vec<Value> {
        let document = sdk
            .get(&format!("/sdk/v1/config?{query}"))
            .await
            .expect(StatusCode::OK)
            .json();
        document["flags"]
            .as_array()
            .expect("flags")
            .iter()
            .map(|flag| flag["key"].clone())
            .collect()
    };
    assert_eq!(keys("").await, ["a", "b", "c"]);
    assert_eq!(keys("keys[]=c&keys[]=a&keys[]=a").await, ["a", "c"]);
    assert_eq!(keys("keys%5B%5D=b").await, ["b"]);
    assert_eq!(keys("keys=b&unknown=1").await, ["b"]);
    assert_eq!(keys("keys[0]=b&keys[12]=b").await, ["b"]);
    for nothing in ["keys[]=x", "keys[]=", "keys", "keys[]=A", "keys[]=%00"] {
        let answer = sdk
            .get(&format!("/sdk/v1/config?{nothing}"))
            .await
            .expect(StatusCode::OK);
        assert_eq!(answer.bytes, br#"{"format":1,"flags":[]}"#, "{nothing}");
    }
    let tag = sdk
        .get("/sdk/v1/config?keys=a")
        .await
        .header("etag")
        .to_owned();
    admin.switch(&b, &environment, true).await;
    conditional(&sdk, "/sdk/v1/config?keys=a", &tag)
        .await
        .expect(StatusCode::NOT_MODIFIED);
    conditional(&sdk, "/sdk/v1/config?keys=a&keys=b", &tag)
        .await
        .expect(StatusCode::OK);
}

#[tokio::test]
async fn every_content_encoding_has_the_same_etag_and_content() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, key) = admin.environment("shop", "prod").await;
    for index in 0..20 {
        admin.flag(&format!("flag_{index}")).await;
    }
    let sdk = app.sdk(&key);
    let plain = sdk.get("/sdk/v1/config").await.expect(StatusCode::OK);
    assert_eq!(plain.header("content-encoding"), "");
    for (accepted, coding) in [
        ("gzip", "gzip"),
        ("gzip, br", "br"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("deflate, identity", ""),
        ("gzip;q=0", ""),
    ] {
        let request = sdk
            .request(Method::GET, "/sdk/v1/config")
            .header("accept-encoding", accepted);
        let answer = sdk.send(request).await.expect(StatusCode::OK);
        assert_eq!(answer.header("content-encoding"), coding, "{accepted}");
        assert_eq!(answer.header("etag"), plain.header("etag"));
        assert_eq!(answer.decompressed(), plain.bytes, "{accepted}");
    }
}
