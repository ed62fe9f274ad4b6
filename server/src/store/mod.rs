//! The database: connections, transactions and all SQL, without business rules.
//!
//! Each query is written once, and [`on_conn!`] expands it for both drivers, so the compiler proves that both support
//! every type that is bound or read. Rows are private to their module and become domain types by `TryFrom`.

pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod batch;
pub(crate) mod clients;
pub(crate) mod configurations;
pub(crate) mod environments;
pub(crate) mod first_steps;
pub(crate) mod flag_table;
pub(crate) mod flags;
pub(crate) mod grants;
mod lease;
pub(crate) mod notifications;
mod open;
pub(crate) mod packages;
mod pooler;
mod postgres;
pub(crate) mod previous_keys;
mod query;
mod reach;
mod restore;
pub(crate) mod retention;
pub(crate) mod rollouts;
pub(crate) mod rules;
mod schema;
pub(crate) mod sessions;
pub(crate) mod settings;
mod skew;
pub(crate) mod snapshots;
mod sqlite;
mod statements;
mod storage;
mod target;
mod tls;
pub(crate) mod tokens;
pub(crate) mod usage;
pub(crate) mod users;

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pennon_model::id::AuditId;
use pennon_model::page::{Page, PageRequest};
use sqlx::{Sqlite, Transaction};

use self::lease::LeasedTx;
pub(crate) use self::open::{CopyError, OpenError, OpenMode};
use self::postgres::Server;
pub(crate) use self::restore::{RestoreError, Restored};
pub(crate) use self::schema::Outdated;
pub(crate) use self::storage::Storage;
use crate::clock::{Clock, Entropy};
use crate::error::Error;

/// The time limit for a caller to wait for a connection. It is short enough for the caller to try another instance.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(1500);

/// The time limit for a writer to wait for the write lock.
const WRITE_LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of connections for reads per instance.
const READERS: u32 = 6;

/// The number of connections for reads of credentials per instance.
const AUTHENTICATORS: u32 = 2;

/// The number of connections for reads of changes per instance.
const FOLLOWERS: u32 = 2;

/// The size of the row that checks whether the disk has space, in bytes: more than a change of one flag writes.
const STORAGE_CHECK: usize = 256 * 1024;

/// The database.
#[derive(Clone)]
pub(crate) struct Db {
    driver: Driver,
    outdated: Option<Outdated>,
    storage: Arc<Storage>,
}

#[derive(Clone)]
enum Driver {
    /// A SQLite file.
    Sqlite(sqlite::File),
    /// A PostgreSQL server, shared with other instances.
    Postgres(Server),
}

/// A transaction. Dropping it rolls it back; only [`commit`](Self::commit) keeps the writes.
pub(crate) struct Tx {
    open: Open,
    storage: Arc<Storage>,
    /// The first audit entry of the current action, whose ID is that of the group.
    first_entry: Option<AuditId>,
}

/// The open transaction of either driver.
enum Open {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(LeasedTx),
}

/// The purpose of a transaction.
#[derive(Clone, Copy)]
enum Access {
    Read,
    /// To read the user of a credential.
    Authenticate,
    /// To read changes for the snapshots.
    Follow,
    /// To write, with the write lock.
    Write,
    /// To write rows that need no lock.
    Prepare,
}

/// Runs one query text on the connection of the transaction. Fails if the database is lost before it completes.
macro_rules! on_conn {
    ($tx:expr, $conn:ident => $query:expr) => {{
        let $crate::store::Tx { open, storage, .. } = $tx;
        let result = match open {
            $crate::store::Open::Sqlite(tx) => {
                let $conn = &mut **tx;
                $query
            }
            $crate::store::Open::Postgres(tx) => {
                let ($conn, lease) = tx.parts();
                lease.until_lost(async { $query }).await
            }
        };
        storage.watch(result)
    }};
}

pub(crate) use on_conn;

/// Inserts rows, if any exist, with one statement that ends with `$end`. It is a macro because each driver has its own
/// builder.
///
/// The statement is not cached, because its text depends on the number of rows. With a thousand rows, it takes close to
/// a megabyte, and a connection would keep the last hundred statements.
macro_rules! insert_rows {
    ($tx:expr, $insert:expr, $rows:expr, |$list:ident, $row:pat_param| $bind:expr, $end:expr) => {
        if $rows.is_empty() {
            Ok(())
        } else {
            on_conn!(&mut *$tx, conn => {
                let mut query = sqlx::QueryBuilder::new($insert);
                query.push_values($rows, |mut $list, $row| { $bind; });
                query.push($end);
                query.build().persistent(false).execute(conn).await.map(drop)
            })
        }
    };
}

use insert_rows;

