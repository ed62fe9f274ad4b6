//! TLS to a PostgreSQL server whose certificate is signed by a private authority.

use pennon_tests::{Process, TestApp, TestDatabase, TlsCluster, eventually};
use reqwest::StatusCode;
use sqlx::Connection;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// The roles of the server. They may connect only with a password over TLS, with a certificate, and without TLS.
const ENCRYPTED: &str = "encrypted:a%20secret";
const CERTIFIED: &str = "certified";
const UNENCRYPTED: &str = "unencrypted";

/// Counts the connections of servers to a database, with TLS or without.
async fn connections(database: &TestDatabase, encrypted: bool) -> i64 {
    sqlx::query_scalar(
        "select count(*) from pg_stat_activity join pg_stat_ssl using (pid)
         where datname = current_database() and application_name like 'pennon%' and ssl = $1",
    )
    .bind(encrypted)
    .fetch_one(&mut database.postgres().await)
    .await
    .expect("PostgreSQL answers")
}

/// Starts the binary, and expects all of its connections to use TLS, or none.
async fn expect_serving(database: &TestDatabase, url: &str, encrypted: bool) {
    let process = Process::start(&TestDatabase::at(url), &[]).await;
    eventually("the server reads, listens and probes", async || {
        connections(database, encrypted).await >= 3
    })
    .await;
    assert_eq!(connections(database, !encrypted).await, 0, "{url}");
    drop(process);
}

/// Expects the start to fail at once, with an error that contains these texts.
async fn expect_start_failure(url: &str, complaints: &[&str]) {
    expect_start_failure_with(url, &[], complaints).await;
}

async fn expect_start_failure_with(url: &str, settings: &[(&str, &str)], complaints: &[&str]) {
    let log = Process::fails_to_start(url, settings).await;
    for complaint in complaints {
        assert!(log.contains(complaint), "{complaint}: {log}");
    }
    assert!(!log.contains("retrying"), "{log}");
    assert!(
        !log.contains("a%20secret") && !log.contains("a secret"),
        "{log}"
    );
}

#[tokio::test]
async fn every_mode_except_disable_can_use_tls() {
    let Some(cluster) = TlsCluster::shared().await else {
        return;
    };
    let database = cluster.database().await;
    let name = database.name();
    let (authority, both) = (cluster.file("authority.crt"), cluster.file("both.crt"));
    for parameters in [
        String::new(),
        "sslmode=prefer".to_owned(),
        "sslmode=allow".to_owned(),
        "ssl=true".to_owned(),
        "sslmode=require&gssencmode=disable&target_session_attrs=read-write".to_owned(),
        format!("sslmode=require&sslrootcert={authority}"),
        format!("sslmode=verify-ca&sslrootcert={authority}"),
        format!("sslmode=verify-full&sslrootcert={authority}"),
        format!("sslmode=verify-full&sslrootcert={both}&connect_timeout=10"),
    ] {
        let url = cluster.url_for(ENCRYPTED, name, &parameters);
        expect_serving(&database, &url, true).await;
    }
    // `verify-ca` does not check the host name.
    let parameters = format!("sslmode=verify-ca&sslrootcert={authority}");
    let url = cluster.url_by_address(ENCRYPTED, name, &parameters);
    expect_serving(&database, &url, true).await;
}

