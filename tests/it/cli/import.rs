//! `pennon import`: its results, and concurrent writers.

use std::collections::HashSet;
use std::fs::File;
use std::io::pipe;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use pennon_tests::{Caller, TestApp, binary, eventually};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::transfer::{exported, fill, imported, rule};

/// Returns an import document with flags that are on, with a rule and a rollout, in these environments of `shop`.
fn document(flags: usize, environments: &[&str]) -> Value {
    let environment = |name: &&str| {
        json!({
            "product": "shop", "environment": name, "isEnabled": true, "ttlOverrideSeconds": 30,
            "rules": [rule(1, "DE")], "rollout": { "percentage": 25, "strategy": "per_user" },
        })
    };
    let flag = |index: usize| {
        json!({
            "key": format!("flag_{index}"), "name": format!("Flag {index}"), "description": null, "type": "boolean",
            "environments": environments.iter().map(environment).collect::<Vec<_>>(),
        })
    };
    json!({ "formatVersion": 1, "flags": (0..flags).map(flag).collect::<Vec<_>>() })
}

/// Returns all audit entries, oldest first.
async fn audit(admin: &Caller<'_>) -> Vec<Value> {
    let mut entries = Vec::new();
    for page in 1.. {
        let path = format!("/audit?limit=100&page={page}");
        let items = admin.get(&path).await.items();
        if items.is_empty() {
            break;
        }
        entries.extend(items);
    }
    entries.reverse();
    entries
}

/// Returns the entity tags of the flags' rules in an environment.
async fn revisions(admin: &Caller<'_>, environment: &str, keys: &[String]) -> Vec<String> {
    let mut revisions = Vec::new();
    for key in keys {
        let flag = admin
            .get(&format!("/flags?key={key}"))
            .await
            .text("/items/0/id");
        let rules = admin
            .get(&format!("/flags/{flag}/environments/{environment}/rules"))
            .await;
        revisions.push(rules.expect(StatusCode::OK).header("etag").to_owned());
    }
    revisions
}

fn number(tag: &str) -> i64 {
    tag.trim_matches('"').parse().expect("a number")
}

/// Returns an import document with flags of another product.
fn blog_document(flags: usize) -> Value {
    let mut document = document(flags, &["prod"]);
    for flag in document["flags"].as_array_mut().into_iter().flatten() {
        flag["products"] = json!(["blog"]);
        flag["environments"][0]["product"] = "blog".into();
    }
    document
}

/// Enables or disables a flag until the import is over, and checks that the flag is served like that from then on.
async fn switch_until(
    app: &TestApp,
    (flag, environment, sdk_key): (&str, &str, &str),
    is_over: &AtomicBool,
) {
    let (admin, sdk) = (app.admin().await, app.sdk(sdk_key));
    let is_on = async || {
        let answer = sdk.evaluate("checkout").await;
        answer.expect(StatusCode::OK).json()["enabled"] == true
    };
    let mut expected = is_on().await;
    while !is_over.load(Ordering::Relaxed) {
        expected = !expected;
        admin.switch(flag, environment, expected).await;
        for _ in 0..5 {
            assert_eq!(is_on().await, expected);
        }
    }
}

/// A change is served as soon as it is acknowledged, and a refill that has read the database before does not undo it.
#[tokio::test]
async fn switches_stay_while_imported_flags_are_read() {
    let app = TestApp::start().await;
    app.watch();
    let admin = app.admin().await;
    let early = admin.flag_environment().await;
    let (_, imported_key) = admin.environment("blog", "prod").await;
    let (late, late_key) = admin.environment("shop", "late").await;
    let is_over = AtomicBool::new(false);
    let import = async {
        let sdk = app.sdk(&imported_key);
        for flags in [600, 1200] {
            imported(&app, &blog_document(flags), &[]).await;
            let last = json!({ "flagKey": format!("flag_{}", flags - 1) });
            eventually("the flags are served", async || {
                let answer = sdk.post("/sdk/v1/evaluate", last.clone()).await;
                answer.status == StatusCode::OK
            })
            .await;
        }
        is_over.store(true, Ordering::Relaxed);
    };
    tokio::join!(
        import,
        switch_until(
            &app,
            (&early.flag, &early.environment, &early.sdk_key),
            &is_over
        ),
        switch_until(&app, (&early.flag, &late, &late_key), &is_over),
    );
}

