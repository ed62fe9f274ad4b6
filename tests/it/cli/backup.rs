//! `pennon backup`

use std::os::unix::fs::{PermissionsExt, symlink};

use pennon_tests::{Process, TestApp};
use reqwest::StatusCode;

#[tokio::test]
async fn a_backup_under_load_is_complete_and_usable() {
    let app = TestApp::start().await;
    let folder = tempfile::tempdir().expect("a folder for the test");
    let file = folder.path().join("copy.db");
    let path = file.display().to_string();
    if !app.is_on_file() {
        let refused = app.command(&["backup", &path]).await;
        return refused.expect_failure("pg_dump");
    }
    let admin = app.admin().await;
    let (_, key) = admin.environment("shop", "prod").await;
    admin.flag("first").await;
    let write = async {
        for number in 0..40 {
            admin.flag(&format!("flag_{number}")).await;
        }
    };
    let arguments = ["backup", &path];
    let (backup, ()) = tokio::join!(app.command(&arguments), write);
    assert!(backup.expect_success().contains("wrote"));
    let mode = file.metadata().expect("the copy is there").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);

    let copy = TestApp::on_database(&format!("sqlite://{path}")).await;
    let admin = copy.admin().await;
    let flags = admin.get("/flags").await.json();
    let created = admin.audited().await;
    let flags = flags["pagination"]["total"].as_u64();
    assert!(flags >= Some(1), "{flags:?}");
    assert_eq!(flags, u64::try_from(created.len() - 1).ok());
    copy.sdk(&key)
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::OK);
}

#[tokio::test]
async fn a_backup_overwrites_nothing_and_creates_no_database() {
    let app = TestApp::start().await;
    let folder = tempfile::tempdir().expect("a folder for the test");
    let taken = folder.path().join("taken");
    std::fs::write(&taken, "precious").expect("a file is written");
    let taken_path = taken.display().to_string();
    let refused = app.command(&["backup", &taken_path]).await;
    refused.expect_failure("already exists");
    assert_eq!(
        std::fs::read(&taken).ok().as_deref(),
        Some(&b"precious"[..])
    );

    let nowhere = folder.path().join("nowhere.db");
    let url = format!("sqlite://{}", nowhere.display());
    let copy = folder.path().join("copy").display().to_string();
    let refused = app
        .command(&["backup", "--database-url", &url, &copy])
        .await;
    refused.expect_failure("there is no database at");
    assert!(!nowhere.exists());
}

#[tokio::test]
async fn a_backup_follows_no_symbolic_link() {
    let app = TestApp::start().await;
    if !app.is_on_file() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for the test");
    let elsewhere = folder.path().join("elsewhere");
    for (link, complaint) in [
        ("copy.db", "already exists"),
        ("copy.db.unfinished", "delete it"),
    ] {
        let link = folder.path().join(link);
        symlink(&elsewhere, &link).expect("a link is made");
        let copy = folder.path().join("copy.db").display().to_string();
        app.command(&["backup", &copy])
            .await
            .expect_failure(complaint);
        assert!(!elsewhere.exists());
        std::fs::remove_file(&link).expect("the link is still there");
    }
}

#[tokio::test]
async fn a_backup_replaces_what_an_interrupted_one_has_left() {
    let app = TestApp::start().await;
    if !app.is_on_file() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = |name: &str| folder.path().join(name);
    for left in ["copy.db.unfinished", "copy.db.unfinished-journal"] {
        std::fs::write(path(left), "half").expect("a file is written");
    }
    let running = std::fs::File::open(folder.path()).expect("the folder is there");
    running.lock().expect("the folder can be locked");
    let copy = path("copy.db").display().to_string();
    let backup = Process::starting_with(|command| {
        let database = app.database().url();
        command
            .env("DATABASE_URL", database)
            .args(["backup", &copy])
    });
    backup
        .wait_until_it_logs("waiting for another process")
        .await;
    assert!(path("copy.db.unfinished-journal").exists());
    running.unlock().expect("the folder is unlocked");
    let ended = backup.ended().await;
    assert!(ended.status.success(), "{}", ended.log);
    let files = std::fs::read_dir(folder.path()).expect("the folder is there");
    assert_eq!(files.count(), 1);
    TestApp::on_database(&format!("sqlite://{copy}")).await;
}

#[tokio::test]
async fn a_backup_is_private_even_if_its_name_looks_like_a_uri() {
    let app = TestApp::start().await;
    if !app.is_on_file() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for the test");
    // To SQLite this would be the URI of a file `copy`.
    let run = app.command_in(folder.path(), &["backup", "file:copy"]);
    run.await.expect_success();
    let copy = folder.path().join("file:copy");
    let metadata = copy.metadata().expect("the copy is there");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    let files = std::fs::read_dir(folder.path()).expect("the folder is there");
    assert_eq!(files.count(), 1);
    TestApp::on_database(&format!("sqlite://{}", copy.display())).await;
}

#[tokio::test]
async fn a_database_is_not_created_through_a_symbolic_link() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let [link, file] = ["link.db", "file.db"].map(|name| folder.path().join(name));
    symlink(&file, &link).expect("a link is made");
    let url = format!("sqlite://{}", link.display());
    let log = Process::fails_to_start(&url, &[]).await;
    assert!(
        log.contains("is a symbolic link to a file that does not exist"),
        "{log}"
    );
    assert!(!file.exists());

    TestApp::on_database(&format!("sqlite://{}", file.display())).await;
    let mode = file.metadata().expect("the file is there").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let app = TestApp::on_database(&url).await;
    app.admin().await.flag("through_the_link").await;
}