#[tokio::test]
async fn plaintext_is_used_if_the_mode_allows_it() {
    let Some(cluster) = TlsCluster::shared().await else {
        return;
    };
    let database = cluster.database().await;
    let name = database.name();
    for (user, parameters) in [
        (UNENCRYPTED, ""),
        (UNENCRYPTED, "sslmode=prefer"),
        (UNENCRYPTED, "sslmode=allow"),
        (UNENCRYPTED, "sslmode=disable"),
        ("postgres", "sslmode=disable"),
        // As in libpq, `allow` first tries without TLS.
        ("postgres", "sslmode=allow"),
    ] {
        let url = cluster.url_for(user, name, parameters);
        expect_serving(&database, &url, false).await;
    }
    // The server does not trust the certificate, so the connection has no TLS.
    let (certificate, key) = (cluster.file("stray.crt"), cluster.file("stray.key"));
    let parameters = format!("sslmode=prefer&sslcert={certificate}&sslkey={key}");
    let url = cluster.url_for("postgres", name, &parameters);
    expect_serving(&database, &url, false).await;
    let process = Process::starting(&url, &[]);
    let warning = "the connection is NOT encrypted";
    process.wait_until_it_logs(warning).await;
    drop(process);
    let socket = cluster.file("").replace('/', "%2F");
    let url = cluster.url_for("postgres", name, "sslmode=require");
    let url = url.replace("localhost", &socket);
    expect_serving(&database, &url, false).await;
}

#[tokio::test]
async fn an_untrusted_certificate_is_refused_at_once() {
    let Some(cluster) = TlsCluster::shared().await else {
        return;
    };
    let (authority, stranger) = (cluster.file("authority.crt"), cluster.file("stranger.crt"));
    for mode in ["require", "verify-ca", "verify-full"] {
        let parameters = format!("sslmode={mode}&sslrootcert={stranger}");
        let url = cluster.url_for(ENCRYPTED, "postgres", &parameters);
        expect_start_failure(&url, &["no authority in `sslrootcert`", &stranger]).await;
    }
    for parameters in ["sslmode=verify-full", "sslrootcert=system"] {
        let url = cluster.url_for(ENCRYPTED, "postgres", parameters);
        expect_start_failure(
            &url,
            &["no authority that this system trusts", "by `sslrootcert`"],
        )
        .await;
    }
    let parameters = format!("sslmode=verify-full&sslrootcert={authority}");
    let url = cluster.url_by_address(ENCRYPTED, "postgres", &parameters);
    expect_start_failure(
        &url,
        &["a certificate for `127.0.0.1`", "`sslmode=verify-ca`"],
    )
    .await;
}

#[tokio::test]
async fn system_authorities_are_trusted_only_in_verify_full() {
    let Some(cluster) = TlsCluster::shared().await else {
        return;
    };
    let database = cluster.database().await;
    let system = [("SSL_CERT_FILE", cluster.file("authority.crt"))];
    let system = system.each_ref().map(|(name, file)| (*name, file.as_str()));
    for parameters in [
        "sslmode=verify-full",
        "sslmode=verify-full&sslrootcert=system",
        "sslrootcert=system",
    ] {
        let url = cluster.url_for(ENCRYPTED, database.name(), parameters);
        let process = Process::start(&TestDatabase::at(&url), &system).await;
        assert!(connections(&database, true).await > 0);
        drop(process);
    }
    // Trusting the system's authorities as well would make a private authority worthless.
    let stranger = cluster.file("stranger.crt");
    for mode in ["verify-ca", "verify-full"] {
        let parameters = format!("sslmode={mode}&sslrootcert={stranger}");
        let url = cluster.url_for(ENCRYPTED, database.name(), &parameters);
        expect_start_failure_with(&url, &system, &["no authority in `sslrootcert`"]).await;
    }
    let nothing = [
        ("SSL_CERT_FILE", "/dev/null"),
        ("SSL_CERT_DIR", "/proc/self/fdinfo"),
    ];
    let url = cluster.url_for(ENCRYPTED, database.name(), "sslmode=verify-full");
    expect_start_failure_with(
        &url,
        &nothing,
        &["no certificate authorities on this system"],
    )
    .await;
}

