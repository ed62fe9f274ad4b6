//! The database: connections, transactions and all SQL. It decides nothing.
//!
//! Each query is written once and expanded for both drivers by [`on_conn!`], so the compiler proves that every type that
//! is bound or read exists in both. Rows are private to their module and become domain types by `TryFrom`.

pub(crate) mod audit;
pub(crate) mod batch;
pub(crate) mod clients;
pub(crate) mod configurations;
pub(crate) mod environments;
pub(crate) mod flag_table;
pub(crate) mod flags;
pub(crate) mod notifications;
mod postgres;
mod reach;
pub(crate) mod rollouts;
pub(crate) mod rules;
mod schema;
pub(crate) mod sessions;
pub(crate) mod settings;
mod skew;
pub(crate) mod snapshots;
mod sqlite;
mod storage;
pub(crate) mod tokens;
pub(crate) mod usage;
pub(crate) mod users;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pennon_core::model::id::AuditId;
use sqlx::{Sqlite, Transaction};
use uuid::Uuid;

use self::postgres::{CommitError, LeasedTx, Server};
use self::reach::ReachError;
pub(crate) use self::storage::{Storage, means_full};
use crate::clock::{Clock, Entropy};
use crate::error::Error;

/// How long a caller waits for a connection. Whoever gets none is told so in time to try elsewhere.
const PATIENCE: Duration = Duration::from_millis(1500);

/// How long a writer waits for the turn of those before it.
const WRITERS_PATIENCE: Duration = Duration::from_secs(5);

/// The database.
#[derive(Clone)]
pub(crate) struct Db {
    driver: Driver,
    storage: Arc<Storage>,
}

#[derive(Clone)]
enum Driver {
    /// One file.
    Sqlite(sqlite::File),
    /// A server, shared with other instances.
    Postgres(Server),
}

/// A transaction. Dropping it rolls back; only [`commit`](Self::commit) keeps what was written.
pub(crate) struct Tx {
    open: Open,
    storage: Arc<Storage>,
    /// The first audit entry that is written, which gives the group its id.
    first_entry: Option<AuditId>,
}

/// The open transaction of either driver.
enum Open {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(LeasedTx),
}

/// Runs one query text on whichever connection the transaction has, for as long as the database is there.
macro_rules! on_conn {
    ($tx:expr, $conn:ident => $query:expr) => {{
        let $crate::store::Tx { open, storage, .. } = $tx;
        let result = match open {
            $crate::store::Open::Sqlite(tx) => {
                let $conn = &mut **tx;
                $query
            }
            $crate::store::Open::Postgres(tx) => {
                let (tx, lease) = tx.parts();
                let $conn = &mut **tx;
                lease.until_lost(async { $query }).await
            }
        };
        storage.watch(result)
    }};
}

pub(crate) use on_conn;

/// Ends a text with `in (…)`, of these ids. It is a macro because each driver has a builder of its own.
macro_rules! push_one_of {
    ($query:expr, $ids:expr) => {{
        $query.push("in (");
        let mut list = $query.separated(", ");
        for id in $ids {
            list.push_bind(id.uuid());
        }
        $query.push(")");
    }};
}

use push_one_of;

impl Db {
    /// Connects to the database that the URL names and brings its tables up to date. A file that is missing is created.
    /// A server shows its administrator which instance the connections are of.
    pub(crate) async fn open(url: &str, instance: Uuid) -> Result<Self, OpenError> {
        Self::connect(url, Some(instance)).await
    }

    /// The same for a database that must be there already.
    pub(crate) async fn open_existing(url: &str) -> Result<Self, OpenError> {
        Self::connect(url, None).await
    }

    async fn connect(url: &str, instance: Option<Uuid>) -> Result<Self, OpenError> {
        let driver = match url.split_once(':').map(|(scheme, _)| scheme) {
            Some("sqlite") => Driver::Sqlite(sqlite::File::open(url, instance.is_some()).await?),
            Some("postgres" | "postgresql") => Driver::Postgres(Server::open(url, instance).await?),
            _ => return Err(OpenError::UnknownScheme),
        };
        Ok(Self {
            driver,
            storage: Arc::default(),
        })
    }

    /// Begins to read: all that the transaction sees is of one moment.
    pub(crate) async fn read(&self) -> Result<Tx, Error> {
        let begun = match &self.driver {
            Driver::Sqlite(file) => file.begin_to_read().await.map(Open::Sqlite),
            Driver::Postgres(server) => server.begin_to_read().await.map(Open::Postgres),
        };
        self.transaction(begun)
    }

    /// Begins to write. Writers take turns from here on, on every instance: administration is rare, and a write that
    /// has the database to itself cannot race with another.
    pub(crate) async fn write(&self) -> Result<Tx, Error> {
        let begun = match &self.driver {
            Driver::Sqlite(file) => file.begin_to_write().await.map(Open::Sqlite),
            Driver::Postgres(server) => server.begin_to_write().await.map(Open::Postgres),
        };
        self.transaction(begun)
    }

    /// Begins to write without a turn. Until [`Tx::take_turn`], nothing may be written that others could wait for or
    /// collide with: temporary tables, and on PostgreSQL rows that nobody else can name.
    pub(crate) async fn prepare(&self) -> Result<Tx, Error> {
        let begun = match &self.driver {
            Driver::Sqlite(file) => file.begin_to_prepare().await.map(Open::Sqlite),
            Driver::Postgres(server) => server.begin_to_prepare().await.map(Open::Postgres),
        };
        self.transaction(begun)
    }