impl Db {
    /// Connects to the database at the URL.
    pub(crate) async fn open(url: &str, mode: OpenMode) -> Result<Self, OpenError> {
        let (driver, outdated) = match url.split_once(':').map(|(scheme, _)| scheme) {
            Some("sqlite") => {
                let (file, outdated) = sqlite::File::open(url, mode).await?;
                (Driver::Sqlite(file), outdated)
            }
            Some("postgres" | "postgresql") => {
                let (server, outdated) = Server::open(url, mode).await?;
                (Driver::Postgres(server), outdated)
            }
            _ => return Err(OpenError::UnknownScheme),
        };
        if let OpenMode::Serve(_) = mode {
            tracing::info!(database = driver.location(), "opened the database");
        }
        Ok(Self {
            driver,
            outdated,
            storage: Arc::default(),
        })
    }

    /// Restores the database at the URL from a backup of SQLite. `replace` permits replacing an existing database, but
    /// never one that is in use.
    pub(crate) async fn restore(
        url: &str,
        backup: &Path,
        replace: bool,
    ) -> Result<Restored, RestoreError> {
        match url.split_once(':').map(|(scheme, _)| scheme) {
            Some("sqlite") => restore::restore(url, backup, replace).await,
            Some("postgres" | "postgresql") => Err(RestoreError::NotAFile),
            _ => Err(OpenError::UnknownScheme.into()),
        }
    }

    /// Returns the schema of the database, if it is older than that of this binary and was not upgraded. Queries may
    /// fail on it.
    pub(crate) fn outdated(&self) -> Option<&Outdated> {
        self.outdated.as_ref()
    }

    /// Begins to read. The transaction sees the state of one moment.
    pub(crate) async fn read(&self) -> Result<Tx, Error> {
        self.begin(Access::Read).await
    }

    /// Begins to read the user of a credential. Slow reads by others do not delay it, so that people can still sign in
    /// and make changes.
    pub(crate) async fn authenticate(&self) -> Result<Tx, Error> {
        self.begin(Access::Authenticate).await
    }

    /// Begins to read changes for the snapshots. Slow reads by others do not delay it, so that revoked keys are refused
    /// in time. At most two can run at the same time: a refill, and one for revoked keys during a long refill.
    pub(crate) async fn follow(&self) -> Result<Tx, Error> {
        self.begin(Access::Follow).await
    }

    /// Begins to write, and waits for the write lock, which excludes all other writers on all instances. Administration
    /// is rare, and a write that has the database to itself cannot race with another.
    pub(crate) async fn write(&self) -> Result<Tx, Error> {
        self.begin(Access::Write).await
    }

    /// Begins to write without the lock. Until [`Tx::take_turn`], the transaction may write only rows that other
    /// transactions cannot wait for or conflict with: temporary tables, and on PostgreSQL rows whose keys nobody else
    /// can use.
    pub(crate) async fn prepare(&self) -> Result<Tx, Error> {
        self.begin(Access::Prepare).await
    }

    async fn begin(&self, access: Access) -> Result<Tx, Error> {
        let begun = match &self.driver {
            Driver::Sqlite(file) => file.begin(access).await.map(Open::Sqlite),
            Driver::Postgres(server) => {
                let begun = server.begin(access, &self.storage).await;
                begun.map(Open::Postgres)
            }
        };
        Ok(Tx {
            open: self.storage.watch(begun)?,
            storage: Arc::clone(&self.storage),
            first_entry: None,
        })
    }

    /// Returns the last known state of the database's storage.
    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Checks whether a full disk has space again, or a read-only file accepts writes, by writing a row. A read-only
    /// server is left to the probe, because connections that are open may lead to another server than new ones.
    pub(crate) async fn try_storage(&self, entropy: &Entropy) -> Result<(), Error> {
        if matches!(self.driver, Driver::Postgres(_)) && !self.storage.is_full() {
            return Ok(());
        }
        let mut tx = self.write().await?;
        // The row has no meaning: its size makes the commit need as much space on the disk as a change. A smaller one
        // would fit into what a failed change has left of the write-ahead log. It is random, because PostgreSQL
        // compresses values.
        let random = (0..STORAGE_CHECK / 64).map(|_| STANDARD.encode(entropy.bytes::<48>()));
        on_conn!(&mut tx, conn => sqlx::query(
            "insert into settings (name, value) values ('storage_check', $1)
             on conflict (name) do update set value = excluded.value",
        ).bind(random.collect::<String>()).execute(conn).await.map(drop))?;
        tx.commit().await?;
        let mut tx = self.write().await?;
        on_conn!(&mut tx, conn => sqlx::query("delete from settings where name = 'storage_check'")
            .execute(conn).await.map(drop))?;
        tx.commit().await?;
        self.storage.set_has_space();
        if matches!(self.driver, Driver::Sqlite(_)) {
            self.storage.set_writable();
        }
        Ok(())
    }

    /// Writes the current content of the database into a new file. Other connections can write to the database in the
    /// meantime. After a failure, no file is left.
    pub(crate) async fn copy_to(&self, file: &Path) -> Result<(), CopyError> {
        match &self.driver {
            Driver::Sqlite(database) => database.copy_to(file).await,
            Driver::Postgres(_) => Err(CopyError::NotAFile),
        }
    }

    /// Closes all connections. On SQLite, this also merges the write-ahead log into the file.
    pub(crate) async fn close(&self) {
        match &self.driver {
            Driver::Sqlite(file) => file.close().await,
            Driver::Postgres(server) => server.close().await,
        }
    }

