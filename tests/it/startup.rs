//! Error messages of a start that fails, and conditions for which a start waits.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use pennon_tests::{Process, Proxy, TestApp, TestDatabase, binary, eventually, free_address};

/// The URL of a database on a port where no server can listen.
const NOWHERE: &str = "postgres://pennon:secret@127.0.0.1:1/flags";

#[tokio::test]
async fn an_invalid_setting_is_refused_with_a_valid_example() {
    // A label of a host name has at most 63 characters, so this name is never looked up.
    let unknown = format!("{}:3000", "x".repeat(64));
    for (name, value, complaint) in [
        ("PENNON_LISTEN", "localhost", "such as 127.0.0.1:3000"),
        ("PENNON_LISTEN", "localhost:http", "or localhost:3000"),
        (
            "PENNON_LISTEN",
            "http://localhost:3000",
            "or localhost:3000",
        ),
        ("PENNON_LISTEN", &unknown, "can resolve (PENNON_LISTEN)"),
        ("PENNON_LISTEN", "203.0.113.1:3000", "0.0.0.0 for all"),
        ("PENNON_RATE_LIMIT_EVALUATE", "0", "for no limit"),
        (
            "PENNON_TRUSTED_PROXIES",
            "10.0.0.1/99",
            "at most /32 for IPv4",
        ),
        (
            "PENNON_PUBLIC_URL",
            "flags.example.com",
            "https://flags.example.com",
        ),
        (
            "PENNON_PUBLIC_URL",
            "https://example.com:8443/flags",
            "write https://example.com:8443, and",
        ),
        (
            "DATABASE_URL",
            "mysql://db/flags",
            "must begin with `sqlite://` or `postgres://`",
        ),
        (
            "DATABASE_URL",
            "postgres://pennon:hid/den@db/flags",
            "in the password as `%40`",
        ),
        ("DATABASE_URL", "sqlite://", "names no file; write one"),
        ("PENNON_RATE_LIMIT_LOGIN", "0", "is not in 1.."),
        ("PENNON_PRODUCTS", "web,,mobile", "such as web,mobile"),
        (
            "PENNON_PRODUCTS",
            &"w".repeat(65),
            "must have at most 64 characters",
        ),
    ] {
        let log = Process::fails_to_start("sqlite://nowhere", &[(name, value)]).await;
        assert!(log.contains(complaint), "{name}={value}: {log}");
        assert!(!log.contains("den@"), "{log}");
    }
}

#[tokio::test]
async fn an_invalid_variable_is_named_and_stops_only_the_server() {
    let log = Process::fails_to_start("sqlite://nowhere", &[("PENNON_MAX_IN_FLIGHT", "x")]).await;
    let tip = "the value is that of the environment variable PENNON_MAX_IN_FLIGHT";
    assert!(log.contains(tip), "{log}");
    let app = TestApp::start().await;
    let command = |arguments: &[&str]| {
        let mut command = Command::new(binary());
        command.args(arguments);
        command.env("DATABASE_URL", app.database().url());
        command.env("PENNON_MAX_IN_FLIGHT", "x");
        let output = command.output().expect("the command runs");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    assert_eq!(command(&["user", "list"]), (Some(0), String::new()));
    let (status, error) = command(&["serve", "--max-in-flight", "0"]);
    assert_eq!(status, Some(2));
    assert!(
        error.contains("--max-in-flight") && !error.contains("variable"),
        "{error}"
    );
}

#[tokio::test]
async fn a_single_address_may_be_a_trusted_proxy() {
    let proxies = ["--trusted-proxies", "10.0.0.1, fd00::1,10.1.0.0/16"];
    TestApp::with_settings(&proxies).await;
}

#[tokio::test]
async fn the_server_can_listen_on_a_host_name() {
    let app = TestApp::start().await;
    let listen = format!("localhost:{}", free_address().port());
    let url = app.database().url();
    let _process = Process::starting(url, &[("PENNON_LISTEN", &listen)]);
    eventually("the server listens on the name", async || {
        app.command(&["health", "--listen", &listen]).await.success
    })
    .await;
}

#[tokio::test]
async fn the_server_prints_the_port_that_the_system_chose() {
    let database = TestDatabase::create().await;
    let mut server = Command::new(binary())
        .args(["--listen", "127.0.0.1:0"])
        .env("DATABASE_URL", database.url())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts");
    let mut line = String::new();
    let output = server.stdout.take().expect("its output");
    BufReader::new(output).read_line(&mut line).expect("a line");
    let address = line
        .trim_end()
        .strip_prefix("Pennon is ready: http://")
        .and_then(|url| url.strip_suffix("/dashboard"));
    let connected = TcpStream::connect(address.expect(&line));
    server.kill().expect("the server runs");
    server.wait().expect("the server ends");
    connected.expect("the server listens there");
}

#[tokio::test]
async fn the_error_for_a_taken_port_names_the_setting() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let taken = taken.local_addr().map(|address| address.to_string());
    let taken = taken.expect("the port is known");
    for setting in ["PENNON_LISTEN", "PENNON_METRICS_LISTEN"] {
        let log = Process::fails_to_start("sqlite://nowhere", &[(setting, &taken)]).await;
        assert!(log.contains(&format!("cannot listen on {taken}")), "{log}");
        assert!(
            log.contains(&format!("choose another port ({setting})")),
            "{log}"
        );
    }
}

