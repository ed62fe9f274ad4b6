//! `pennon restore`, and the steps of docs/backup.md for PostgreSQL.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use pennon_tests::{Process, TestDatabase, binary};
use reqwest::StatusCode;
use tempfile::TempDir;

/// A server with its own folder, one environment, and one flag.
struct Shop {
    process: Process,
    database: TestDatabase,
    sdk_key: String,
    folder: TempDir,
}

impl Shop {
    async fn open(database: TestDatabase) -> Self {
        let process = Process::start(&database, &[]).await;
        let admin = process.admin().await;
        let (_, sdk_key) = admin.environment("Web shop", "production").await;
        admin.flag("kept").await;
        Self {
            process,
            database,
            sdk_key,
            folder: tempfile::tempdir().expect("a folder for the test"),
        }
    }

    /// Starts a server on SQLite. Returns `None` if the tests run on PostgreSQL, so that these tests do not run twice.
    async fn on_file() -> Option<Self> {
        let database = TestDatabase::create().await;
        if database.is_postgres() {
            return None;
        }
        Some(Self::open(database).await)
    }

    /// Writes a backup.
    async fn back_up(&self) -> PathBuf {
        let file = self.folder.path().join("backup.db");
        let backup = self.database.command(&["backup", text(&file)]).await;
        backup.expect_success();
        file
    }

