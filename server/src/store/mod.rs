//! The database: connections, transactions and all SQL. It decides nothing.
//!
//! Each query is written once and expanded for both drivers by [`on_conn!`], so the compiler proves that every type that
//! is bound or read exists in both. Rows are private to their module and become domain types by `TryFrom`.

pub(crate) mod audit;
pub(crate) mod configurations;
pub(crate) mod environments;
pub(crate) mod flags;
pub(crate) mod notifications;
pub(crate) mod rollouts;
pub(crate) mod rules;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod snapshots;
pub(crate) mod tokens;
pub(crate) mod usage;
pub(crate) mod users;

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Connection, Executor, Postgres, Sqlite, Transaction};

use crate::error::Error;

static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("../migrations/sqlite");
static POSTGRES_MIGRATIONS: Migrator = sqlx::migrate!("../migrations/postgres");

/// How long a caller waits for a connection. Whoever gets none is told so in time to try elsewhere.
const PATIENCE: Duration = Duration::from_millis(1500);

/// How long a writer waits for the turn of those before it.
const WRITERS_PATIENCE: Duration = Duration::from_secs(5);

/// How long the start waits for a PostgreSQL that is itself still starting.
const STARTING_PATIENCE: Duration = Duration::from_secs(15);

/// How many connections to PostgreSQL an instance reads on.
const POSTGRES_READERS: u32 = 10;

/// How many connections to PostgreSQL an instance writes on: one that writes, and one that is about to, as far as it can
/// be without its turn. With more, those that only wait would cost the database something.
const POSTGRES_WRITERS: u32 = 2;

/// For how long a connection that was not used is taken to be alive still. To ask each time would cost each transaction an
/// exchange.
const KNOWN_ALIVE: Duration = Duration::from_secs(1);

/// Begins a write on PostgreSQL, in one exchange. The number stands for writing; any will do as long as it stays the same.
/// An instance that hangs in the middle of a write loses its turn.
const TAKE_WRITE_LOCK: &str = "set local lock_timeout = '5s'; set local idle_in_transaction_session_timeout = '10s'; \
                               select pg_advisory_xact_lock(22594200760438272)";

/// The database.
#[derive(Clone)]
pub(crate) enum Db {
    /// One file; one connection writes, the others read.
    Sqlite {
        writer: SqlitePool,
        readers: SqlitePool,
    },
    /// A server, shared with other instances.
    Postgres { writers: PgPool, readers: PgPool },
}

/// A transaction. Dropping it rolls back; only [`commit`](Self::commit) keeps what was written.
pub(crate) enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// Runs one query text on whichever connection the transaction has.
macro_rules! on_conn {
    ($tx:expr, $conn:ident => $query:expr) => {
        match $tx {
            $crate::store::Tx::Sqlite(tx) => {
                let $conn = &mut **tx;
                $query
            }
            $crate::store::Tx::Postgres(tx) => {
                let $conn = &mut **tx;
                $query
            }
        }
    };
}

pub(crate) use on_conn;

impl Db {
    /// Connects to the database that the URL names and brings its tables up to date. A file that is missing is created.
    pub(crate) async fn open(url: &str) -> Result<Self, OpenError> {
        Self::connect(url, true).await
    }

    /// The same for a database that must be there already.
    pub(crate) async fn open_existing(url: &str) -> Result<Self, OpenError> {
        Self::connect(url, false).await
    }

    async fn connect(url: &str, create: bool) -> Result<Self, OpenError> {
        let db = match url.split_once(':').map(|(scheme, _)| scheme) {
            Some("sqlite") => Self::open_sqlite(url, create).await?,
            Some("postgres" | "postgresql") => Self::open_postgres(url).await?,
            _ => return Err(OpenError::UnknownScheme),
        };
        match &db {
            Self::Sqlite { writer, .. } => SQLITE_MIGRATIONS.run(writer).await?,
            // Of several instances that start together one brings the tables up to date, while the others wait for it.
            Self::Postgres { readers, .. } => POSTGRES_MIGRATIONS.run(readers).await?,
        }
        Ok(db)
    }

