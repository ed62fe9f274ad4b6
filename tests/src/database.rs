//! A database for one test.

use std::net::SocketAddr;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::Url;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::TestApp;
use crate::postgres::Created;

/// The variable that names a PostgreSQL server, on which the tests then create their databases.
const SERVER: &str = "PENNON_TEST_POSTGRES_URL";

/// The first seed for servers on a database that others have filled, so that new IDs do not collide with existing
/// ones.
pub(crate) const SEED_IF_FILLED: u64 = 1000;

/// The seed of the server that prepares a database. No other server on the database uses it.
const SEED_OF_PREPARATION: u64 = u64::MAX;

/// A hash of [`PASSWORD`](crate::PASSWORD) that is verified in microseconds. Those of the server take 20 ms.
const CHEAP_HASH: &str =
    "$argon2id$v=19$m=8,t=1,p=1$cGVubm9uIHRlc3Qgc2FsdA$q8Dz46Q7aamLk367HVfPWIfEL4m8QnVFnbtFUiYv2Vs";

/// A database that no other test uses.
pub struct TestDatabase {
    url: String,
    seeds: AtomicU64,
    /// The database on a PostgreSQL server. `None` for a file or an existing database.
    created: Option<Created>,
    /// The folder that was created with the database and is removed with it. `None` for an existing database.
    _folder: Option<TempDir>,
}

impl TestDatabase {
    /// Creates an empty file, or an empty database on the PostgreSQL server that [`SERVER`] names.
    pub async fn create() -> Self {
        match std::env::var(SERVER) {
            Ok(server) => Self::on_postgres(&server).await,
            Err(_) => Self::in_file(),
        }
    }

    /// Creates an empty database on the PostgreSQL server that [`SERVER`] names. Returns `None` if the tests run on
    /// SQLite.
    pub async fn create_on_postgres() -> Option<Self> {
        let server = std::env::var(SERVER).ok()?;
        Some(Self::on_postgres(&server).await)
    }

    /// Creates a copy of a database on which a server has completed its first start.
    pub async fn prepared() -> Self {
        static FILE: OnceCell<Vec<u8>> = OnceCell::const_new();
        if let Ok(server) = std::env::var(SERVER) {
            let folder = new_folder();
            let created = Created::copy(&server, name_for(&folder), prepare).await;
            return Self::of(created, folder);
        }
        let file = FILE.get_or_init(async || {
            let database = Self::in_file();
            prepare(database.url()).await;
            std::fs::read(database.file()).expect("the file can be read")
        });
        let database = Self::in_file();
        std::fs::write(database.file(), file.await).expect("the file can be written");
        database
    }

    /// Returns a path where no SQLite file exists yet.
    pub fn in_file() -> Self {
        let folder = new_folder();
        Self {
            url: format!("sqlite://{}", folder.path().join("pennon.db").display()),
            seeds: AtomicU64::new(1),
            created: None,
            _folder: Some(folder),
        }
    }

    /// Creates an empty database on a PostgreSQL server.
    pub async fn on_postgres(server: &str) -> Self {
        let folder = new_folder();
        Self::of(Created::empty(server, name_for(&folder)).await, folder)
    }

    fn of(created: Created, folder: TempDir) -> Self {
        Self {
            url: created.url(),
            seeds: AtomicU64::new(1),
            created: Some(created),
            _folder: Some(folder),
        }
    }

    /// Uses an existing database.
    pub fn at(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            seeds: AtomicU64::new(SEED_IF_FILLED),
            created: None,
            _folder: None,
        }
    }

    /// Runs one statement on the database, unnoticed by the server. When this returns, a file contains its changes.
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
            connection.close().await.expect("the file closes");
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
        let created = self.created.as_ref().expect("a database on a server");
        PgConnection::connect(created.server())
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
        self.limit_new_connections(limit).await;
        self.end_connections("true").await;
    }

    /// Limits the connections of the role, and keeps its current ones. `None` removes the limit.
    pub async fn limit_new_connections(&self, limit: Option<u32>) {
        let limit = limit.map_or("-1".to_owned(), |limit| limit.to_string());
        let name = self.name();
        self.administer(format!("alter role \"{name}\" connection limit {limit}"))
            .await;
    }

    /// Ends the connections of the role that match a condition on `pg_stat_activity`.
    pub async fn end_connections(&self, condition: &str) {
        let name = self.name();
        self.administer(format!(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = '{name}' and {condition}"
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

    /// Returns the seed for the next server on this database. Each server generates repeatable IDs and secrets, and
    /// no two servers generate the same ones.
    pub(crate) fn next_seed(&self) -> u64 {
        self.seeds.fetch_add(1, Ordering::Relaxed)
    }

    /// Sets the seed for the next server.
    pub(crate) fn seed_from(&mut self, seed: u64) {
        *self.seeds.get_mut() = seed;
    }

    /// Returns the database's URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the URL of the database as reached through a proxy or pooler at this address.
    pub(crate) fn url_behind(&self, address: SocketAddr) -> Url {
        let mut url = Url::parse(&self.url).expect("a URL");
        url.set_ip_host(address.ip()).expect("a host");
        url.set_port(Some(address.port())).expect("a port");
        url
    }

    /// Returns the host and port of the PostgreSQL server.
    pub(crate) fn server_address(&self) -> (String, u16) {
        let options = PgConnectOptions::from_str(&self.url).expect("the URL of a database");
        (options.get_host().to_owned(), options.get_port())
    }
}

/// The write lock. While a test holds it, no instance can write.
pub enum WriteLock {
    /// A connection with a write transaction on the file.
    Sqlite(SqliteConnection),
    /// A connection that holds the advisory lock.
    Postgres(PgConnection),
}

impl WriteLock {
    /// Commits statements, and keeps the lock.
    pub async fn commit(&mut self, statements: &str) {
        let done = match self {
            Self::Sqlite(connection) => {
                let statements = format!("{statements}; commit; begin immediate");
                let statements = sqlx::raw_sql(AssertSqlSafe(statements));
                statements.execute(connection).await.map(drop)
            }
            Self::Postgres(connection) => {
                let statements = sqlx::raw_sql(AssertSqlSafe(statements));
                statements.execute(connection).await.map(drop)
            }
        };
        done.expect("the statements run");
    }
}

/// Completes the first start of a server on an empty database.
async fn prepare(url: &str) {
    let mut database = TestDatabase::at(url);
    database.seed_from(SEED_OF_PREPARATION);
    TestApp::start_and_stop(&database).await;
    let cheaper = format!("update users set password_hash = '{CHEAP_HASH}'");
    database.execute(cheaper).await;
}

fn new_folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

/// Returns a name for a database on PostgreSQL. It contains the folder's random name, which keeps parallel tests apart.
fn name_for(folder: &TempDir) -> String {
    let unique = folder.path().file_name();
    let unique = unique.and_then(|name| name.to_str()).unwrap_or_default();
    let unique = unique.trim_start_matches('.').to_lowercase();
    format!("pennon_test_{unique}")
}