    fn transaction(&self, begun: Result<Open, sqlx::Error>) -> Result<Tx, Error> {
        Ok(Tx {
            open: self.storage.watch(begun)?,
            storage: Arc::clone(&self.storage),
            first_entry: None,
        })
    }

    /// Whether the disk of the database takes writes, as far as is known.
    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Finds out whether a full disk has space again, by writing something.
    pub(crate) async fn try_storage(&self) -> Result<(), Error> {
        let mut tx = self.write().await?;
        storage::write_something(&mut tx).await?;
        tx.commit().await?;
        self.storage.has_space();
        Ok(())
    }

    /// Writes the database as it is at this moment into a new file. Others may go on writing to it meanwhile. If that
    /// fails, no file is left.
    pub(crate) async fn copy_to(&self, file: &Path) -> Result<(), CopyError> {
        let Driver::Sqlite(database) = &self.driver else {
            return Err(CopyError::NotAFile);
        };
        // SQLite would take a relative name that begins with `file:` for the URI of another file.
        let file = std::path::absolute(file).map_err(sqlx::Error::Io)?;
        let name = file.to_str().ok_or(CopyError::NotText)?;
        // SQLite itself would create a file that others can read, and follow a symbolic link to where that goes.
        sqlite::create_private(&file).map_err(sqlx::Error::Io)?;
        if let Err(error) = database.copy_to(name).await {
            // The error above says more than one of the removal would.
            let _ = std::fs::remove_file(&file);
            return Err(error.into());
        }
        Ok(())
    }

    /// Closes all connections; on SQLite this also folds the write-ahead log into the file.
    pub(crate) async fn close(&self) {
        match &self.driver {
            Driver::Sqlite(file) => file.close().await,
            Driver::Postgres(server) => server.close().await,
        }
    }

    /// Finds out at intervals whether the database is there, for as long as it is polled. A file always is, so there this
    /// ends at once.
    pub(crate) async fn probe(&self, entropy: &Entropy, clock: &dyn Clock) {
        if let Driver::Postgres(server) = &self.driver {
            match server.probe(entropy, clock).await {}
        }
    }

    /// Whether the database is there. While it is not, whatever asks it fails at once.
    pub(crate) fn is_present(&self) -> bool {
        match &self.driver {
            Driver::Sqlite(_) => true,
            Driver::Postgres(server) => server.is_present(),
        }
    }

    /// Waits until the database is there.
    pub(crate) async fn until_present(&self) {
        if let Driver::Postgres(server) = &self.driver {
            server.until_present().await;
        }
    }

    /// For how long the database has not been heard of.
    pub(crate) fn silence(&self) -> Duration {
        match &self.driver {
            Driver::Sqlite(_) => Duration::ZERO,
            Driver::Postgres(server) => server.silence(),
        }
    }
}

impl Tx {
    /// Waits for the turn of a transaction that began without one. In a SQLite file, the first write has taken it.
    pub(crate) async fn take_turn(&mut self) -> Result<(), Error> {
        let Self { open, storage, .. } = self;
        if let Open::Postgres(tx) = open {
            storage.watch(tx.take_turn().await)?;
        }
        Ok(())
    }

    /// The group that an audit entry belongs to: a transaction is one action.
    fn audit_group(&mut self, entry: AuditId) -> AuditId {
        *self.first_entry.get_or_insert(entry)
    }

    /// Keeps what was written.
    pub(crate) async fn commit(self) -> Result<(), Error> {
        let Self { open, storage, .. } = self;
        match open {
            Open::Sqlite(tx) => storage.watch(tx.commit().await)?,
            Open::Postgres(tx) => tx.commit().await.map_err(|error| match error {
                CommitError::Failed(error) => Error::from(storage.seen(error)),
                CommitError::Unknown(error) => Error::Unconfirmed(error),
            })?,
        }
        Ok(())
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
    /// A symbolic link to a file that is missing. The link may be somebody else's, so nothing is created at its end.
    #[error(
        "{} is a symbolic link to a file that does not exist; name that file itself in DATABASE_URL", .0.display()
    )]
    Dangling(PathBuf),
    /// The file or its folder cannot be created or written.
    #[error(
        "cannot write the database {}: {problem}; let the user that runs Pennon write to {}, or name another file in \
         DATABASE_URL", file.display(), folder.display()
    )]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// The folder that has to be writable.
        folder: PathBuf,
        /// What the system says.
        problem: String,
    },
    /// A file of another kind.
    #[error("{} is no SQLite database; name another file in DATABASE_URL", .0.display())]
    NotADatabase(PathBuf),
    /// A file of which SQLite cannot make sense any more.
    #[error(
        "the database {} is damaged ({problem}); restore it from a backup, or save what can be read with \
         `sqlite3 <file> .recover`", file.display()
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The message of SQLite.
        problem: String,
    },
    /// PostgreSQL cannot be reached, or refuses.
    #[error(transparent)]
    Postgres(#[from] ReachError),
    /// The database fails.
    #[error("cannot open the database: {0}")]
    Connect(#[from] sqlx::Error),
    /// The tables are of a later version.
    #[error("{0}")]
    Newer(String),
    /// The tables are somebody else's.
    #[error(
        "PostgreSQL does not let the user of DATABASE_URL create or change tables ({0}); make it the owner of the database"
    )]
    Rights(String),
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
    /// SQLite takes names of files as text.
    #[error("the name of the file to write must be valid UTF-8")]
    NotText,
    /// The copy failed.
    #[error("the database cannot be copied: {0}")]
    Failed(#[from] sqlx::Error),
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