#[tokio::test]
async fn a_client_certificate_is_sent() {
    let Some(cluster) = TlsCluster::shared().await else {
        return;
    };
    let database = cluster.database().await;
    let shown = |file: &str| {
        let file = |end: &str| cluster.file(&format!("{file}.{end}"));
        format!(
            "sslmode=require&sslcert={}&sslkey={}",
            file("crt"),
            file("key")
        )
    };
    let url = cluster.url_for(CERTIFIED, database.name(), &shown("client"));
    expect_serving(&database, &url, true).await;

    let url = cluster.url_for(CERTIFIED, database.name(), "sslmode=require");
    expect_start_failure(&url, &["by `sslcert` and `sslkey`"]).await;
    let url = cluster.url_for(CERTIFIED, database.name(), &shown("stray"));
    expect_start_failure(&url, &["check `sslcert` and `sslkey`", "`ssl_ca_file`"]).await;
    let url = cluster.url_for("encrypted:wrong", database.name(), &shown("client"));
    expect_start_failure(&url, &["correct the user or the password"]).await;
}

#[tokio::test]
async fn commands_use_the_same_tls_settings_as_the_server() {
    let Some(cluster) = TlsCluster::shared().await else {
        return;
    };
    let database = cluster.database().await;
    let parameters = format!(
        "sslmode=verify-full&sslrootcert={}",
        cluster.file("authority.crt")
    );
    let url = cluster.url_for(ENCRYPTED, database.name(), &parameters);
    let app = TestApp::on_database(&url).await;
    app.command(&["user", "list"]).await.expect_success();
    let admin = app.admin().await;
    let read = admin.get("/flags").await;
    read.expect(StatusCode::OK);
}

#[tokio::test]
async fn certificate_files_are_checked_before_connecting() {
    let Some(cluster) = TlsCluster::shared().await else {
        return;
    };
    let (text, key) = (cluster.file("text.crt"), cluster.file("client.key"));
    let certificate = cluster.file("client.crt");
    for (parameters, complaint) in [
        (
            "sslmode=verify-full&sslrootcert=/nowhere.crt".to_owned(),
            "`sslrootcert` names /nowhere.crt",
        ),
        (
            format!("sslmode=verify-full&sslrootcert={text}"),
            "holds no certificate",
        ),
        (
            format!("sslcert={certificate}"),
            "`sslcert` and `sslkey` belong together",
        ),
        (
            format!("sslcert={certificate}&sslkey={text}"),
            "holds no private key",
        ),
        (
            format!("sslcert={text}&sslkey={key}"),
            "holds no certificate",
        ),
    ] {
        expect_start_failure(&format!("postgres://nowhere/db?{parameters}"), &[complaint]).await;
    }
    let open = tempfile::tempdir().expect("a folder for the test");
    let copy = open.path().join("client.key");
    std::fs::copy(&key, &copy).expect("the key is copied");
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&copy, permissions).expect("a file of this test");
    let url = format!(
        "postgres://nowhere/db?sslcert={certificate}&sslkey={}",
        copy.display()
    );
    expect_start_failure(&url, &["which others may read or change"]).await;
}

/// Starts a server that has no TLS and closes connections that try without it. Returns its address.
async fn server_without_tls() -> String {
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port is free");
    let address = listener.local_addr().expect("the port is known");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 8];
            if stream.read_exact(&mut request).await.is_ok() {
                let _already_gone = stream.write_all(b"N").await;
            }
        }
    });
    format!("postgres://somebody@{address}/db")
}

#[tokio::test]
async fn a_server_without_tls_is_refused_if_tls_is_required() {
    let url = server_without_tls().await;
    for mode in ["require", "verify-full"] {
        expect_start_failure(
            &format!("{url}?sslmode={mode}"),
            &["does not offer TLS", "`ssl = on`", mode],
        )
        .await;
    }
}

#[tokio::test]
async fn the_error_says_that_the_server_requires_tls() {
    let Some(cluster) = TlsCluster::shared().await else {
        return;
    };
    let url = cluster.url_for(ENCRYPTED, "postgres", "sslmode=disable");
    expect_start_failure(&url, &["write `sslmode=require`"]).await;
    let direct = sqlx::PgConnection::connect(&url).await;
    assert!(
        direct.is_err(),
        "the server accepts connections without TLS"
    );
}