#[tokio::test]
async fn variables_that_are_no_settings_are_named() {
    let listen = free_address().to_string();
    let settings = [
        ("PENNON_LISTEN", listen.as_str()),
        ("PENNON_METRICS_LISTEN", &listen),
        ("PENNON_TRUSTED_PROXY", "10.0.0.1"),
        ("PENNON_DATABASE_URL", "sqlite://nowhere"),
        ("PENNON_SERVICE_PORT", "3000"),
        ("PENNON_SDK_KEY", "pnk_1"),
    ];
    let log = Process::fails_to_start("sqlite://nowhere", &settings).await;
    for (name, is_named) in [
        ("PENNON_TRUSTED_PROXY", true),
        ("PENNON_DATABASE_URL", true),
        ("PENNON_SERVICE_PORT", false),
        ("PENNON_SDK_KEY", false),
        ("PENNON_ADMIN_PASSWORD", false),
        ("PENNON_LISTEN", false),
    ] {
        let named = format!("the environment variable {name} is ignored");
        assert_eq!(log.contains(&named), is_named, "{name}: {log}");
    }
    assert!(
        log.contains("PENNON_METRICS_LISTEN and PENNON_LISTEN are the same"),
        "{log}"
    );
}

#[tokio::test]
async fn no_log_filter_hides_the_reason_for_a_failed_start() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let taken = taken.local_addr().map(|address| address.to_string());
    let taken = taken.expect("the port is known");
    for filter in ["warning", "pennon_server::http=debug", "pennon=loud", ""] {
        let settings = [("PENNON_LISTEN", taken.as_str()), ("RUST_LOG", filter)];
        let log = Process::fails_to_start("sqlite://nowhere", &settings).await;
        let reason = format!("cannot listen on {taken}");
        assert!(log.contains(&reason), "{filter}: {log}");
        let is_invalid = matches!(filter, "warning" | "pennon=loud");
        assert_eq!(log.contains("RUST_LOG is ignored"), is_invalid, "{log}");
    }
}

#[tokio::test]
async fn an_empty_log_directive_hides_nothing() {
    for filter in ["info,", ",info,,", ","] {
        let settings = [("RUST_LOG", filter), ("PENNON_LISTENS", "a typing mistake")];
        let process = Process::start(&TestDatabase::create().await, &settings).await;
        let log = process.stop().await.log;
        assert!(log.contains("PENNON_LISTENS is ignored"), "{filter}: {log}");
    }
}

#[tokio::test]
async fn the_error_for_an_unusable_database_file_names_file_and_folder() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let file = folder.path().join("file");
    std::fs::write(
        &file,
        "This is no database, but a text that is long enough for one. ".repeat(9),
    )
    .expect("a file is written");
    let (folder, file) = (folder.path().display(), file.display());
    let overlong = "x".repeat(300);
    let write_to = format!("write to {folder}, or name another file");
    for (path, complaint) in [
        (format!("{file}/deep/pennon.db"), write_to.clone()),
        (format!("{folder}/{overlong}/pennon.db"), write_to.clone()),
        (format!("{folder}/{overlong}"), write_to),
        (
            format!("{file}"),
            format!("{file} is not a SQLite database"),
        ),
        (
            format!("{folder}"),
            format!("{folder} is not a SQLite database"),
        ),
    ] {
        let log = Process::fails_to_start(&format!("sqlite://{path}"), &[]).await;
        assert!(log.contains(&path) && log.contains(&complaint), "{log}");
    }
}