    /// Starts a server on the database. Fails the test unless it has the SDK key, and only the flag from before the
    /// backup.
    async fn expect_backup_in(&self, database: &TestDatabase) {
        let process = Process::start(database, &[]).await;
        let config = process.sdk(&self.sdk_key).get("/sdk/v1/config").await;
        let config = config.expect(StatusCode::OK).json();
        let flags: Vec<_> = config["flags"].as_array().expect("flags").iter().collect();
        assert_eq!(flags.len(), 1, "{flags:?}");
        assert_eq!(flags[0]["key"], "kept");
        // The database also accepts writes.
        process.admin().await.flag("new").await;
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

fn at(file: &Path) -> TestDatabase {
    TestDatabase::at(&format!("sqlite://{}", file.display()))
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.expect("an entry").file_name();
        name.to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

#[tokio::test]
async fn restore_needs_force_and_a_database_that_no_server_uses() {
    let Some(shop) = Shop::on_file().await else {
        return;
    };
    let backup = shop.back_up().await;
    shop.process.admin().await.flag("later").await;
    let database = &shop.database;
    let restore = ["restore", text(&backup)];
    let by_force = ["restore", "--force", text(&backup)];
    let refused = database.command(&restore).await;
    refused.expect_failure("repeat the command with --force");
    let refused = database.command(&by_force).await;
    refused.expect_failure("is in use; stop the server");
    let elsewhere = TestDatabase::at("sqlite://nowhere/pennon.db");
    let refused = elsewhere.command(&by_force).await;
    refused.expect_failure("name the server's database with --database-url");

    // The last writes are only in the write-ahead log. The restored database must not contain them.
    let Shop { process, .. } = shop;
    process.kill().await;
    let file = database.file();
    let folder = file.parent().expect("a folder");
    assert_eq!(
        names_in(folder),
        ["pennon.db", "pennon.db-shm", "pennon.db-wal"]
    );
    let refused = database.command(&restore).await;
    refused.expect_failure("repeat the command with --force");
    let restored = database.command(&by_force).await.expect_success();
    assert!(restored.contains("restored"), "{restored}");
    assert!(!restored.contains("schema"), "{restored}");
    assert_eq!(names_in(folder), ["pennon.db"]);
    let mode = file.metadata().expect("the file is there").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let shop = Shop {
        process: Process::start(database, &[]).await,
        database: TestDatabase::at(database.url()),
        sdk_key: shop.sdk_key,
        folder: shop.folder,
    };
    shop.expect_backup_in(database).await;
}

#[tokio::test]
async fn a_backup_is_restored_if_no_database_exists() {
    let Some(shop) = Shop::on_file().await else {
        return;
    };
    let backup = shop.back_up().await;
    let file = shop.folder.path().join("new/folder/pennon.db");
    let database = at(&file);
    let restored = database.command(&["restore", text(&backup)]).await;
    restored.expect_success();
    shop.expect_backup_in(&database).await;
}

#[tokio::test]
async fn a_restored_database_keeps_the_owner_of_the_file_or_folder() {
    const USER: u32 = 65_532;
    let Some(shop) = Shop::on_file().await else {
        return;
    };
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let backup = shop.back_up().await;
    let folder = shop.folder.path().join("folder");
    std::fs::create_dir(&folder).expect("a folder is made");
    chown(&folder, Some(USER), Some(USER)).expect("the owner is changed");
    let file = folder.join("pennon.db");
    for (group, force) in [(USER, None), (USER + 1, Some("--force"))] {
        let restore: Vec<&str> = ["restore", text(&backup)]
            .into_iter()
            .chain(force)
            .collect();
        at(&file).command(&restore).await.expect_success();
        let restored = file.metadata().expect("the file is there");
        assert_eq!((restored.uid(), restored.gid()), (USER, group));
        chown(&file, Some(USER), Some(USER + 1)).expect("the owner is changed");
    }
}

#[tokio::test]
async fn the_error_says_that_the_user_may_not_read_the_backup() {
    let Some(shop) = Shop::on_file().await else {
        return;
    };
    let backup = shop.back_up().await;
    let nobody = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(&backup, nobody).expect("a file of this test");
    // Another user may not reach the folder of the program, or this one. `cp` makes the copy, because a program that
    // this process holds open for writing, or a child that it has just forked, cannot be started.
    let program = shop.folder.path().join("pennon");
    let copy = Command::new("cp").arg(binary()).arg(&program).status();
    assert!(copy.is_ok_and(|status| status.success()), "a copy");
    let anybody = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, anybody.clone()).expect("a file of this test");
    let mut restore = Command::new(&program);
    restore
        .args(["restore", text(&backup)])
        .current_dir(shop.folder.path())
        .env("DATABASE_URL", "sqlite://nowhere/pennon.db");
    if rustix::process::geteuid().is_root() {
        std::fs::set_permissions(shop.folder.path(), anybody).expect("a folder of this test");
        restore.uid(65_532).gid(65_532);
    }
    let output = restore.output().expect("the command runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("cannot read the backup") && error.contains("Permission denied"),
        "{error}"
    );
}

#[tokio::test]
async fn restore_keeps_a_symbolic_link_to_the_database() {
    let Some(shop) = Shop::on_file().await else {
        return;
    };
    let backup = shop.back_up().await;
    let [link, file] = ["link.db", "file.db"].map(|name| shop.folder.path().join(name));
    std::fs::copy(&backup, &file).expect("a copy");
    symlink(&file, &link).expect("a link is made");
    let restore = ["restore", "--force", text(&backup)];
    at(&link).command(&restore).await.expect_success();
    assert!(link.is_symlink());
    shop.expect_backup_in(&at(&file)).await;

    let refused = at(&link)
        .command(&["restore", "--force", text(&file)])
        .await;
    refused.expect_failure("is the database itself");
}

#[tokio::test]
async fn an_unusable_backup_changes_nothing() {
    let Some(shop) = Shop::on_file().await else {
        return;
    };
    let backup = shop.back_up().await;
    let folder = shop.folder.path();
    let file = folder.join("pennon.db");
    std::fs::write(&file, "precious").expect("a file is written");
    let variant = |name: &str| {
        let variant = folder.join(name);
        std::fs::copy(&backup, &variant).expect("a copy");
        variant
    };

    let nonsense = folder.join("nonsense.db");
    std::fs::write(&nonsense, "not a database, but long enough to have a header of one, if it were any at all, which it is not")
        .expect("a file is written");
    let empty = folder.join("empty.db");
    std::fs::write(&empty, "").expect("a file is written");
    let newer = variant("newer.db");
    at(&newer)
        .execute(
            "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
             values (9999, 'later', true, x'00', 0)",
        )
        .await;
    let damaged = variant("damaged.db");
    let mut bytes = std::fs::read(&damaged).expect("the file can be read");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xff);
    std::fs::write(&damaged, bytes).expect("the file is written");
    let before = names_in(folder);
    for (unusable, complaint) in [
        (&folder.join("nowhere.db"), "there is no backup at"),
        (&nonsense, "file is not a database"),
        (&empty, "it has no tables of Pennon"),
        (&newer, "a newer Pennon"),
        (&damaged, "cannot be used"),
    ] {
        let restore = ["restore", "--force", text(unusable)];
        at(&file).command(&restore).await.expect_failure(complaint);
        assert_eq!(
            std::fs::read(&file).ok().as_deref(),
            Some(&b"precious"[..]),
            "{complaint}"
        );
        assert_eq!(names_in(folder), before, "{complaint}");
    }
    // A damaged database can be replaced too. SQLite's other files are removed.
    std::fs::write(folder.join("pennon.db-wal"), "of another time").expect("a file is written");
    let restore = ["restore", "--force", text(&backup)];
    at(&file).command(&restore).await.expect_success();
    shop.expect_backup_in(&at(&file)).await;
}

#[tokio::test]
async fn a_backup_of_an_older_schema_is_upgraded_by_the_next_start() {
    let older = TestDatabase::with_schema(12).await;
    if older.is_postgres() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for the test");
    let database = at(&folder.path().join("pennon.db"));
    let restored = database.command(&["restore", text(older.file())]).await;
    let restored = restored.expect_success();
    assert!(
        restored.contains("upgrades the schema from 12 to"),
        "{restored}"
    );
    let newest = older.schema_version().await + 1;
    Process::start(&database, &[]).await;
    assert!(database.schema_version().await >= newest);
}

#[tokio::test]
async fn a_postgresql_database_is_restored_with_its_own_tools() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let refused = database.command(&["restore", "Cargo.toml"]).await;
    refused.expect_failure("pg_restore");
    let shop = Shop::open(database).await;
    let dump = shop.folder.path().join("pennon.dump");
    let mut pg_dump = Command::new("pg_dump");
    pg_dump
        .args(["--format=custom", "--no-owner", "--file", text(&dump)])
        .arg(shop.database.url());
    if !run_if_installed(&mut pg_dump) {
        return;
    }
    shop.process.admin().await.flag("later").await;

    let new = TestDatabase::create().await;
    let mut pg_restore = Command::new("pg_restore");
    pg_restore
        .args(["--no-owner", "--single-transaction", "--dbname", new.url()])
        .arg(&dump);
    assert!(run_if_installed(&mut pg_restore));
    shop.expect_backup_in(&new).await;
}

/// Runs a PostgreSQL client program. Returns `false` if it is not installed.
fn run_if_installed(command: &mut Command) -> bool {
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{output:?}");
            true
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(error) => panic!("{error}"),
    }
}
