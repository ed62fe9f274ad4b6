//! Secrets, which come from environment variables or files, never from the command line.

use std::path::Path;
use std::process::{Command, Output};

use pennon_tests::{EMAIL, PASSWORD, Process, TestDatabase, binary};
use reqwest::StatusCode;

const JWT_SECRET: &str = "a signing secret of more than 32 bytes";

/// Writes a file into a folder and returns its path.
fn write(folder: &Path, name: &str, content: &str) -> String {
    let file = folder.join(name);
    std::fs::write(&file, content).expect("a file is written");
    file.display().to_string()
}

/// Runs the binary with these arguments and only these settings.
fn run(arguments: &[&str], settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(binary());
    command.args(arguments).env_clear();
    command.envs(settings.iter().copied());
    command.output().expect("the binary runs")
}

#[tokio::test]
async fn a_server_reads_its_secrets_from_files() {
    let database = TestDatabase::create().await;
    let folder = tempfile::tempdir().expect("a folder for the test");
    let url = write(folder.path(), "url", &format!("{}\n", database.url()));
    let password = write(folder.path(), "password", "a password with a newline\n\n");
    let jwt_secret = write(folder.path(), "jwt", &format!("{JWT_SECRET}\r\n"));
    let process = Process::starting_with(|command| {
        command
            .env("DATABASE_URL_FILE", &url)
            .env("PENNON_ADMIN_PASSWORD_FILE", &password)
            .env("PENNON_JWT_SECRET_FILE", &jwt_secret)
    });
    process.wait_until_ready().await;
    // Only the last newline of the file is removed.
    let exact = process.try_sign_in("a password with a newline\n").await;
    exact.expect(StatusCode::OK);
    let shorter = process.try_sign_in("a password with a newline").await;
    shorter.expect(StatusCode::UNAUTHORIZED);

    // Commands use the same database.
    let add = ["user", "add", "eve@example.com", "--role", "viewer"];
    let added = run(&add, &[("DATABASE_URL_FILE", &url)]);
    assert!(added.status.success(), "{added:?}");
    process.stop().await;

    // The same signing secret from an environment variable accepts the same tokens.
    let settings = [("PENNON_JWT_SECRET", JWT_SECRET)];
    let second = Process::start(&database, &settings).await;
    let reset = ["user", "reset-password", EMAIL, "--password-stdin"];
    let reset = database.command_in(Path::new("."), &reset, PASSWORD).await;
    reset.expect_success();
    let token = second.access_token().await;
    second.stop().await;
    let from_file = [("PENNON_JWT_SECRET_FILE", jwt_secret.as_str())];
    let third = Process::start(&database, &from_file).await;
    let flags = third.with_token(&token).get("/flags").await;
    flags.expect(StatusCode::OK);
    third.stop().await;
    let other = [(
        "PENNON_JWT_SECRET",
        "another signing secret of 32 bytes and more",
    )];
    let fourth = Process::start(&database, &other).await;
    let refused = fourth.with_token(&token).get("/flags").await;
    refused.expect(StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_error_for_an_unreadable_secret_names_its_variable_and_file() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let secret = write(folder.path(), "secret", "hidden-in-the-file");
    let empty = write(folder.path(), "empty", "\n");
    let missing = folder.path().join("missing").display().to_string();
    let directory = folder.path().display().to_string();
    for name in ["DATABASE_URL", "PENNON_ADMIN_PASSWORD", "PENNON_JWT_SECRET"] {
        let file = format!("{name}_FILE");
        let cases = [
            (&secret, format!("{name} and {file} are both set")),
            (
                &empty,
                format!("the file {empty} that {file} names is empty"),
            ),
            (
                &missing,
                format!("the file {missing} that {file} names: No such file"),
            ),
            (
                &directory,
                format!("the file {directory} that {file} names: Is a directory"),
            ),
        ];
        for (path, complaint) in cases {
            let mut settings = vec![(file.as_str(), path.as_str())];
            if path == &secret {
                settings.push((name, "hidden-in-the-variable"));
            }
            let serve = run(&["serve", "--listen", "127.0.0.1:0"], &settings);
            let log = String::from_utf8_lossy(&serve.stderr).into_owned();
            assert_eq!(serve.status.code(), Some(1), "{log}");
            assert!(
                log.contains(&complaint) && !log.contains("hidden-"),
                "{log}"
            );
            if name == "DATABASE_URL" {
                let list = run(&["user", "list"], &settings);
                let complaints = String::from_utf8_lossy(&list.stderr).into_owned();
                assert_eq!(list.status.code(), Some(1), "{complaints}");
                assert!(complaints.contains(&complaint), "{complaints}");
            }
        }
    }
}

#[tokio::test]
async fn the_command_line_accepts_no_secrets_and_never_prints_them() {
    for url in [
        "postgres://pennon:hidden@127.0.0.1:1/flags",
        "postgres://127.0.0.1:1/flags?password=hidden",
    ] {
        for command in [
            &["serve"][..],
            &["export"],
            &["backup", "x.db"],
            &["user", "list"],
        ] {
            let arguments = [command, &["--database-url", url]].concat();
            let ran = run(&arguments, &[]);
            let stderr = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(1), "{stderr}");
            assert!(
                stderr.contains("set DATABASE_URL or DATABASE_URL_FILE instead"),
                "{stderr}"
            );
            assert!(!stderr.contains("hidden"), "{stderr}");
        }
    }
    for option in ["--admin-password", "--jwt-secret"] {
        for arguments in [
            vec![option.to_owned(), "hidden".to_owned()],
            vec![format!("{option}=hidden")],
        ] {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let ran = run(&arguments, &[]);
            let stderr = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(2), "{stderr}");
            assert!(
                stderr.contains(option) && !stderr.contains("hidden"),
                "{stderr}"
            );
        }
    }
    let help = run(
        &["--help"],
        &[("DATABASE_URL", "postgres://pennon:hidden@db/flags")],
    );
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(
        help.contains("PENNON_JWT_SECRET") && help.contains("DATABASE_URL_FILE"),
        "{help}"
    );
    assert!(!help.contains("hidden"), "{help}");
}