#[tokio::test]
async fn a_database_file_that_cannot_be_written_is_not_served() {
    let database = TestDatabase::in_file();
    let process = Process::start(&database, &[]).await;
    let log = process.stop().await.log;
    let opened = format!(
        "opened the database database=\"{}\"",
        database.file().display()
    );
    assert!(log.contains(&opened), "{log}");
    let read_only = format!("{}?mode=ro", database.url());
    let log = Process::fails_to_start(&read_only, &[]).await;
    assert!(
        log.contains("attempt to write a readonly database")
            && log.contains("write to this file and to"),
        "{log}"
    );
}

#[tokio::test]
async fn a_damaged_database_file_is_named_and_not_changed() {
    let database = TestDatabase::in_file();
    let process = Process::start(&database, &[]).await;
    process.stop().await;
    let mut content = std::fs::read(database.file()).expect("the file");
    content.iter_mut().skip(4096).for_each(|byte| *byte = 0x5a);
    std::fs::write(database.file(), &content).expect("the file is written");

    let log = Process::fails_to_start(database.url(), &[]).await;
    let complaint = format!("the database {} is damaged", database.file().display());
    assert!(
        log.contains(&complaint) && log.contains("restore it from a backup"),
        "{log}"
    );
    assert_eq!(std::fs::read(database.file()).expect("the file"), content);
}

#[tokio::test]
async fn an_unreachable_database_is_logged_at_once_and_the_wait_can_be_interrupted() {
    let process = Process::starting(NOWHERE, &[]);
    process
        .wait_until_it_logs("cannot reach PostgreSQL; retrying")
        .await;
    let ended = process.stop().await;
    assert!(ended.status.success(), "{}", ended.log);
    assert!(
        ended.log.contains("address=\"127.0.0.1:1\""),
        "{}",
        ended.log
    );
    assert!(ended.log.contains("Connection refused"), "{}", ended.log);
    assert!(!ended.log.contains("secret"), "{}", ended.log);
}

#[tokio::test]
async fn the_start_waits_for_the_database() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    proxy.cut();
    let process = Process::starting(proxy.database(&database).url(), &[]);
    process
        .wait_until_it_logs("cannot reach PostgreSQL; retrying")
        .await;
    proxy.resume();
    process.wait_until_ready().await;
}

#[tokio::test]
async fn a_user_without_rights_on_the_tables_learns_the_remedy() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    Process::start(&database, &[]).await.stop().await;
    let stranger = database.for_own_role().await;
    let log = Process::fails_to_start(stranger.url(), &[]).await;
    assert!(
        log.contains("make it the owner of the database and of its tables"),
        "{log}"
    );
    assert!(!log.contains("at line"), "{log}");
}

#[tokio::test]
async fn a_search_path_without_a_schema_is_named() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let url = format!("{}?options=-c%20search_path%3Dmissing", database.url());
    let log = Process::fails_to_start(&url, &[]).await;
    assert!(
        log.contains("create the one that `search_path` names"),
        "{log}"
    );
}

#[tokio::test]
async fn a_refusal_by_the_database_ends_the_start_at_once() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let missing = format!("{}_which_is_missing", database.url());
    let log = Process::fails_to_start(&missing, &[]).await;
    assert!(
        log.contains("create the database, or correct its name"),
        "{log}"
    );
    assert!(
        log.contains(&format!("{}_which_is_missing", database.name())),
        "{log}"
    );
    assert!(!log.contains("retrying"), "{log}");
}

#[tokio::test]
async fn a_second_start_logs_no_database_notices() {
    let database = TestDatabase::create().await;
    for _ in 0..2 {
        let process = Process::start(&database, &[]).await;
        let log = process.stop().await.log;
        assert!(!log.contains("_sqlx_migrations"), "{log}");
    }
}

#[tokio::test]
async fn a_newer_schema_is_not_changed_and_its_version_is_named() {
    let app = TestApp::start().await;
    app.command(&["user", "list"]).await.expect_success();
    app.tamper(
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
         values (9999, 'later', true, 'x', 0)",
    )
    .await;
    let refused = async |complaint| {
        let refused = app.command(&["user", "list"]).await;
        refused.expect_failure(complaint);
    };
    // The test's own version cannot have written that schema.
    refused("was written by a newer Pennon than this one (").await;
    app.tamper("update settings set value = '99.1.2' where name = 'schema_version_written_by'")
        .await;
    refused("was written by Pennon 99.1.2, which is newer than this one (").await;
    app.tamper("delete from settings where name = 'schema_version_written_by'")
        .await;
    refused("run the version that wrote it, or a newer one").await;
}
