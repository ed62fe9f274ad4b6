//! Environments, keys, flags and a token from the bootstrap file, which applies only to the first start.

mod bootstrap;
mod faults;

use pennon_model::time::Timestamp;
use pennon_tests::{EMAIL, Process, TestDatabase};
use reqwest::StatusCode;
use serde_json::json;

use self::bootstrap::{APPLIED, Bootstrap, IGNORED, is_on};

#[tokio::test]
async fn the_documented_file_creates_environments_flags_and_a_token() {
    let bootstrap = Bootstrap::documented();
    let database = TestDatabase::create().await;
    let process = bootstrap.start(&database).await;
    assert_eq!(is_on(&process, bootstrap.sdk_key(0)).await, Some(false));
    assert_eq!(is_on(&process, bootstrap.sdk_key(1)).await, Some(true));

    let token = bootstrap.token();
    let script = process.with_token(token);
    let me = script.get("/users/me").await.expect(StatusCode::OK);
    assert_eq!(me.text("/email"), EMAIL);
    let tokens = script.get("/users/me/tokens").await.json();
    assert_eq!(tokens.as_array().map(Vec::len), Some(1));
    assert_eq!(tokens[0]["name"], "deploy");
    assert_eq!(tokens[0]["role"], "editor");
    assert_eq!(tokens[0]["tokenPrefix"], token[..12]);
    let days = |pointer: &str| -> i64 {
        let time = tokens[0][pointer].as_str().expect("a time");
        let time: Timestamp = time.parse().expect("a time");
        time.millis() / (24 * 60 * 60 * 1000)
    };
    assert_eq!(days("expiresAt") - days("createdAt"), 30);
    let environments = script.get("/environments").await.json();
    assert_eq!(environments["pagination"]["total"], 2);
    let prefix = &bootstrap.sdk_key(1)[..12];
    assert_eq!(environments["items"][0]["sdkKeyPrefix"], prefix);
    // An editor's token has no administrator rights.
    let other = json!({ "product": "Web shop", "name": "other" });
    let refused = script.post("/environments", other).await;
    refused.expect(StatusCode::FORBIDDEN);

    let admin = process.admin().await;
    let audit = admin.get("/audit?include=accounts").await;
    bootstrap.expect_hidden(&audit.body());
    let entries = audit.items();
    let actions: Vec<&str> = entries
        .iter()
        .rev()
        .filter_map(|entry| entry["action"].as_str())
        .collect();
    assert_eq!(
        actions,
        [
            "USER_CREATED",
            "ENVIRONMENT_CREATED",
            "ENVIRONMENT_CREATED",
            "FLAG_CREATED",
            "FLAG_ENVIRONMENT_UPDATED",
            "TOKEN_CREATED"
        ]
    );
    assert!(
        entries.iter().all(|entry| entry["actorIdentity"] == "cli"),
        "{entries:?}"
    );
    // An editor who reverts the flags can read their group, but nothing about accounts.
    let group = |index: usize| &entries[entries.len() - 1 - index]["groupId"];
    assert!((2..5).all(|index| group(index) == group(1)), "{entries:?}");
    assert!(
        [0, 5].iter().all(|&index| group(index) != group(1)),
        "{entries:?}"
    );

    let exported = database.command(&["export"]).await.expect_success();
    bootstrap.expect_hidden(&exported);
    let log = process.stop().await.log;
    assert!(log.contains(APPLIED), "{log}");
    bootstrap.expect_hidden(&log);
}

#[tokio::test]
async fn a_file_can_create_a_public_environment() {
    let mut bootstrap = Bootstrap::documented();
    let key = bootstrap.sdk_key(1).replacen("pnk_", "pnp_", 1);
    let staging = &mut bootstrap.content["environments"][1];
    staging["sdkKey"] = json!(key);
    staging["visibility"] = json!("public");
    staging["clientRules"] = json!("answers");
    bootstrap.content["flags"][0]["public"] = json!(true);
    bootstrap.write(&bootstrap.content.to_string());
    let process = bootstrap.start(&TestDatabase::create().await).await;
    assert_eq!(is_on(&process, &key).await, Some(true));
    let refused = process.sdk(&key).get("/sdk/v1/config").await;
    refused.expect_problem(StatusCode::FORBIDDEN, "CONFIG_NOT_PUBLIC");
}

