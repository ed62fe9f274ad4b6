//! Databases of earlier releases: their content after an upgrade, use by the last release after an upgrade, and
//! commands that do not upgrade them.

use std::path::{Path, PathBuf};

use pennon_tests::{Process, Tables, TestApp, TestDatabase, fixtures, migrations, replay};
use serde_json::Value;

/// Returns the folders of all fixtures, oldest first.
fn releases() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(fixtures().join("database")).expect("there are fixtures");
    let mut folders: Vec<PathBuf> = folders
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.sort();
    folders
}

fn json(folder: &Path, file: &str) -> Value {
    let text = std::fs::read(folder.join(file)).expect("the file can be read");
    serde_json::from_slice(&text).expect("the file is JSON")
}

/// Returns the tables of the last release, without columns that it does not use, and its database.
async fn last_release() -> (Tables, TestDatabase) {
    let folders = releases();
    let folder = folders.last().expect("there is a fixture");
    let database = TestDatabase::restored(folder).await;
    let unused = json(folder, "release.json")["unusedColumns"].clone();
    let unused: Vec<String> = serde_json::from_value(unused).expect("a list of columns");
    (Tables::of(&database).await.without(&unused), database)
}

/// Returns the versions of all migrations, in order.
async fn versions() -> Vec<i64> {
    let is_postgres = TestDatabase::create().await.is_postgres();
    let migrations = migrations(is_postgres).await;
    migrations
        .iter()
        .map(|migration| migration.version)
        .collect()
}

#[tokio::test]
async fn the_database_of_each_release_gives_the_recorded_responses() {
    for folder in releases() {
        let app = TestApp::over(TestDatabase::restored(&folder).await).await;
        app.check_stored_states("the upgrade").await;
        let differences = replay(&app, &json(&folder, "recording.json")).await;
        assert!(
            differences.is_empty(),
            "{}:\n{differences}",
            folder.display()
        );
    }
}

#[tokio::test]
async fn an_upgrade_protects_the_environments_whose_names_suggest_production() {
    for (name, protected) in [
        ("production", true),
        ("Production", true),
        ("eu-prod-1", true),
        ("prod2", true),
        ("shop/PRD", true),
        ("LIVE", true),
        ("staging", false),
        ("preprod", false),
        ("product-demo", false),
        ("reproduction", false),
        ("delivery", false),
    ] {
        let (_, database) = last_release().await;
        let newest = "select id from environments where status = 'active' order by id limit 1";
        let rename = format!(
            "update environments set product = 'Upgraded', name = '{name}' where id = ({newest})"
        );
        database.run(&rename).await;
        let app = TestApp::over(database).await;
        let path = "/environments?status=active&limit=100";
        let environments = app.admin().await.get(path).await.items();
        let named = environments.iter().find(|each| each["name"] == name);
        assert_eq!(
            named.expect("the environment")["protected"],
            protected,
            "{name}"
        );
    }
}

#[tokio::test]
async fn migrations_keep_everything_that_the_last_release_uses() {
    let (tables, database) = last_release().await;
    let app = TestApp::over(database).await;
    let breaks = tables.breaks(&Tables::of(app.database()).await);
    assert!(
        breaks.is_empty(),
        "instances of the last release would fail after these migrations; expand now, and contract a release later: {breaks:#?}"
    );
    // Turns off foreign keys and triggers, which would require a certain order of the rows.
    let unchecked = if app.is_on_file() {
        "pragma foreign_keys = off"
    } else {
        "set session_replication_role = replica"
    };
    let statements = format!("{unchecked};\n{}", tables.insert_again());
    app.database().run(&statements).await;
}