#[tokio::test]
async fn a_dry_run_does_not_take_the_write_lock() {
    let app = TestApp::start().await;
    app.admin().await.environment("shop", "prod").await;
    let write_lock = app.database().take_write_lock().await;
    let arguments = ["import", "-", "--dry-run"];
    let wanted = document(1, &["prod"]).to_string();
    let ran = app.command_with_input(&arguments, &wanted).await;
    drop(write_lock);
    // An attempt to write would print an error.
    assert_eq!(ran.stderr, "4 to change; nothing was changed\n");
    assert_eq!(ran.expect_success().lines().count(), 4);
}

#[tokio::test]
async fn an_import_without_changes_does_not_take_the_write_lock() {
    let app = TestApp::start().await;
    app.admin().await.environment("shop", "prod").await;
    let document = document(1, &["prod"]);
    imported(&app, &document, &[]).await;
    let write_lock = app.database().take_write_lock().await;
    assert_eq!(imported(&app, &document, &[]).await, [] as [&str; 0]);
    drop(write_lock);
}

#[tokio::test]
async fn an_import_raises_each_environment_by_one_revision() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (prod, _) = admin.environment("shop", "prod").await;
    let (staging, _) = admin.environment("shop", "staging").await;
    admin.flag("before").await;
    let keys: Vec<String> = (0..5).map(|index| format!("flag_{index}")).collect();
    for (round, places) in [&["prod", "staging"][..], &["prod"]]
        .into_iter()
        .enumerate()
    {
        let mut wanted = document(keys.len(), places);
        for flag in wanted["flags"].as_array_mut().into_iter().flatten() {
            flag["environments"][0]["ttlOverrideSeconds"] = json!(60 + round);
        }
        imported(&app, &wanted, &[]).await;
        app.check_stored_states("an import").await;
    }
    let before = revisions(&admin, &prod, &["before".to_owned()]).await;
    let start = number(&before[0]);
    let of_prod = revisions(&admin, &prod, &keys).await;
    assert!(
        of_prod.iter().all(|tag| number(tag) == start + 2),
        "{start}: {of_prod:?}"
    );
    let before = revisions(&admin, &staging, &["before".to_owned()]).await;
    let start = number(&before[0]);
    let of_staging = revisions(&admin, &staging, &keys).await;
    assert!(
        of_staging.iter().all(|tag| number(tag) == start + 1),
        "{start}: {of_staging:?}"
    );
}

#[tokio::test]
async fn an_import_writes_the_same_audit_entries_as_single_requests() {
    let (by_hand, by_import) = (TestApp::start().await, TestApp::start().await);
    fill(&by_hand.admin().await).await;
    let other = by_import.admin().await;
    other.environment("shop", "prod").await;
    other.environment("shop", "staging").await;
    imported(&by_import, &exported(&by_hand).await, &[]).await;
    let entries = audit(&other).await;
    let is_imported = |entry: &&Value| entry["action"] != "ENVIRONMENT_CREATED";
    let groups = entries.iter().filter(is_imported);
    let groups: HashSet<_> = groups.map(|entry| entry["groupId"].to_string()).collect();
    assert_eq!(groups.len(), 1);
    let recorded = async |admin: &Caller<'_>| {
        let entries = audit(admin).await.into_iter();
        let mut entries: Vec<String> = entries
            .filter(|entry| entry["action"] != "ENVIRONMENT_CREATED")
            .map(|mut entry| {
                mask_varying_values(&mut entry);
                entry.to_string()
            })
            .collect();
        entries.sort();
        entries
    };
    assert_eq!(
        recorded(&other).await,
        recorded(&by_hand.admin().await).await
    );
}

