//! `pennon types`

use pennon_tests::TestApp;
use reqwest::StatusCode;
use serde_json::json;

const DECLARED: &str = r#"// Made by `pennon types`.

import "@pennon/core";

declare module "@pennon/core" {
  interface RegisteredFlags {
    /** A flag: What it is for. */
    "a.flag": boolean;
    checkout: boolean;
  }
}
"#;

/// Starts a service with a flag that has a description, one without a description, and an archived flag.
async fn app() -> TestApp {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    admin.flag("checkout").await;
    let body = json!({ "key": "a.flag", "name": "A flag", "description": "What it is\nfor.", "type": "boolean" });
    admin.post("/flags", body).await.expect(StatusCode::CREATED);
    let old = admin.flag("old").await;
    let archived = admin.delete(&format!("/flags/{old}")).await;
    archived.expect(StatusCode::NO_CONTENT);
    app
}

#[tokio::test]
async fn types_declares_the_flags_of_a_database_or_an_export() {
    let app = app().await;
    let declared = app.command(&["types"]).await.expect_success();
    assert_eq!(declared, DECLARED);

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flags.d.ts");
    let out = file.to_str().expect("a name");
    let export = app.command(&["export"]).await.expect_success();
    let arguments = ["types", "--from", "-", "--out", out];
    let ran = app.command_with_input(&arguments, &export).await;
    assert_eq!(ran.expect_success(), "");
    let written = std::fs::read_to_string(&file).expect("a file");
    assert_eq!(written, DECLARED);
}

#[tokio::test]
async fn types_accepts_a_config_document_and_refuses_anything_else() {
    let app = app().await;
    let (_, key) = app.admin().await.environment("shop", "prod").await;
    let config = app.sdk(&key).get("/sdk/v1/config").await.json();
    let from = ["types", "--from", "-"];
    let ran = app.command_with_input(&from, &config.to_string()).await;
    assert!(
        ran.expect_success()
            .contains("\n    \"a.flag\": boolean;\n    checkout: boolean;\n")
    );
    for text in ["", "[]", "<html>", r#"{"flags":[{}]}"#] {
        let ran = app.command_with_input(&from, text).await;
        ran.expect_failure("- has no flags to read");
    }
    let nowhere = ["types", "--from", "/no/such/file"];
    app.command(&nowhere).await.expect_failure("cannot be read");
}