#[tokio::test]
async fn every_breaking_table_change_is_found() {
    for (change, complaint) in [
        (
            "alter table flags drop column description",
            "column flags.description is gone",
        ),
        (
            "alter table flags rename column name to title",
            "column flags.name is gone",
        ),
        (
            "drop table usage_reports",
            "column usage_reports.id is gone",
        ),
        (
            "alter table settings rename to options",
            "column settings.name is gone",
        ),
        (
            "drop index environments_active_name",
            "table environments on name, product is gone",
        ),
        (
            "create unique index one_name on flags (name)",
            "table flags on name is new",
        ),
    ] {
        let (tables, database) = last_release().await;
        database.execute(change).await;
        let breaks = tables.breaks(&Tables::of(&database).await);
        assert!(
            breaks.iter().any(|sentence| sentence.contains(complaint)),
            "{change}: {breaks:?}"
        );
    }
    let (tables, database) = last_release().await;
    database
        .execute("alter table flags add column color text")
        .await;
    database
        .execute("alter table flags add column size bigint not null default 1")
        .await;
    database
        .execute("create table colors (name text not null)")
        .await;
    assert_eq!(
        tables.breaks(&Tables::of(&database).await),
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn every_breaking_column_change_is_found() {
    for (change, complaint) in [
        (
            "alter table flags alter column name type varchar(9)",
            "flags.name was text and is character varying",
        ),
        (
            "alter table flags alter column name drop not null",
            "flags.name may be null now",
        ),
        (
            "alter table flags alter column description set not null",
            "flags.description must not be null any more",
        ),
        (
            "alter table flags alter column revision drop default",
            "flags.revision has lost its default",
        ),
        (
            "alter table settings add column size bigint not null default 1; alter table settings alter column size drop default",
            "settings.size is new and `not null` without a default",
        ),
    ] {
        let (tables, database) = last_release().await;
        if !database.is_postgres() {
            // SQLite cannot change a column.
            return;
        }
        database
            .run("update flags set name = 'short', description = ''")
            .await;
        database.run(change).await;
        let breaks = tables.breaks(&Tables::of(&database).await);
        assert!(
            breaks.iter().any(|sentence| sentence.contains(complaint)),
            "{change}: {breaks:?}"
        );
    }
}

#[tokio::test]
async fn commands_that_only_read_do_not_upgrade_the_schema() {
    let versions = versions().await;
    let (newest, older) = versions.split_last().expect("there are migrations");
    for version in older {
        let database = TestDatabase::with_schema(*version).await;
        let content =
            || (!database.is_postgres()).then(|| std::fs::read(database.file()).expect("the file"));
        let before = content();
        for arguments in [&["export"][..], &["types"], &["user", "list"]] {
            let ran = database.command(arguments).await;
            let says = format!("the database has schema {version}, written by Pennon 0.0.9");
            let upgrade = format!("upgrade the database to schema {newest} by starting the server");
            let is_clear = ran.stderr.contains(&says) && ran.stderr.contains(&upgrade);
            assert!(
                ran.success || is_clear,
                "schema {version}: {arguments:?}: {ran:?}"
            );
        }
        assert_eq!(database.schema_version().await, *version);
        assert_eq!(content(), before, "schema {version}");
    }
}

#[tokio::test]
async fn a_command_that_cannot_read_the_schema_names_a_version_that_can() {
    let newest = versions().await.pop().unwrap_or_default();
    let database = TestDatabase::with_schema(2).await;
    database
        .run("alter table flags rename column description to about")
        .await;
    let complaint = format!(
        "the database has schema 2, written by Pennon 0.0.9, which this command of Pennon {} cannot read: use the version \
         that wrote it, or upgrade the database to schema {newest} by starting the server of this version",
        env!("CARGO_PKG_VERSION")
    );
    database
        .command(&["export"])
        .await
        .expect_failure(&complaint);
    let empty = TestDatabase::create().await;
    if !empty.is_postgres() {
        std::fs::File::create_new(empty.file()).expect("a file");
    }
    empty
        .command(&["export"])
        .await
        .expect_failure("has no tables of Pennon");
}

#[tokio::test]
async fn a_dry_run_and_a_backup_do_not_upgrade_the_schema() {
    let (_, last) = last_release().await;
    let last = TestApp::over(last).await;
    let export = last.command(&["export"]).await.expect_success();
    let older = versions().await[0];
    let database = TestDatabase::with_schema(older).await;
    let dry_run = database
        .command_in(Path::new("."), &["import", "--dry-run", "-"], &export)
        .await;
    assert!(!dry_run.success, "{dry_run:?}");
    assert_eq!(database.schema_version().await, older);
    if !database.is_postgres() {
        let copy = database.file().with_extension("copy");
        let copy = TestDatabase::at(&format!("sqlite://{}", copy.display()));
        let backup = database
            .command(&["backup", &copy.file().display().to_string()])
            .await;
        backup.expect_success();
        assert_eq!(copy.schema_version().await, older);
        assert_eq!(database.schema_version().await, older);
    }
}

#[tokio::test]
async fn a_binary_older_than_the_database_fails_without_changes() {
    let (_, database) = last_release().await;
    let newer =
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
                 values (9999, 'later', true, 'x', 0);
                 update settings set value = '99.1.2' where name = 'schema_version_written_by'";
    database.run(newer).await;
    let tables = || async { format!("{:?}", Tables::of(&database).await) };
    let content =
        || (!database.is_postgres()).then(|| std::fs::read(database.file()).expect("the file"));
    let before = (tables().await, content());
    let sentence = format!(
        "the database was written by Pennon 99.1.2, which is newer than this one ({}): run that version or a newer one",
        env!("CARGO_PKG_VERSION")
    );
    let log = Process::fails_to_start(database.url(), &[]).await;
    assert!(log.lines().count() == 1 && log.contains(&sentence), "{log}");
    let add = ["user", "add", "eve@example.com", "--role", "editor"];
    for arguments in [&["export"][..], &["types"], &["user", "list"], &add] {
        database.command(arguments).await.expect_failure(&sentence);
    }
    assert!((tables().await, content()) == before);
    assert_eq!(
        database
            .count("select count(*) from settings where value = '99.1.2'")
            .await,
        1
    );
}
