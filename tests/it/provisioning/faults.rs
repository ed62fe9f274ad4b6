//! Bootstrap files that cannot be applied.

use std::time::Duration;

use pennon_tests::{EMAIL, Process, TestDatabase};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::bootstrap::{Bootstrap, is_on};

/// Fails the test unless the start fails with all of these errors, and the log contains no secret.
async fn expect_refused(
    bootstrap: &Bootstrap,
    database: &TestDatabase,
    settings: &[(&str, &str)],
    complaints: &[&str],
) {
    let process = bootstrap.starting_with(database, settings);
    let ended = process.ended_within(Duration::from_secs(20)).await;
    let ended = ended.expect("the start is refused");
    assert_eq!(ended.status.code(), Some(1), "{}", ended.log);
    assert!(ended.log.contains("nothing was changed"), "{}", ended.log);
    assert!(
        ended.log.contains(&bootstrap.path().display().to_string()),
        "{}",
        ended.log
    );
    for complaint in complaints {
        assert!(ended.log.contains(complaint), "{complaint}: {}", ended.log);
    }
    bootstrap.expect_hidden(&ended.log);
    let short = &bootstrap.sdk_key(0)[4..40];
    assert!(!ended.log.contains(short), "{}", ended.log);
}

/// Changes a member of the file, or an item of one of its lists.
fn set(file: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = file.pointer_mut(parent).expect("a place in the file");
    match name.parse::<usize>() {
        Ok(index) => parent[index] = value,
        Err(_) => parent[name] = value,
    }
}

#[tokio::test]
async fn a_faulty_file_fails_the_start_with_every_fault_and_changes_nothing() {
    let bootstrap = Bootstrap::documented();
    let database = TestDatabase::create().await;
    let [key, other] = [0, 1].map(|index| bootstrap.sdk_key(index));
    let environment =
        |name: &str, key: &str| json!({ "product": "Web shop", "name": name, "sdkKey": key });
    let cases = [
        (
            vec![
                ("/environments/0/sdkKey", json!(key[..40])),
                ("/environments/1/sdkKey", json!(bootstrap.token())),
                ("/environments/1/key", json!("x")),
                ("/personalAccessToken/token", json!(key)),
                ("/personalAccessToken/expiresInDays", json!(367)),
                ("/flags/0/type", json!("bool")),
                ("/sdkKeys", json!([])),
            ],
            vec![
                "/environments/0/sdkKey: must be an SDK key of 256 bits",
                "/environments/1/sdkKey: must be an SDK key of 256 bits",
                "/environments/1/key: is unknown",
                "/personalAccessToken/token: must be a personal access token of 256 bits",
                "/personalAccessToken/expiresInDays: must be 1 to 366",
                "/flags/0/type: must be",
                "/sdkKeys: is unknown",
            ],
        ),
        (
            vec![("/environments/0/sdkKey", json!(format!("{key}\n")))],
            vec!["must be an SDK key of 256 bits"],
        ),
        // The last of 43 characters encodes only four bits, so two bits would be lost.
        (
            vec![("/environments/0/sdkKey", json!(format!("{}B", &key[..46])))],
            vec!["must be an SDK key of 256 bits"],
        ),
        (
            vec![("/environments", json!([]))],
            vec!["/environments: must have 1 to 1000 items"],
        ),
        (
            vec![
                (
                    "/environments",
                    json!([
                        environment("production", key),
                        environment("production", other),
                        environment("test", key),
                    ]),
                ),
                ("/flags/0/environments/0/environment", json!("gone")),
            ],
            vec![
                "/environments/1/name: Web shop/production occurs twice in the file",
                "/environments/2/sdkKey: another environment in the file has this SDK key",
                "/flags/0/environments/0: there is no active environment Web shop/gone",
            ],
        ),
        (
            vec![("/formatVersion", json!(2))],
            vec!["`formatVersion` 1"],
        ),
    ];
    for (edits, complaints) in cases {
        let mut content = bootstrap.content.clone();
        for (pointer, value) in edits {
            set(&mut content, pointer, value);
        }
        bootstrap.write(&content.to_string());
        expect_refused(&bootstrap, &database, &[], &complaints).await;
    }
    let twice = bootstrap
        .content
        .to_string()
        .replacen('{', r#"{"flags":[],"#, 1);
    for (content, complaint) in [
        ("", "is not valid JSON"),
        ("[]", "is not a JSON object"),
        (&twice, "/flags: "),
    ] {
        bootstrap.write(content);
        expect_refused(&bootstrap, &database, &[], &[complaint]).await;
    }
    std::fs::remove_file(bootstrap.path()).expect("the file is removed");
    expect_refused(
        &bootstrap,
        &database,
        &[],
        &["cannot be read: No such file"],
    )
    .await;
    bootstrap.write(&bootstrap.content.to_string());

    // Not even the first administrator exists, so no generated password is lost.
    let users = database.command(&["user", "list"]).await.expect_success();
    assert_eq!(users, "");
    let process = bootstrap.start(&database).await;
    assert_eq!(is_on(&process, other).await, Some(true));
    process.access_token().await;
}

#[tokio::test]
async fn products_must_be_among_those_of_the_settings() {
    let mut bootstrap = Bootstrap::documented();
    bootstrap.content["flags"][0]["products"] = json!(["Attic"]);
    bootstrap.write(&bootstrap.content.to_string());
    let complaints = [
        "/environments/0/product: must be one of Bank, Mobile",
        "/flags/0/products: `Attic` must be one of Bank, Mobile",
    ];
    let products = [("PENNON_PRODUCTS", "Bank,Mobile")];
    let database = TestDatabase::create().await;
    expect_refused(&bootstrap, &database, &products, &complaints).await;
}

#[tokio::test]
async fn a_key_must_fit_the_visibility_of_its_environment() {
    let mut bootstrap = Bootstrap::documented();
    let environments = &mut bootstrap.content["environments"];
    environments[0]["visibility"] = json!("public");
    environments[1]["clientRules"] = json!("answers");
    bootstrap.write(&bootstrap.content.to_string());
    let complaints = [
        "/environments/0/sdkKey: does not fit an environment with the visibility `public`",
        "/environments/1/clientRules: must be `full`",
    ];
    expect_refused(&bootstrap, &TestDatabase::create().await, &[], &complaints).await;
}

#[tokio::test]
async fn an_account_that_is_no_administrator_prevents_the_creation_of_the_first_one() {
    let bootstrap = Bootstrap::documented();
    let database = TestDatabase::create().await;
    Process::start(&database, &[]).await.stop().await;
    database.execute("update users set role = 'viewer'").await;
    let log = Process::fails_to_start(database.url(), &[]).await;
    let remedy = format!("make it one with `pennon user set-role {EMAIL} admin`");
    assert!(log.contains(&remedy), "{log}");
    let promote = ["user", "set-role", EMAIL, "admin"];
    database.command(&promote).await.expect_success();
    let process = bootstrap.start(&database).await;
    let script = process.with_token(bootstrap.token());
    script.get("/flags").await.expect(StatusCode::OK);
}
