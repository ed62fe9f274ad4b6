//! The migrations of both databases.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use pennon_tests::{TestApp, eventually};
use tokio::time::timeout;

fn folder(database: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../migrations")
        .join(database)
}

fn files(database: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder(database)).expect("the folder is there");
    entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect()
}

/// Returns the tables and columns that the migrations declare.
fn declared(database: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in files(database) {
        let text =
            std::fs::read_to_string(folder(database).join(file)).expect("a migration is text");
        let mut table = String::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["create", "table", name, ..] => name.clone_into(&mut table),
                ["create", "view", ..] => table.clear(),
                ["create", "index" | "unique", ..] => {
                    found.insert(line.to_owned());
                }
                ["alter", "table", name, "add", "column", column, ..] => {
                    found.insert(format!("{name}.{column}"));
                }
                ["--" | "unique" | "primary" | "foreign" | ");", ..] => {}
                [column, _, ..] if line.starts_with("    ") && !table.is_empty() => {
                    found.insert(format!("{table}.{column}"));
                }
                _ => {}
            }
        }
    }
    found
}

#[test]
fn both_databases_have_the_same_migrations_tables_and_columns() {
    assert_eq!(files("sqlite"), files("postgres"));
    let sqlite = declared("sqlite");
    assert!(
        sqlite.contains("rules.conditions") && sqlite.len() > 60,
        "{sqlite:?}"
    );
    assert_eq!(sqlite, declared("postgres"));
    let views = |database| {
        let file = folder(database).join("0017_flag_views.sql");
        std::fs::read_to_string(file).expect("a migration is text")
    };
    assert_eq!(views("sqlite"), views("postgres"));
}

#[tokio::test]
async fn changes_by_another_process_on_the_same_database_are_served() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    other.watch();
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.switch_on(&checkout).await;
    let sdk = other.sdk(&checkout.sdk_key);
    eventually("the other process serves the change", async || {
        sdk.is_on("checkout").await
    })
    .await;
}

#[tokio::test]
async fn changes_by_another_process_are_served_while_a_task_waits_for_the_write_lock() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let sdk = app.sdk(&checkout.sdk_key);
    // The first erasure of short-lived data is due.
    app.advance(1);
    let mut lock = app.database().take_write_lock().await;
    app.watch();
    let changes = async {
        for (enabled, revision) in [(true, 100), (false, 101), (true, 102)] {
            let change = format!(
                "update flag_environments set is_enabled = {enabled}, config_revision = {revision};
                 update environments set config_revision = {revision}"
            );
            lock.commit(&change).await;
            eventually("the change is served", async || {
                sdk.is_on("checkout").await == enabled
            })
            .await;
        }
    };
    let served = timeout(Duration::from_secs(8), changes).await;
    served.expect("the task does not delay the changes");
}