#[tokio::test]
async fn a_restart_does_not_restore_a_rotated_key_or_revoked_token() {
    let bootstrap = Bootstrap::documented();
    let database = TestDatabase::create().await;
    let process = bootstrap.start(&database).await;
    let admin = process.admin().await;
    let environments = admin.get("/environments?name=staging").await;
    let (_, new_key) = admin.rotate_key(&environments.text("/items/0/id")).await;
    let token = admin.get("/users/me/tokens").await.text("/0/id");
    let deleted = admin.delete(&format!("/users/me/tokens/{token}")).await;
    deleted.expect(StatusCode::NO_CONTENT);
    process.stop().await;

    let process = bootstrap.start(&database).await;
    assert_eq!(is_on(&process, bootstrap.sdk_key(1)).await, None);
    assert_eq!(is_on(&process, &new_key).await, Some(true));
    assert_eq!(is_on(&process, bootstrap.sdk_key(0)).await, Some(false));
    let script = process.with_token(bootstrap.token());
    script.get("/flags").await.expect(StatusCode::UNAUTHORIZED);
    let log = process.stop().await.log;
    assert!(log.contains(IGNORED) && !log.contains(APPLIED), "{log}");
}

#[tokio::test]
async fn the_file_is_ignored_if_the_database_ever_had_an_environment() {
    let bootstrap = Bootstrap::documented();
    let database = TestDatabase::create().await;
    let process = bootstrap.start(&database).await;
    let admin = process.admin().await;
    for environment in admin.get("/environments").await.items() {
        let id = environment["id"].as_str().expect("an id");
        admin.revoke(id).await;
    }
    process.stop().await;

    let another = Bootstrap::documented();
    let same = bootstrap.content.to_string();
    for content in [
        Some(same),
        Some(another.content.to_string()),
        Some("{".to_owned()),
        None,
    ] {
        match &content {
            Some(content) => bootstrap.write(content),
            None => std::fs::remove_file(bootstrap.path()).expect("the file is removed"),
        }
        let process = bootstrap.start(&database).await;
        for key in [&bootstrap, &another].map(|file| file.sdk_key(1)) {
            assert_eq!(is_on(&process, key).await, None);
        }
        let admin = process.admin().await;
        let active = admin.get("/environments?status=active").await.json();
        assert_eq!(active["pagination"]["total"], 0);
        let script = process.with_token(another.token());
        script.get("/flags").await.expect(StatusCode::UNAUTHORIZED);
        let log = process.stop().await.log;
        assert_eq!(log.matches(IGNORED).count(), 1, "{log}");
        assert!(!log.contains("ERROR") && !log.contains("WARN"), "{log}");
    }
}

#[tokio::test]
async fn servers_that_start_together_apply_the_file_once() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let bootstrap = Bootstrap::documented();
    let servers = [(); 3].map(|()| bootstrap.starting(&database));
    for server in &servers {
        server.wait_until_ready().await;
        assert_eq!(is_on(server, bootstrap.sdk_key(1)).await, Some(true));
    }
    let script = servers[0].with_token(bootstrap.token());
    let environments = script.get("/environments").await.json();
    assert_eq!(environments["pagination"]["total"], 2);
    let mut applied = 0;
    for server in servers {
        let log = server.stop().await.log;
        assert_ne!(log.contains(APPLIED), log.contains(IGNORED), "{log}");
        applied += usize::from(log.contains(APPLIED));
    }
    assert_eq!(applied, 1);
}

#[tokio::test]
async fn a_start_waits_while_another_instance_applies_a_large_file() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let bootstrap = Bootstrap::documented();
    let write_lock = database.take_write_lock().await;
    // Otherwise, the start writes a secret first.
    let secret = ("PENNON_JWT_SECRET", "a secret that has at least 32 bytes");
    let process = bootstrap.starting_with(&database, &[secret]);
    process
        .wait_until_it_logs("waiting for another instance")
        .await;
    drop(write_lock);
    process.wait_until_ready().await;
    assert_eq!(is_on(&process, bootstrap.sdk_key(1)).await, Some(true));
}

#[tokio::test]
async fn the_token_belongs_to_the_oldest_administrator_of_a_database_without_environments() {
    let bootstrap = Bootstrap::documented();
    let database = TestDatabase::create().await;
    let process = Process::start(&database, &[]).await;
    for (email, role) in [
        ("viewer@example.com", "viewer"),
        ("eve@example.com", "admin"),
    ] {
        let add = ["user", "add", email, "--role", role];
        database.command(&add).await.expect_success();
    }
    process.admin().await.flag("earlier").await;
    process.stop().await;

    let mut content = bootstrap.content.clone();
    content["personalAccessToken"] =
        json!({ "name": "ci", "role": "admin", "token": bootstrap.token() });
    bootstrap.write(&content.to_string());
    let process = bootstrap.start(&database).await;
    let me = process.with_token(bootstrap.token()).get("/users/me").await;
    assert_eq!(me.text("/email"), EMAIL);
    // The existing flag is off in the new environments.
    let sdk = process.sdk(bootstrap.sdk_key(0));
    let config = sdk.get("/sdk/v1/config").await.json();
    assert_eq!(config["flags"][0]["key"], "earlier");
    assert_eq!(config["flags"][0]["enabled"], false);
}