    /// Returns the clock that all instances on the database share: that of the database. The difference from this
    /// machine's clock is known after the first probe. On SQLite, it is this machine's clock.
    pub(crate) fn shared_clock(&self, machine: Arc<dyn Clock>) -> Arc<dyn Clock> {
        match &self.driver {
            Driver::Sqlite(_) => machine,
            Driver::Postgres(server) => Arc::new(server.corrected(machine)),
        }
    }

    /// Returns true if the shared clock may be wrong: this machine's and the database's differ by over 5 minutes.
    pub(crate) fn doubts_clock(&self) -> bool {
        match &self.driver {
            Driver::Sqlite(_) => false,
            Driver::Postgres(server) => server.doubts_clock(),
        }
    }

    /// Probes the database at intervals, and compares its clock with the shared one, for as long as it is polled. On
    /// SQLite, it ends at once, because a file is always available.
    pub(crate) async fn probe(&self, entropy: &Entropy, clock: &dyn Clock) {
        if let Driver::Postgres(server) = &self.driver {
            match server.probe(entropy, clock, &self.storage).await {}
        }
    }

    /// Returns true if the database is available. While it is not, queries fail at once.
    pub(crate) fn is_present(&self) -> bool {
        match &self.driver {
            Driver::Sqlite(_) => true,
            Driver::Postgres(server) => server.is_present(),
        }
    }

    /// Waits until the database is available.
    pub(crate) async fn until_present(&self) {
        if let Driver::Postgres(server) = &self.driver {
            server.until_present().await;
        }
    }

    /// Returns the time since the last response of the database.
    pub(crate) fn silence(&self) -> Duration {
        match &self.driver {
            Driver::Sqlite(_) => Duration::ZERO,
            Driver::Postgres(server) => server.silence(),
        }
    }
}

impl Driver {
    /// Returns the location of the database, without a password.
    fn location(&self) -> String {
        match self {
            Self::Sqlite(file) => file.location(),
            Self::Postgres(server) => server.target().location(),
        }
    }
}

impl Tx {
    /// Takes the write lock for a transaction that began without it. On SQLite, the first write has already taken it.
    pub(crate) async fn take_turn(&mut self) -> Result<(), Error> {
        let Self { open, storage, .. } = self;
        match open {
            Open::Sqlite(_) => Ok(()),
            Open::Postgres(tx) => storage.watch(tx.take_turn().await),
        }
    }

    /// Permits the rest of a write, which has the write lock, to pause for longer than others while it plans a large
    /// document. SQLite has no limit.
    pub(crate) async fn permit_planning(&mut self) -> Result<(), Error> {
        let Self { open, storage, .. } = self;
        match open {
            Open::Sqlite(_) => Ok(()),
            Open::Postgres(tx) => storage.watch(tx.permit_planning().await),
        }
    }

    /// Begins another action, so that the following audit entries form a separate group.
    pub(crate) fn begin_action(&mut self) {
        self.first_entry = None;
    }

    /// Returns the group of an audit entry. A transaction is one action, unless it begins another.
    fn audit_group(&mut self, entry: AuditId) -> AuditId {
        *self.first_entry.get_or_insert(entry)
    }

    /// Returns the group of the audit entries that have been written; none before the first.
    pub(crate) fn written_group(&self) -> Option<AuditId> {
        self.first_entry
    }

    fn is_on_postgres(&self) -> bool {
        matches!(self.open, Open::Postgres(_))
    }

    /// Commits the writes.
    pub(crate) async fn commit(self) -> Result<(), Error> {
        let Self { open, storage, .. } = self;
        storage.watch(match open {
            Open::Sqlite(tx) => tx.commit().await.map_err(Error::from),
            Open::Postgres(tx) => tx.commit().await,
        })
    }
}

/// Returns the error for a row with an invalid value.
fn bad_row(table: &str, id: impl Display, problem: impl Display) -> Error {
    Error::Internal(format!("row {id} of table {table} is invalid: {problem}"))
}

/// Converts rows to a page of objects.
fn page_of<R, T: TryFrom<R, Error = Error>>(
    page: PageRequest,
    rows: Vec<R>,
    total: i64,
) -> Result<Page<T>, Error> {
    let items = rows.into_iter().map(T::try_from);
    Ok(page.page_of(items.collect::<Result<_, _>>()?, total))
}

/// Returns a filter that can be bound. No stored text contains U+0000, and PostgreSQL refuses it in queries. Keys and
/// names cannot contain its replacement U+0001 either, so the filter still matches nothing.
fn bindable(filter: Option<&String>) -> Option<String> {
    filter.map(|text| text.replace('\0', "\u{1}"))
}

/// Returns false if the write failed because a unique index already contains the value.
fn unless_taken<T>(written: Result<T, sqlx::Error>) -> Result<bool, sqlx::Error> {
    match written {
        Err(sqlx::Error::Database(answer)) if answer.is_unique_violation() => Ok(false),
        other => other.map(|_| true),
    }
}
