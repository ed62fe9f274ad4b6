//! Databases without the server: fills them with rows, measures them directly, and reads query plans.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, Row as _};

use crate::samples::Samples;

/// An empty database.
pub(crate) enum Database {
    /// A file.
    Sqlite(PathBuf),
    /// The URL of a database on a server.
    Postgres(String),
}

impl fmt::Display for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Sqlite(_) => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        })
    }
}

impl Database {
    /// Returns a file that does not exist yet.
    pub(crate) fn sqlite(folder: &Path) -> Self {
        Self::Sqlite(folder.join("pennon.db"))
    }

    /// Creates a database on a server.
    pub(crate) async fn postgres(server: &str) -> Result<Self> {
        let mut connection = PgConnection::connect(server)
            .await
            .context("PostgreSQL does not respond, and half of the measurements need it")?;
        let name = format!("pennon_bench_{}", std::process::id());
        connection
            .execute(AssertSqlSafe(format!("create database {name}")))
            .await?;
        let (base, _) = server
            .rsplit_once('/')
            .context("the URL of the server has no database")?;
        Ok(Self::Postgres(format!("{base}/{name}")))
    }

    /// Creates another empty database in the same folder or on the same server.
    pub(crate) async fn beside(&self, name: &str) -> Result<Self> {
        match self {
            Self::Sqlite(file) => Ok(Self::Sqlite(file.with_file_name(format!("{name}.db")))),
            Self::Postgres(url) => {
                let mut connection = PgConnection::connect(url).await?;
                let url = format!("{url}_{name}");
                let (_, name) = url.rsplit_once('/').context("the URL has no database")?;
                connection
                    .execute(AssertSqlSafe(format!("create database {name}")))
                    .await?;
                Ok(Self::Postgres(url))
            }
        }
    }

    /// Removes the database from a server, which may be shared.
    pub(crate) async fn remove(self, server: &str) -> Result<()> {
        if let Self::Postgres(url) = self {
            let (_, name) = url.rsplit_once('/').context("the URL has no database")?;
            let mut connection = PgConnection::connect(server).await?;
            connection
                .execute(AssertSqlSafe(format!("drop database {name} with (force)")))
                .await?;
        }
        Ok(())
    }

    /// Returns the value of `DATABASE_URL` for this database.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite(file) => format!("sqlite://{}", file.display()),
            Self::Postgres(url) => url.clone(),
        }
    }

    /// Runs statements in one transaction.
    pub(crate) async fn execute(&self, statements: &[&str]) -> Result<()> {
        let script = format!("begin; {}; commit", statements.join("; "));
        match self {
            Self::Sqlite(_) => self
                .open_sqlite()
                .await?
                .execute(AssertSqlSafe(script))
                .await
                .map(drop)?,
            Self::Postgres(url) => {
                let mut connection = PgConnection::connect(url).await?;
                connection.execute(AssertSqlSafe(script)).await?;
            }
        }
        Ok(())
    }

    /// The sizes of the file and of its write-ahead log in MiB.
    #[expect(clippy::cast_precision_loss, reason = "files are far smaller")]
    pub(crate) fn mebibytes(&self) -> Result<(f64, f64)> {
        let Self::Sqlite(file) = self else {
            bail!("only a file has a size");
        };
        let mebibytes = |file: &Path| -> Result<f64> {
            Ok(std::fs::metadata(file)?.len() as f64 / 1024.0 / 1024.0)
        };
        Ok((mebibytes(file)?, mebibytes(&file.with_extension("db-wal"))?))
    }

    /// Updates the statistics of the database, which it otherwise updates only after some time.
    pub(crate) async fn settle(&self) -> Result<()> {
        if let Self::Postgres(url) = self {
            let mut connection = PgConnection::connect(url).await?;
            connection.execute("vacuum analyze").await?;
        }
        Ok(())
    }

    /// Inserts rows, each in its own commit that is synced to disk.
    pub(crate) async fn commits(&self, times: usize) -> Result<Samples> {
        const CREATE: &str = "create table if not exists yardstick (value bigint not null)";
        const INSERT: &str = "insert into yardstick (value) values (1)";
        let mut samples = Samples::default();
        match self {
            Self::Sqlite(_) => {
                let mut connection = self.open_sqlite().await?;
                connection.execute(CREATE).await?;
                for _ in 0..times {
                    let started = Instant::now();
                    sqlx::query(INSERT).execute(&mut connection).await?;
                    samples.push(started.elapsed());
                }
            }
            Self::Postgres(url) => {
                let mut connection = PgConnection::connect(url).await?;
                connection.execute(CREATE).await?;
                for _ in 0..times {
                    let started = Instant::now();
                    sqlx::query(INSERT).execute(&mut connection).await?;
                    samples.push(started.elapsed());
                }
            }
        }
        Ok(samples)
    }

    /// Returns the plan of a query.
    pub(crate) async fn plan(&self, query: &str) -> Result<Vec<String>> {
        match self {
            Self::Sqlite(_) => {
                let explain = AssertSqlSafe(format!("explain query plan {query}"));
                let rows = sqlx::query(explain)
                    .fetch_all(&mut self.open_sqlite().await?)
                    .await?;
                rows.iter().map(|row| Ok(row.try_get("detail")?)).collect()
            }
            Self::Postgres(url) => {
                let explain =
                    AssertSqlSafe(format!("explain (analyze, costs off, timing off) {query}"));
                let mut connection = PgConnection::connect(url).await?;
                let rows = sqlx::query(explain).fetch_all(&mut connection).await?;
                rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
            }
        }
    }

    /// Opens the file, or creates it, with the settings of Pennon: every commit is synced.
    pub(crate) async fn open_sqlite(&self) -> Result<SqliteConnection> {
        let options = SqliteConnectOptions::from_str(&self.url())?
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        Ok(options.connect().await?)
    }
}
