//! A database for one test.

use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};
use tempfile::TempDir;

/// An empty database that no other test uses.
pub struct TestDatabase {
    url: String,
    _folder: TempDir,
}

impl TestDatabase {
    /// Creates one: a file, or a database on the PostgreSQL server that `PENNON_TEST_POSTGRES_URL` names.
    pub async fn create() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let url = match std::env::var("PENNON_TEST_POSTGRES_URL") {
            Ok(server) => create_on_postgres(&server, &folder).await,
            Err(_) => format!("sqlite://{}", folder.path().join("pennon.db").display()),
        };
        Self {
            url,
            _folder: folder,
        }
    }

    /// Runs one statement behind the service's back.
    pub async fn execute(&self, sql: &'static str) {
        if self.url.starts_with("sqlite") {
            let mut connection = SqliteConnection::connect(&self.url)
                .await
                .expect("the file opens");
            sqlx::query(sql)
                .execute(&mut connection)
                .await
                .expect("the statement runs");
        } else {
            let mut connection = PgConnection::connect(&self.url)
                .await
                .expect("PostgreSQL answers");
            sqlx::query(sql)
                .execute(&mut connection)
                .await
                .expect("the statement runs");
        }
    }

    /// The URL to open it with.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// The folder's random name is also the database's, so that tests in parallel do not meet.
async fn create_on_postgres(server: &str, folder: &TempDir) -> String {
    let unique = folder
        .path()
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let name = format!(
        "pennon_test_{}",
        unique.trim_start_matches('.').to_lowercase()
    );
    let mut connection = PgConnection::connect(server)
        .await
        .expect("PostgreSQL answers");
    sqlx::query(AssertSqlSafe(format!("create database \"{name}\"")))
        .execute(&mut connection)
        .await
        .expect("the database is created");
    let (base, _) = server.rsplit_once('/').expect("the URL names a database");
    format!("{base}/{name}")
}
