//! Names with invisible characters: new ones are refused, and stored ones keep working.

use pennon_tests::{Answer, TestApp};
use reqwest::StatusCode;
use serde_json::{Value, json};

const HIDDEN: [&str; 8] = [
    "pay\u{200b}ments",
    "\u{202e}stnemyap",
    "pay\u{2066}ments\u{2069}",
    "payments\u{200e}",
    "\u{feff}payments",
    "pay\u{2060}ments",
    "pay\u{61c}ments",
    "pay\u{2028}ments",
];

/// A Persian word and an emoji that need joiners.
const JOINED: [&str; 2] = ["می\u{200c}خواهم", "👩\u{200d}💻"];

#[tokio::test]
async fn new_names_may_not_contain_invisible_characters_except_joiners() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let flag = admin.flag("checkout").await;
    let create = async |name: &str| -> Vec<(Answer, &str)> {
        vec![
            (
                admin
                    .post("/environments", json!({ "product": name, "name": "x" }))
                    .await,
                "/product",
            ),
            (
                admin
                    .post("/environments", json!({ "product": "x", "name": name }))
                    .await,
                "/name",
            ),
            (
                admin
                    .patch(
                        &format!("/environments/{environment}"),
                        json!({ "name": name }),
                    )
                    .await,
                "/name",
            ),
            (
                admin
                    .patch(&format!("/flags/{flag}"), json!({ "name": name }))
                    .await,
                "/name",
            ),
            (
                admin
                    .post(
                        "/users/me/tokens",
                        json!({ "name": name, "role": "viewer" }),
                    )
                    .await,
                "/name",
            ),
        ]
    };
    for name in HIDDEN {
        for (refused, pointer) in create(name).await {
            let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
            assert_eq!(refused.faults(), [pointer], "{name:?}");
        }
        let new = json!({ "key": "not a key", "name": name, "type": "boolean" });
        let refused = admin.post("/flags", new).await;
        let refused = refused.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(refused.faults(), ["/key", "/name"], "{name:?}");
    }
    for name in JOINED {
        for (accepted, _) in create(name).await {
            assert!(accepted.status.is_success(), "{name:?}");
        }
    }
    let blank = json!({ "name": "\u{200d}\u{200c}" });
    let refused = admin.patch(&format!("/flags/{flag}"), blank).await;
    assert_eq!(refused.faults(), ["/name"]);
}

#[tokio::test]
async fn stored_names_with_invisible_characters_keep_working() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let flag = admin.flag("checkout").await;
    for stored in [
        "update environments set product = 'sh\u{200b}op', name = 'pr\u{200b}od'",
        "update flags set name = 'check\u{200b}out'",
    ] {
        app.tamper(stored).await;
    }
    let unchanged = json!({ "name": "check\u{200b}out", "description": "new" });
    let path = format!("/flags/{flag}");
    admin.patch(&path, unchanged).await.expect(StatusCode::OK);
    let same = json!({ "name": "pr\u{200b}od" });
    let path_of_environment = format!("/environments/{environment}");
    admin
        .patch(&path_of_environment, same)
        .await
        .expect(StatusCode::OK);
    let rotate = format!("{path_of_environment}/rotate-key");
    let rotated = admin.post(&rotate, json!({})).await;
    let rotated: Value = rotated.expect(StatusCode::CREATED).json();
    assert_eq!(rotated["name"], "pr\u{200b}od");
    admin.delete(&path).await.expect(StatusCode::NO_CONTENT);
    let restored = admin.post(&format!("{path}/restore"), json!({})).await;
    restored.expect(StatusCode::OK);
    let exported = app.command(&["export"]).await.expect_success();
    let imported = app.command_with_input(&["import", "-"], &exported).await;
    imported.expect_success();
}