    /// Connects to the server, which may be starting at the same moment.
    async fn open_postgres(url: &str) -> Result<Self, OpenError> {
        // No column holds a number to which this would matter, and poolers refuse what they do not know.
        let mut options = PgConnectOptions::from_str(url)?.extra_float_digits(None);
        if options.get_application_name().is_none() {
            options = options.application_name("pennon");
        }
        let pool = |connections, patience| {
            PgPoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(patience)
                .test_before_acquire(false)
                .before_acquire(|connection, state| {
                    Box::pin(async move {
                        if state.idle_for > KNOWN_ALIVE {
                            connection.ping().await?;
                        }
                        Ok(true)
                    })
                })
                .connect_lazy_with(options.clone())
        };
        let writers = pool(POSTGRES_WRITERS, WRITERS_PATIENCE);
        let readers = pool(POSTGRES_READERS, PATIENCE);
        let deadline = tokio::time::Instant::now() + STARTING_PATIENCE;
        while let Err(error) = readers.acquire().await {
            let may_be_starting = matches!(error, sqlx::Error::PoolTimedOut);
            if !may_be_starting || tokio::time::Instant::now() > deadline {
                return Err(error.into());
            }
            tracing::info!("waiting for the database");
        }
        Ok(Self::Postgres { writers, readers })
    }

    /// Opens the file with settings under which a commit survives a power failure: every commit is synced.
    async fn open_sqlite(url: &str, create: bool) -> Result<Self, OpenError> {
        let options = SqliteConnectOptions::from_str(url)?
            .create_if_missing(create)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(WRITERS_PATIENCE);
        let file = options.get_filename();
        if create {
            create_file(file)?;
        } else if !file.exists() {
            return Err(OpenError::Missing(file.to_owned()));
        }
        let pool = || SqlitePoolOptions::new().acquire_timeout(WRITERS_PATIENCE);
        let writer = pool()
            .max_connections(1)
            .connect_with(options.clone())
            .await?;
        let readers = pool()
            .max_connections(8)
            .connect_with(options.pragma("query_only", "on"))
            .await?;
        Ok(Self::Sqlite { writer, readers })
    }

    /// Begins to read: all that the transaction sees is of one moment.
    pub(crate) async fn read(&self) -> Result<Tx, Error> {
        Ok(match self {
            Self::Sqlite { readers, .. } => Tx::Sqlite(readers.begin().await?),
            Self::Postgres { readers, .. } => {
                Tx::Postgres(past_dead_connections(|| begin_to_read(readers)).await?)
            }
        })
    }

    /// Begins to write. Writers take turns from here on, on every instance: administration is rare, and a write that
    /// has the database to itself cannot race with another.
    pub(crate) async fn write(&self) -> Result<Tx, Error> {
        Ok(match self {
            Self::Sqlite { writer, .. } => Tx::Sqlite(writer.begin_with("begin immediate").await?),
            Self::Postgres { writers, .. } => {
                Tx::Postgres(past_dead_connections(|| begin_to_write(writers)).await?)
            }
        })
    }

    /// Writes the database as it is at this moment into a new file. Others may go on writing to it meanwhile.
    pub(crate) async fn copy_to(&self, file: &Path) -> Result<(), CopyError> {
        let Self::Sqlite { writer, .. } = self else {
            return Err(CopyError::NotAFile);
        };
        create_private(file).map_err(sqlx::Error::Io)?;
        sqlx::query("vacuum into $1")
            .bind(file.to_string_lossy().into_owned())
            .execute(writer)
            .await?;
        Ok(())
    }

    /// Closes all connections; on SQLite this also folds the write-ahead log into the file.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Self::Postgres { writers, readers } => {
                readers.close().await;
                writers.close().await;
            }
        }
    }
}