/// Replaces values that differ between installations with `true`, or `false` for `null`.
fn mask_varying_values(value: &mut Value) {
    const PERSONAL: [&str; 11] = [
        "id",
        "groupId",
        "flagId",
        "environmentId",
        "ruleId",
        "occurredAt",
        "createdAt",
        "updatedAt",
        "archivedAt",
        "createdBy",
        "actorIdentity",
    ];
    for (member, value) in value.as_object_mut().into_iter().flatten() {
        if PERSONAL.contains(&member.as_str()) {
            *value = json!(!value.is_null());
        }
        mask_varying_values(value);
    }
}

#[tokio::test]
async fn an_import_that_fails_while_writing_changes_nothing() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    admin.environment("shop", "prod").await;
    let before = (exported(&app).await, audit(&admin).await);
    app.tamper("create unique index one_of_each on rollouts (strategy)")
        .await;
    let wanted = document(2, &["prod"]);
    let ran = app
        .command_with_input(&["import", "-"], &wanted.to_string())
        .await;
    assert!(!ran.success, "{ran:?}");
    assert_eq!((exported(&app).await, audit(&admin).await), before);
    app.tamper("drop index one_of_each").await;
    assert_eq!(imported(&app, &wanted, &[]).await.len(), 8);
}

#[tokio::test]
async fn an_import_loses_no_concurrent_change() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (prod, _) = admin.environment("shop", "prod").await;
    let wanted = document(40, &["prod"]);
    imported(&app, &wanted, &[]).await;
    let flag = admin.get("/flags?key=flag_7").await.text("/items/0/id");
    let mut off = wanted.clone();
    for flag in off["flags"].as_array_mut().into_iter().flatten() {
        flag["environments"][0]["isEnabled"] = json!(false);
    }
    let path = format!("/flags/{flag}/environments/{prod}");
    let switching = async {
        for ttl in 1_000.. {
            let settings = json!({ "isEnabled": true, "ttlOverrideSeconds": ttl });
            admin
                .put(&path, settings)
                .await
                .expect(StatusCode::NO_CONTENT);
        }
    };
    tokio::select! {
        () = switching => {}
        actions = imported(&app, &off, &[]) => assert_eq!(actions, ["FLAG_ENVIRONMENT_UPDATED"; 40]),
    }
    // The last switch may still be in flight. The clocks differ, so the entries are unordered, but they form a chain:
    // each state except the first and the last is the new value of one change and the old value of another.
    eventually("the changes form a chain", async || {
        let configuration = admin.get(&path).await.json();
        let entries = audit(&admin).await.into_iter();
        let of_flag = |entry: &Value| {
            entry["action"] == "FLAG_ENVIRONMENT_UPDATED" && entry["flagKey"] == "flag_7"
        };
        let (mut began, mut ended) = (vec![configuration.to_string()], Vec::new());
        for entry in entries.filter(of_flag) {
            began.push(entry["oldValue"].to_string());
            ended.push(entry["newValue"].to_string());
        }
        let mut first = configuration;
        (first["isEnabled"], first["ttlOverrideSeconds"]) = (json!(false), Value::Null);
        ended.push(first.to_string());
        began.sort();
        ended.sort();
        began == ended
    })
    .await;
}

/// Waits until an import needs the write lock to continue.
async fn wait_until_an_import_is_blocked(app: &TestApp) {
    eventually("the import waits for the write lock", async || {
        let waiting: i64 = sqlx::query_scalar(
            "select count(*) from pg_locks where locktype = 'advisory' and not granted and database =
                (select oid from pg_database where datname = current_database())",
        )
        .fetch_one(&mut app.database().postgres().await)
        .await
        .expect("PostgreSQL answers");
        waiting == 1
    })
    .await;
}

