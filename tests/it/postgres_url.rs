//! The parameters of `DATABASE_URL`: each takes effect or is refused.

use pennon_tests::{Process, TestDatabase};

#[tokio::test]
async fn unsupported_parameters_are_refused_with_a_remedy() {
    for (url, complaint) in [
        (
            "postgres://db/flags?sslmode=require&channel_binding=require",
            "`channel_binding=require` in DATABASE_URL; remove it, and use `sslmode=verify-full`",
        ),
        (
            "postgres://db/flags?target_session_attrs=read-only",
            "`target_session_attrs=read-only` in DATABASE_URL; remove it",
        ),
        (
            "postgres://db/flags?sslnegotiation=direct",
            "`sslnegotiation=direct`",
        ),
        (
            "postgres://db/flags?keepalives=1",
            "the parameter `keepalives`, which Pennon does not know; remove it",
        ),
        (
            "postgres://db/flags?sslmode=verify_full",
            "write disable, allow, prefer",
        ),
        (
            "postgres://db/flags?sslmode=verify-ca",
            "set `sslrootcert` to their file",
        ),
        (
            "postgres://db/flags?sslmode=require&sslrootcert=system",
            "write `sslmode=verify-full`",
        ),
        (
            "postgres://db/flags?sslrootcert=/etc/ssl/ca.crt",
            "`sslrootcert` has no effect with `sslmode=prefer`",
        ),
        ("postgres://db/flags?pgbouncer=yes", "must be true or false"),
        (
            "postgres://db/flags?connect_timeout=soon",
            "a number of seconds",
        ),
        ("postgres://one:5432,two:5432/flags", "names several hosts"),
        ("postgres:///flags?host=one,two", "names several hosts"),
        (
            "postgres://pennon:hid?den@db/flags",
            "must be written as `%3F`",
        ),
        (
            "postgres://pennon:pw?hidden&den=3@db/flags",
            "must be written as `%3F`",
        ),
    ] {
        let log = Process::fails_to_start(url, &[]).await;
        assert!(log.contains(complaint), "{url}: {log}");
        assert!(
            !log.contains("retrying") && !log.contains("den@") && !log.contains("hidden"),
            "{log}"
        );
    }
}

#[tokio::test]
async fn environment_variables_set_parameters_that_the_url_omits() {
    let log = Process::fails_to_start("postgres://db/flags", &[("PGSSLMODE", "full")]).await;
    assert!(log.contains("`sslmode=full` is not known"), "{log}");
    let certificates = [
        ("PGSSLMODE", "verify-full"),
        ("PGSSLROOTCERT", "/nowhere.crt"),
    ];
    let log = Process::fails_to_start("postgres://db/flags", &certificates).await;
    assert!(log.contains("`sslrootcert` names /nowhere.crt"), "{log}");
}

#[tokio::test]
async fn harmless_parameters_of_hosting_providers_are_accepted() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let parameters = "sslmode=prefer&channel_binding=prefer&target_session_attrs=read-write&connect_timeout=10\
                      &application_name=flags&gssencmode=disable&client_encoding=utf8&pgbouncer=false\
                      &options=-c%20statement_timeout%3D60s";
    let url = format!("{}?{parameters}", database.url());
    let process = Process::start(&TestDatabase::at(&url), &[]).await;
    let named = "select count(*) from pg_stat_activity
                 where datname = current_database() and application_name like 'flags %'";
    assert!(database.count(named).await > 0);
    drop(process);
}
