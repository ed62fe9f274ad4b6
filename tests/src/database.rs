//! A database for one test.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::Url;
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};
use tempfile::TempDir;

/// An empty database that no other test uses.
pub struct TestDatabase {
    url: String,
    seeds: AtomicU64,
    /// The URL of the server that it was created on; none for a file, or if it was there before.
    server: Option<String>,
    /// The folder that was made with it, and is removed with it; none if it was there before.
    _folder: Option<TempDir>,
}

impl TestDatabase {
    /// Creates one: a file, or a database on the PostgreSQL server that `PENNON_TEST_POSTGRES_URL` names.
    pub async fn create() -> Self {
        match std::env::var("PENNON_TEST_POSTGRES_URL") {
            Ok(server) => Self::on_postgres(&server).await,
            Err(_) => Self::in_file(),
        }
    }

    /// Creates a file.
    pub fn in_file() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        Self {
            url: format!("sqlite://{}", folder.path().join("pennon.db").display()),
            seeds: AtomicU64::new(1),
            server: None,
            _folder: Some(folder),
        }
    }

    /// Creates a database on a PostgreSQL server.
    pub async fn on_postgres(server: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        Self {
            url: create_on_postgres(server, &folder).await,
            seeds: AtomicU64::new(1),
            server: Some(server.to_owned()),
            _folder: Some(folder),
        }
    }

    /// Opens an existing one.
    pub fn at(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            seeds: AtomicU64::new(1),
            server: None,
            _folder: None,
        }
    }

    /// Runs one statement behind the service's back.
    pub async fn execute(&self, sql: impl Into<String>) {
        let sql = AssertSqlSafe(sql.into());
        if self.is_postgres() {
            let mut connection = self.postgres().await;
            sqlx::query(sql)
                .execute(&mut connection)
                .await
                .expect("the statement runs");
        } else {
            let mut connection = SqliteConnection::connect(&self.url)
                .await
                .expect("the file opens");
            sqlx::query(sql)
                .execute(&mut connection)
                .await
                .expect("the statement runs");
        }
    }

    /// The number that a query returns.
    pub async fn count(&self, sql: &'static str) -> i64 {
        let counted = if self.is_postgres() {
            let mut server = self.postgres().await;
            sqlx::query_scalar(sql).fetch_one(&mut server).await
        } else {
            let mut file = SqliteConnection::connect(&self.url)
                .await
                .expect("the file opens");
            sqlx::query_scalar(sql).fetch_one(&mut file).await
        };
        counted.expect("a number")
    }

    /// Returns true if it is on PostgreSQL.
    pub fn is_postgres(&self) -> bool {
        self.url.starts_with("postgres")
    }

    /// A connection of the test's own to PostgreSQL.
    pub async fn postgres(&self) -> PgConnection {
        PgConnection::connect(&self.url)
            .await
            .expect("PostgreSQL answers")
    }

    /// A connection of the test's own to the server, outside of this database.
    pub async fn server(&self) -> PgConnection {
        let server = self.server.as_deref().expect("a server");
        PgConnection::connect(server)
            .await
            .expect("PostgreSQL answers")
    }

    /// Takes the writers' turn, as another instance does that writes, until the value is dropped.
    pub async fn take_turn(&self) -> WritersTurn {
        const LOCK: &str = "select pg_advisory_lock(22594200760438272)";
        if self.is_postgres() {
            let mut connection = self.postgres().await;
            let taken = sqlx::raw_sql(LOCK).execute(&mut connection).await;
            taken.expect("the turn is taken");
            WritersTurn::Postgres(connection)
        } else {
            let opened = SqliteConnection::connect(&self.url).await;
            let mut connection = opened.expect("the file opens");
            let taken = sqlx::raw_sql("begin immediate")
                .execute(&mut connection)
                .await;
            taken.expect("the turn is taken");
            WritersTurn::Sqlite(connection)
        }
    }

    /// The file of SQLite.
    pub fn file(&self) -> &Path {
        Path::new(self.url.trim_start_matches("sqlite://"))
    }

    /// The same database for a role of its own on PostgreSQL, whose connections can be limited.
    pub async fn for_own_role(&self) -> Self {
        let mut url = Url::parse(&self.url).expect("a URL");
        let (name, password) = (self.name(), url.password().unwrap_or("unused").to_owned());
        for statement in [
            format!("create role \"{name}\" login password '{password}'"),
            format!("alter database \"{name}\" owner to \"{name}\""),
        ] {
            self.administer(statement).await;
        }
        url.set_username(name).expect("a URL with a host");
        Self::at(url.as_str())
    }

    /// Limits the connections of that role, and ends those that it has; none for no limit.
    pub async fn limit_connections(&self, limit: Option<u32>) {
        let name = self.name();
        let limit = limit.map_or("-1".to_owned(), |limit| limit.to_string());
        self.administer(format!("alter role \"{name}\" connection limit {limit}"))
            .await;
        self.administer(format!(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = '{name}'"
        ))
        .await;
    }

    /// Runs a statement outside of this database.
    async fn administer(&self, statement: String) {
        let mut server = self.server().await;
        let done = sqlx::query(AssertSqlSafe(statement))
            .execute(&mut server)
            .await;
        done.expect("the statement runs");
    }

    /// Its name on PostgreSQL.
    pub fn name(&self) -> &str {
        self.url.rsplit('/').next().unwrap_or_default()
    }

    /// The seed of the next service on this database: what each of them makes up repeats, and no two make up the same.
    pub(crate) fn next_seed(&self) -> u64 {
        self.seeds.fetch_add(1, Ordering::Relaxed)
    }

    /// Sets the seed of the next service.
    pub(crate) fn seed_from(&mut self, seed: u64) {
        *self.seeds.get_mut() = seed;
    }

    /// The URL to open it with.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// The write lock: while it is held, nobody else writes.
pub enum WritersTurn {
    /// A transaction on the file.
    Sqlite(SqliteConnection),
    /// A connection that has the lock.
    Postgres(PgConnection),
}

impl Drop for TestDatabase {
    /// Takes what was created here off the server again, which others may use too: each database takes megabytes. One
    /// that was there before stays.
    fn drop(&mut self) {
        let Some(server) = self.server.take() else {
            return;
        };
        let name = self.name();
        let statements = [
            format!("drop database if exists \"{name}\" with (force)"),
            format!("drop role if exists \"{name}\""),
        ];
        let removing = async move {
            let mut connection = PgConnection::connect(&server).await?;
            for statement in statements {
                sqlx::raw_sql(AssertSqlSafe(statement))
                    .execute(&mut connection)
                    .await?;
            }
            Ok::<(), sqlx::Error>(())
        };
        // On a thread of its own, because this one may be a runtime's, which cannot wait here.
        let removal = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(removing)
        });
        // A test is not wrong because its database stays.
        drop(removal.join());
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
    // Takes a quarter of the time that the usual strategy of newer versions does. Older ones have no other.
    let strategy = if connection.server_version_num() >= Some(150_000) {
        "strategy file_copy"
    } else {
        ""
    };
    let create = format!("create database \"{name}\" {strategy}");
    sqlx::query(AssertSqlSafe(create))
        .execute(&mut connection)
        .await
        .expect("the database is created");
    let (base, _) = server.rsplit_once('/').expect("the URL names a database");
    format!("{base}/{name}")
}
