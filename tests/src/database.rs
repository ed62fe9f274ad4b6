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
    /// The URL of the server on which the database was created. `None` for a file or an existing database.
    server: Option<String>,
    /// The folder that was created with the database and is removed with it. `None` for an existing database.
    _folder: Option<TempDir>,
}

impl TestDatabase {
    /// Creates a file, or a database on the PostgreSQL server that `PENNON_TEST_POSTGRES_URL` names.
    pub async fn create() -> Self {
        match std::env::var("PENNON_TEST_POSTGRES_URL") {
            Ok(server) => Self::on_postgres(&server).await,
            Err(_) => Self::in_file(),
        }
    }

    /// Creates a SQLite file.
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

    /// Uses an existing database.
    pub fn at(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            seeds: AtomicU64::new(1),
            server: None,
            _folder: None,
        }
    }

    /// Runs one statement on the database, unnoticed by the service.
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

    /// Returns the number that a query returns.
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

    /// Returns true if the database is on PostgreSQL.
    pub fn is_postgres(&self) -> bool {
        self.url.starts_with("postgres")
    }

    /// Opens a connection to the database on PostgreSQL.
    pub async fn postgres(&self) -> PgConnection {
        PgConnection::connect(&self.url)
            .await
            .expect("PostgreSQL answers")
    }

    /// Opens a connection to the server's first database rather than to this one.
    pub async fn server(&self) -> PgConnection {
        let server = self.server.as_deref().expect("a server");
        PgConnection::connect(server)
            .await
            .expect("PostgreSQL answers")
    }

    /// Takes the write lock, as a writing instance does, until the returned value is dropped.
    pub async fn take_write_lock(&self) -> WriteLock {
        const LOCK: &str = "select pg_advisory_lock(22594200760438272)";
        if self.is_postgres() {
            let mut connection = self.postgres().await;
            let taken = sqlx::raw_sql(LOCK).execute(&mut connection).await;
            taken.expect("the write lock is taken");
            WriteLock::Postgres(connection)
        } else {
            let opened = SqliteConnection::connect(&self.url).await;
            let mut connection = opened.expect("the file opens");
            let taken = sqlx::raw_sql("begin immediate")
                .execute(&mut connection)
                .await;
            taken.expect("the write lock is taken");
            WriteLock::Sqlite(connection)
        }
    }

    /// Returns the path of the SQLite file.
    pub fn file(&self) -> &Path {
        Path::new(self.url.trim_start_matches("sqlite://"))
    }

    /// Creates a PostgreSQL role for this database, whose connections can be limited. Returns the database as seen by
    /// that role.
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

    /// Limits the connections of the role from [`for_own_role`](Self::for_own_role), and ends its current ones. `None`
    /// removes the limit.
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

    /// Runs a statement in the server's first database.
    async fn administer(&self, statement: String) {
        let mut server = self.server().await;
        let done = sqlx::query(AssertSqlSafe(statement))
            .execute(&mut server)
            .await;
        done.expect("the statement runs");
    }

    /// Returns the database's name on PostgreSQL.
    pub fn name(&self) -> &str {
        self.url.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the seed for the next service on this database. Each service generates repeatable IDs and secrets, and
    /// no two services generate the same ones.
    pub(crate) fn next_seed(&self) -> u64 {
        self.seeds.fetch_add(1, Ordering::Relaxed)
    }

    /// Sets the seed for the next service.
    pub(crate) fn seed_from(&mut self, seed: u64) {
        *self.seeds.get_mut() = seed;
    }

    /// Returns the database's URL.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// The write lock. While a test holds it, no instance can write.
pub enum WriteLock {
    /// A connection with a write transaction on the file.
    Sqlite(SqliteConnection),
    /// A connection that holds the advisory lock.
    Postgres(PgConnection),
}

impl Drop for TestDatabase {
    /// Removes the database and role that were created here, because each database takes megabytes on a server that may
    /// be shared. An existing database remains.
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
        // Uses another thread, because a thread of an async runtime must not block.
        let removal = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(removing)
        });
        // A database that cannot be removed does not fail the test.
        drop(removal.join());
    }
}

/// Creates a database with the folder's random name, which keeps parallel tests apart. Returns its URL.
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
    // Takes a quarter of the time of the default strategy. Versions before 15 have no other strategy and no such
    // option.
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