impl Tx {
    /// Keeps what was written.
    pub(crate) async fn commit(self) -> Result<(), Error> {
        match self {
            Self::Sqlite(tx) => tx.commit().await?,
            Self::Postgres(tx) => tx.commit().await?,
        }
        Ok(())
    }
}

async fn begin_to_read(pool: &PgPool) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    pool.begin_with("begin transaction isolation level repeatable read, read only")
        .await
}

async fn begin_to_write(pool: &PgPool) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    let mut tx = pool.begin().await?;
    tx.execute(TAKE_WRITE_LOCK).await?;
    Ok(tx)
}

/// Begins a transaction, once more for each connection that turns out to have been cut off: nothing was done on it yet.
async fn past_dead_connections<T, F>(begin: impl Fn() -> F) -> Result<T, sqlx::Error>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    for _ in 0..POSTGRES_WRITERS.max(POSTGRES_READERS) {
        match begin().await {
            Err(error) if is_cut_off(&error) => {}
            other => return other,
        }
    }
    begin().await
}

/// Whether the server, or whoever stands between, has closed the connection. 57P01 is what PostgreSQL says before it does.
fn is_cut_off(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => error.kind() != ErrorKind::ConnectionRefused,
        sqlx::Error::Database(answer) => answer.code().is_some_and(|code| code == "57P01"),
        _ => false,
    }
}

/// Why the database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL names no database that Pennon knows.
    #[error(
        "DATABASE_URL must begin with `sqlite://` or `postgres://`, as in sqlite://data/pennon.db or \
         postgres://pennon:secret@db.example.com/pennon"
    )]
    UnknownScheme,
    /// There is no such file, and it is not to be created.
    #[error("there is no database at {}; does DATABASE_URL name the right one?", .0.display())]
    Missing(PathBuf),
    /// The folder of the file cannot be created.
    #[error("cannot create the database's folder {}: {}", .0.display(), .1)]
    Folder(PathBuf, #[source] std::io::Error),
    /// The database refuses, or is not there.
    #[error("cannot open the database: {0}")]
    Connect(#[from] sqlx::Error),
    /// The tables cannot be brought up to date.
    #[error("cannot bring the database's tables up to date: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
}

/// Why the database cannot be copied into a file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    /// PostgreSQL keeps its data itself.
    #[error("a PostgreSQL database is backed up by PostgreSQL's own tools, such as pg_dump")]
    NotAFile,
    /// The copy failed.
    #[error("the database cannot be copied: {0}")]
    Failed(#[from] sqlx::Error),
}

/// Makes sure that a database's file is there, and its folder.
fn create_file(file: &Path) -> Result<(), OpenError> {
    // A database in memory has a name like `file:…` and no file.
    if file.to_string_lossy().starts_with("file:") {
        return Ok(());
    }
    if let Some(folder) = file.parent().filter(|folder| *folder != Path::new("")) {
        std::fs::create_dir_all(folder)
            .map_err(|problem| OpenError::Folder(folder.to_owned(), problem))?;
    }
    create_private(file).map_err(|problem| OpenError::Connect(sqlx::Error::Io(problem)))
}

/// Creates the file of a new database for its owner's eyes only: there are secrets in it. SQLite gives the files beside
/// it the same permissions.
fn create_private(file: &Path) -> std::io::Result<()> {
    match OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
    {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// An error for a row that holds what it never should.
fn bad_row(table: &str, id: impl Display, problem: impl Display) -> Error {
    Error::Internal(format!("the row {id} of table {table} is bad: {problem}"))
}

/// A filter as it can be bound. Nothing stored has U+0000, and PostgreSQL cannot even be asked for it; U+0001 is in no
/// key or name either, so the filter goes on matching nothing.
fn bindable(filter: Option<&String>) -> Option<String> {
    filter.map(|text| text.replace('\0', "\u{1}"))
}

/// Whether a query failed because a unique index already has the value.
fn is_unique_violation(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}
