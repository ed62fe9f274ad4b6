//! The backup of a SQLite file before its schema is upgraded.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pennon_tests::{Process, TestApp, TestDatabase, migrations};
use sqlx::{Connection, SqliteConnection};

/// The schema of the databases before the upgrade, and the version of the next migration.
const OLD: i64 = 12;
const NEXT: i64 = 13;

/// Creates a SQLite database with an older schema. Returns `None` if the tests run on PostgreSQL.
async fn old_file() -> Option<TestDatabase> {
    let database = TestDatabase::with_schema(OLD).await;
    (!database.is_postgres()).then_some(database)
}

fn beside(database: &TestDatabase, suffix: &str) -> PathBuf {
    let mut name = database.file().as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the names of the files beside a database, except those of SQLite.
fn others(database: &TestDatabase) -> Vec<String> {
    let folder = database.file().parent().expect("a folder");
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let names = entries.map(|entry| {
        entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned()
    });
    let mut names: Vec<String> = names
        .filter(|name| {
            !["", "-wal", "-shm"]
                .map(|end| format!("pennon.db{end}"))
                .contains(name)
        })
        .collect();
    names.sort();
    names
}

fn at(file: &Path) -> TestDatabase {
    TestDatabase::at(&format!("sqlite://{}", file.display()))
}

#[tokio::test]
async fn the_backup_before_an_upgrade_includes_the_write_ahead_log() {
    let Some(database) = old_file().await else {
        return;
    };
    // While this connection is open, its writes stay in the write-ahead log.
    let mut writer: SqliteConnection = database.sqlite().await;
    let write = "pragma journal_mode = wal; pragma wal_autocheckpoint = 0; insert into settings values ('late', 'x')";
    sqlx::raw_sql(write)
        .execute(&mut writer)
        .await
        .expect("a row");
    let process = Process::start(&database, &[]).await;
    let log = process.stop().await.log;
    writer.close().await.expect("it closes");

    let newest = migrations(false)
        .await
        .iter()
        .map(|migration| migration.version)
        .max();
    assert_eq!(Some(database.schema_version().await), newest);
    let backup = beside(&database, &format!(".before-{NEXT}"));
    assert!(
        log.contains("backed up the database") && log.contains(&backup.display().to_string()),
        "{log}"
    );
    let mode = backup
        .metadata()
        .expect("the backup is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let copy = at(&backup);
    assert_eq!(copy.schema_version().await, OLD);
    assert_eq!(
        copy.count("select count(*) from settings where name = 'late'")
            .await,
        1
    );

    // The backup can replace the database.
    let app = TestApp::on_database(copy.url()).await;
    app.admin().await;
}

#[tokio::test]
async fn the_last_two_backups_and_all_other_files_are_kept() {
    let Some(database) = old_file().await else {
        return;
    };
    for (age, name) in [
        ".before-9",
        ".before-7",
        ".before-11",
        ".before-8.mine",
        ".before-",
    ]
    .iter()
    .enumerate()
    {
        let file = std::fs::File::create_new(beside(&database, name)).expect("a file");
        let age = std::time::Duration::from_secs(60 * u64::try_from(age).unwrap_or_default());
        let written = file
            .metadata()
            .and_then(|file| file.modified())
            .expect("a time");
        file.set_modified(written - age).expect("the time is set");
    }
    TestApp::on_database(database.url()).await;
    let kept = [
        "pennon.db.before-",
        "pennon.db.before-13",
        "pennon.db.before-8.mine",
        "pennon.db.before-9",
    ];
    assert_eq!(others(&database), kept);
}

#[tokio::test]
async fn new_and_up_to_date_files_are_not_backed_up() {
    let database = TestDatabase::in_file();
    for _ in 0..2 {
        TestApp::on_database(database.url())
            .await
            .lose_database()
            .await;
    }
    assert_eq!(others(&database), Vec::<String>::new());
}

#[tokio::test]
async fn a_file_that_cannot_be_backed_up_is_not_upgraded() {
    let Some(database) = old_file().await else {
        return;
    };
    let backup = beside(&database, &format!(".before-{NEXT}"));
    std::fs::create_dir(&backup).expect("a folder in the way");
    let log = Process::fails_to_start(database.url(), &[]).await;
    for part in [
        "must be upgraded",
        "cannot be written",
        "make room",
        "(nothing was changed)",
        &backup.display().to_string(),
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert_eq!(database.schema_version().await, OLD);
    assert_eq!(others(&database), [format!("pennon.db.before-{NEXT}")]);

    std::fs::remove_dir(&backup).expect("the folder is empty");
    // An interrupted attempt leaves this file behind.
    std::fs::write(
        beside(&database, &format!(".before-{NEXT}.unfinished")),
        "half",
    )
    .expect("a file");
    TestApp::on_database(database.url()).await;
    assert_eq!(others(&database), [format!("pennon.db.before-{NEXT}")]);
}

#[tokio::test]
async fn commands_that_write_also_back_up_before_an_upgrade() {
    let Some(database) = old_file().await else {
        return;
    };
    let add = ["user", "add", "eve@example.com", "--role", "editor"];
    database.command(&add).await.expect_success();
    assert_eq!(others(&database), [format!("pennon.db.before-{NEXT}")]);
}

#[tokio::test]
async fn an_interrupted_upgrade_keeps_the_backup_of_the_old_version() {
    let Some(database) = old_file().await else {
        return;
    };
    // Migration 21 creates this table, so it stops the upgrade.
    let mut connection = database.sqlite().await;
    let obstacle = sqlx::raw_sql("create table grants (x)");
    obstacle.execute(&mut connection).await.expect("a table");
    connection.close().await.expect("it closes");
    for _ in 0..3 {
        Process::fails_to_start(database.url(), &[]).await;
    }
    assert_eq!(database.schema_version().await, 20);
    let expected = [format!("pennon.db.before-{NEXT}")];
    assert_eq!(others(&database), expected);

    let mut connection = database.sqlite().await;
    let removal = sqlx::raw_sql("drop table grants");
    removal.execute(&mut connection).await.expect("no table");
    connection.close().await.expect("it closes");
    TestApp::on_database(database.url()).await;
    assert_eq!(others(&database), expected);
    let copy = at(&beside(&database, &format!(".before-{NEXT}")));
    assert_eq!(copy.schema_version().await, OLD);
    let marks = "select count(*) from settings where name = 'schema_upgrade_before'";
    assert_eq!(database.count(marks).await, 0);
}

#[tokio::test]
async fn an_upgrade_waits_for_that_of_another_process() {
    let Some(database) = old_file().await else {
        return;
    };
    let folder = database.file().parent().expect("a folder");
    let lock = std::fs::File::open(folder).expect("the folder opens");
    lock.lock().expect("nobody else has locked it");
    let process = Process::starting(database.url(), &[]);
    process
        .wait_until_it_logs("waiting for another process")
        .await;
    assert_eq!(database.schema_version().await, OLD);
    lock.unlock().expect("it was locked");
    process.wait_until_ready().await;
    assert!(database.schema_version().await > OLD);
}