#[tokio::test]
async fn an_import_plans_again_if_flags_changed_while_it_waited() {
    let app = TestApp::start().await;
    if app.is_on_file() {
        return;
    }
    app.admin().await.environment("shop", "prod").await;
    let write_lock = app.database().take_write_lock().await;
    let wait_and_create = async {
        wait_until_an_import_is_blocked(&app).await;
        app.tamper(
            "insert into flags (id, key, name, type, created_by, created_at)
             values (gen_random_uuid(), 'flag_0', 'By somebody else', 'boolean', 'somebody', 0)",
        )
        .await;
        app.tamper(
            "insert into flag_environments (flag_id, environment_id, config_revision)
             select flags.id, environments.id, 1000 from flags, environments",
        )
        .await;
        drop(write_lock);
    };
    let wanted = document(1, &["prod"]);
    let (actions, ()) = tokio::join!(imported(&app, &wanted, &[]), wait_and_create);
    let expected = [
        "FLAG_UPDATED",
        "FLAG_ENVIRONMENT_UPDATED",
        "RULE_CREATED",
        "ROLLOUT_CONFIGURED",
    ];
    assert_eq!(actions, expected);
}

#[tokio::test]
async fn an_import_has_higher_revisions_than_writes_that_it_waited_for() {
    let app = TestApp::start().await;
    if app.is_on_file() {
        return;
    }
    let admin = app.admin().await;
    let (prod, _) = admin.environment("shop", "prod").await;
    admin.flag("before").await;
    let write_lock = app.database().take_write_lock().await;
    let wait_and_raise = async {
        wait_until_an_import_is_blocked(&app).await;
        app.tamper("update environments set config_revision = config_revision + 5")
            .await;
        app.tamper(
            "update flag_environments set config_revision = environments.config_revision from environments",
        )
        .await;
        drop(write_lock);
    };
    let wanted = document(2, &["prod"]);
    let (actions, ()) = tokio::join!(imported(&app, &wanted, &[]), wait_and_raise);
    assert_eq!(actions.len(), 8);
    let keys = ["before", "flag_0", "flag_1"].map(str::to_owned);
    let revisions = revisions(&admin, &prod, &keys).await;
    let numbers: Vec<i64> = revisions.iter().map(|tag| number(tag)).collect();
    assert_eq!(numbers[1..], [numbers[0] + 1; 2]);
}

#[tokio::test]
async fn an_import_does_not_count_an_environment_that_was_revoked_while_it_waited() {
    let app = TestApp::start().await;
    if app.is_on_file() {
        return;
    }
    let admin = app.admin().await;
    for name in ["prod", "staging"] {
        admin.environment("shop", name).await;
    }
    let write_lock = app.database().take_write_lock().await;
    let wait_and_revoke = async {
        wait_until_an_import_is_blocked(&app).await;
        app.tamper("update environments set status = 'revoked' where name = 'staging'")
            .await;
        drop(write_lock);
    };
    let wanted = document(2, &["prod"]);
    let (actions, ()) = tokio::join!(imported(&app, &wanted, &[]), wait_and_revoke);
    assert_eq!(actions.len(), 8);
    app.check_stored_states("an import").await;
}

#[tokio::test]
async fn an_import_reports_the_result_even_if_its_output_cannot_be_written() {
    let app = TestApp::start().await;
    app.admin().await.environment("shop", "prod").await;
    let folder = tempfile::tempdir().expect("a folder for the test");
    let (reader, closed) = pipe().expect("a pipe");
    drop(reader);
    let full = File::options().write(true).open("/dev/full");
    let full = full.expect("Linux has a device that is always full");
    let unprinted = "pennon: the import was saved, but cannot be printed: No space left on device";
    for (name, output, succeeds, complaint) in [
        ("one", Stdio::from(closed), true, ""),
        ("two", Stdio::from(full), false, unprinted),
    ] {
        let mut wanted = document(1, &["prod"]);
        wanted["flags"][0]["key"] = json!(name);
        let file = folder.path().join(name);
        std::fs::write(&file, wanted.to_string()).expect("the file can be written");
        let mut command = Command::new(binary());
        command.arg("import").arg(file).stdout(output);
        command.env("DATABASE_URL", app.database().url());
        let ran = tokio::task::spawn_blocking(move || command.output());
        let ran = ran.await.expect("a thread").expect("the command runs");
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.success(), succeeds, "{stderr}");
        let rest = stderr.strip_prefix("4 changed\n");
        let rest = rest.unwrap_or_else(|| panic!("{stderr}"));
        assert!(rest.starts_with(complaint), "{stderr}");
    }
}
