//! The schema: its version in a database, and its upgrade to the version of this binary.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::path::Path;
use std::time::Duration;

use flate2::Crc;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnection, Postgres};
use sqlx::sqlite::SqlitePool;
use sqlx::{AssertSqlSafe, Connection, Executor, SqlSafeStr as _, SqliteConnection, Transaction};
use tokio::time::sleep;

use super::OpenError;
use super::backup::{self, Backup};
use crate::database_error::{
    DEADLOCK_DETECTED, INSUFFICIENT_PRIVILEGE, INVALID_SCHEMA_NAME, LOCK_NOT_AVAILABLE,
    READ_ONLY_SQL_TRANSACTION,
};

static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("../migrations/sqlite");
static POSTGRES_MIGRATIONS: Migrator = sqlx::migrate!("../migrations/postgres");

/// The version of this binary.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of the setting with the version of Pennon that last upgraded the database.
const WRITTEN_BY: &str = "schema_version_written_by";

/// The name of the setting with the version of the first migration of an upgrade that is not complete.
const UNFINISHED: &str = "schema_upgrade_before";

/// The number by which sqlx multiplies the checksum of the database's name to get the ID of its migration lock.
const SQLX_LOCK: i64 = 0x3d32_ad9e;

/// The longest wait for a lock on a table, in milliseconds, while the schema is being upgraded.
const LOCK_TIMEOUT: u32 = 1_000;

/// The pause after such a wait, in which the queries that queued behind it are executed.
const LOCK_PAUSE: Duration = Duration::from_secs(1);

/// The error codes of PostgreSQL after [`LOCK_TIMEOUT`], and when two transactions wait for each other.
const CANNOT_LOCK: [&str; 2] = [LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED];

/// The migration before which [`EARLY_LOCKS`] are taken. Databases hold its checksum, so it cannot be reordered itself.
const SLOW_MIGRATION: i64 = 35;

/// The locks that [`SLOW_MIGRATION`] needs, in the order in which running instances take them. The migration itself
/// builds indexes of the audit log before it locks the rest. A query for the list of flags, or a change of a rule,
/// would lock the rest in the meantime and then wait for the audit log, so both would wait for each other.
///
/// All waits together take at most a second, after which PostgreSQL looks for deadlocks. So if instances take the locks
/// in another order, the upgrade gives up, and no query fails. The change of the view has no effect but its lock:
/// `lock table` would also lock every table in the view.
const EARLY_LOCKS: &str = "
    set local lock_timeout = 250;
    alter view flag_table alter column id drop default;
    lock table rules in share mode;
    lock table flags in share update exclusive mode;
    lock table audit_entries in access exclusive mode;
";

const READ_SETTING: &str = "select value from settings where name = $1";
const WRITE_SETTING: &str = "insert into settings (name, value) values ($1, $2)
                             on conflict (name) do update set value = excluded.value";

/// The state of a database's schema.
struct State {
    /// The versions of the applied migrations, in order; empty for a database without tables.
    applied: Vec<i64>,
    /// The version of Pennon that last upgraded the database; none for very old tables.
    written_by: Option<String>,
    /// The version of the first migration of an upgrade of a file, if the upgrade is not complete.
    unfinished: Option<i64>,
}

/// A schema that is older than that of this binary.
#[derive(Clone, Debug)]
pub(crate) struct Outdated {
    found: i64,
    wanted: i64,
    written_by: Option<String>,
}

/// Reads a setting. It is a macro because each driver has its own types.
macro_rules! setting {
    ($connection:expr, $name:expr) => {
        sqlx::query_scalar::<_, String>(READ_SETTING)
            .bind($name)
            .fetch_optional($connection)
            .await
    };
}

/// Reads the state of a schema; `$exists` is the query that checks for the table of migrations.
macro_rules! state {
    ($connection:expr, $exists:literal) => {{
        let exists = sqlx::query_scalar::<_, bool>($exists);
        if exists.fetch_one(&mut *$connection).await? {
            let applied = "select version from _sqlx_migrations order by version";
            let applied = sqlx::query_scalar(applied);
            State {
                applied: applied.fetch_all(&mut *$connection).await?,
                written_by: setting!(&mut *$connection, WRITTEN_BY).unwrap_or_default(),
                unfinished: setting!(&mut *$connection, UNFINISHED)
                    .unwrap_or_default()
                    .and_then(|version| version.parse().ok()),
            }
        } else {
            State {
                applied: Vec::new(),
                written_by: None,
                unfinished: None,
            }
        }
    }};
}

/// Applies the missing migrations, and writes the version of this binary, which older binaries show if they are started
/// later.
macro_rules! migrate {
    ($migrations:expr, $connection:expr) => {{
        // `run` does the same, but the compiler cannot prove that its future is `Send`.
        let run = $migrations.run_direct(None, &mut *$connection, false);
        if let Err(error) = run.await {
            let written_by = setting!(&mut *$connection, WRITTEN_BY).unwrap_or_default();
            return Err(failed(error, written_by.as_deref()));
        }
        if setting!(&mut *$connection, WRITTEN_BY)?.as_deref() != Some(VERSION) {
            let write = sqlx::query(WRITE_SETTING).bind(WRITTEN_BY).bind(VERSION);
            write.execute(&mut *$connection).await?;
        }
        Ok::<(), OpenError>(())
    }};
}

/// Upgrades the schema of a file. It first backs up the file, unless the file has no tables. If several processes start
/// together, one upgrades the file and the others wait.
pub(super) async fn upgrade_sqlite(pool: &SqlitePool, file: &Path) -> Result<(), OpenError> {
    let _lock = backup::lock(file).await;
    let connection: &mut SqliteConnection = &mut *pool.acquire().await?;
    let state = sqlite_state(connection).await?;
    let backup = match state.next(&SQLITE_MIGRATIONS)? {
        Some(next) if !state.applied.is_empty() => {
            log_upgrade(&state, next, &SQLITE_MIGRATIONS);
            back_up(connection, &state, file, next).await?
        }
        _ => None,
    };
    // The mode is stored in the file, so other connections need not set it.
    connection.execute("pragma journal_mode = wal").await?;
    migrate!(SQLITE_MIGRATIONS, connection)?;
    if state.unfinished.is_some() || backup.is_some() {
        let end = sqlx::query("delete from settings where name = $1").bind(UNFINISHED);
        end.execute(connection).await?;
    }
    if let Some(backup) = backup {
        backup.delete_older();
    }
    Ok(())
}

/// Backs up a file before an upgrade. A database in memory has no backup.
///
/// After an interrupted attempt, the backup from before that attempt is kept instead: it is the only one that the
/// previous version can read.
async fn back_up(
    connection: &mut SqliteConnection,
    state: &State,
    file: &Path,
    next: i64,
) -> Result<Option<Backup>, OpenError> {
    let earlier = state
        .unfinished
        .and_then(|version| Backup::before(version, file));
    if let Some(earlier) = earlier.filter(Backup::exists) {
        return Ok(Some(earlier));
    }
    let Some(backup) = Backup::before(next, file) else {
        return Ok(None);
    };
    backup.write(connection).await?;
    let begin = sqlx::query(WRITE_SETTING).bind(UNFINISHED);
    begin.bind(next.to_string()).execute(connection).await?;
    Ok(Some(backup))
}

fn log_upgrade(state: &State, next: i64, migrations: &Migrator) {
    let found = state.applied.last().copied().unwrap_or_default();
    let wanted = latest(migrations).unwrap_or(next);
    tracing::info!(found, next, wanted, "upgrading the schema");
}

/// Upgrades the schema on a server. If several instances start together, one upgrades it and the others wait.
///
/// It waits for a lock only for [`LOCK_TIMEOUT`] at a time, because queries of other instances queue behind it.
pub(super) async fn upgrade_postgres(
    connection: &mut PgConnection,
    pooled: bool,
) -> Result<(), OpenError> {
    let mut has_waited = false;
    loop {
        let upgraded = if pooled {
            upgrade_pooled(connection).await
        } else {
            upgrade_session(connection).await
        };
        match upgraded {
            Err(error) if cannot_lock(&error) => {}
            other => return other,
        }
        if !has_waited {
            tracing::warn!(
                "cannot lock the tables to upgrade them, and keeps trying; another instance upgrades them, or a long \
                 transaction, such as that of pg_dump, reads them"
            );
            has_waited = true;
        }
        sleep(LOCK_PAUSE).await;
    }
}

fn cannot_lock(error: &OpenError) -> bool {
    let code = error.code();
    code.is_some_and(|code| CANNOT_LOCK.contains(&&*code))
}

async fn upgrade_session(connection: &mut PgConnection) -> Result<(), OpenError> {
    // Without the first one, each start would log a notice that the table of migrations exists.
    let settings = format!("set client_min_messages = warning; set lock_timeout = {LOCK_TIMEOUT}");
    connection.execute(AssertSqlSafe(settings)).await?;
    let state = postgres_state(connection).await?;
    migrate_postgres(&postgres_migrations(true), connection, &state).await
}

/// Upgrades the schema in one transaction, because a pooler assigns a server connection for no longer: neither the lock
/// nor the settings outlive it.
async fn upgrade_pooled(connection: &mut PgConnection) -> Result<(), OpenError> {
    let mut tx = begin_pooled(connection).await?;
    let settings =
        format!("set local client_min_messages = warning; set local lock_timeout = {LOCK_TIMEOUT}");
    tx.execute(AssertSqlSafe(settings)).await?;
    take_migration_lock(&mut tx).await?;
    let state = postgres_state(&mut tx).await?;
    migrate_postgres(&postgres_migrations(false), &mut tx, &state).await?;
    commit_pooled(tx).await
}

/// Returns the migrations to apply. `locking` makes sqlx take its migration lock.
fn postgres_migrations(locking: bool) -> Migrator {
    let mut migrations = POSTGRES_MIGRATIONS.migrations.to_vec();
    for migration in &mut migrations {
        if migration.version == SLOW_MIGRATION {
            let sql = format!("{EARLY_LOCKS}{}", migration.sql.as_str());
            migration.sql = AssertSqlSafe(sql).into_sql_str();
        }
    }
    Migrator {
        migrations: Cow::Owned(migrations),
        locking,
        ..Migrator::DEFAULT
    }
}

async fn migrate_postgres(
    migrations: &Migrator,
    connection: &mut PgConnection,
    state: &State,
) -> Result<(), OpenError> {
    let next = state.next(migrations)?;
    check_texts(connection, state).await?;
    if let Some(next) = next {
        log_upgrade(state, next, migrations);
    }
    match apply(migrations, connection).await {
        Err(error @ (OpenError::Rights(_) | OpenError::ReadOnly)) if next.is_none() => {
            tracing::warn!(%error, "the schema is current, but could not be upgraded");
            Ok(())
        }
        applied => applied,
    }
}

async fn apply(migrations: &Migrator, connection: &mut PgConnection) -> Result<(), OpenError> {
    migrate!(migrations, connection)
}

/// Checks that the database can store every text, and finds ASCII letters in either case. Fails if it has no tables
/// yet, because the encoding and the locale of a database cannot be changed.
async fn check_texts(connection: &mut PgConnection, state: &State) -> Result<(), OpenError> {
    let query = "select current_setting('server_encoding'), lower('I') = 'i'";
    let (encoding, is_ascii_lowered): (String, bool) =
        sqlx::query_as(query).fetch_one(connection).await?;
    let (error, consequence) = if encoding != "UTF8" {
        let error = OpenError::Encoding(encoding);
        (error, "some texts cannot be stored")
    } else if !is_ascii_lowered {
        (OpenError::Locale, "some accounts cannot sign in")
    } else {
        return Ok(());
    };
    if state.applied.is_empty() {
        return Err(error);
    }
    tracing::warn!(%error, "{consequence}");
    Ok(())
}

fn latest(migrations: &Migrator) -> Option<i64> {
    migrations.iter().map(|migration| migration.version).max()
}

/// Takes the migration lock of sqlx, until the end of the transaction.
async fn take_migration_lock(tx: &mut PgConnection) -> Result<(), sqlx::Error> {
    let database: String = sqlx::query_scalar("select current_database()")
        .fetch_one(&mut *tx)
        .await?;
    let mut checksum = Crc::new();
    checksum.update(database.as_bytes());
    let lock = SQLX_LOCK.wrapping_mul(i64::from(checksum.sum()));
    sqlx::query("select pg_advisory_xact_lock($1)")
        .bind(lock)
        .execute(tx)
        .await
        .map(drop)
}

/// Begins a transaction in which statements may have names, by removing the named statements of others from the server
/// connection.
async fn begin_pooled(
    connection: &mut PgConnection,
) -> Result<Transaction<'_, Postgres>, sqlx::Error> {
    let mut tx = connection.begin().await?;
    tx.execute("deallocate all").await?;
    Ok(tx)
}

async fn commit_pooled(mut tx: Transaction<'_, Postgres>) -> Result<(), OpenError> {
    tx.execute("deallocate all").await?;
    Ok(tx.commit().await?)
}

/// Returns the schema of a file if it is outdated, and changes nothing.
pub(super) async fn inspect_sqlite(
    connection: &mut SqliteConnection,
) -> Result<Option<Outdated>, OpenError> {
    sqlite_state(connection).await?.outdated(&SQLITE_MIGRATIONS)
}

/// Returns the schema on a server if it is outdated, and changes nothing.
pub(super) async fn inspect_postgres(
    connection: &mut PgConnection,
    pooled: bool,
) -> Result<Option<Outdated>, OpenError> {
    let state = if pooled {
        let mut tx = begin_pooled(connection).await?;
        let state = postgres_state(&mut tx).await?;
        commit_pooled(tx).await?;
        state
    } else {
        postgres_state(connection).await?
    };
    state.outdated(&POSTGRES_MIGRATIONS)
}

async fn sqlite_state(connection: &mut SqliteConnection) -> Result<State, sqlx::Error> {
    Ok(state!(
        connection,
        "select exists (select 1 from sqlite_schema where name = '_sqlx_migrations')"
    ))
}

async fn postgres_state(connection: &mut PgConnection) -> Result<State, sqlx::Error> {
    Ok(state!(
        connection,
        "select to_regclass('_sqlx_migrations') is not null"
    ))
}

impl State {
    /// Returns the version of the first missing migration. Fails if the schema is newer than this binary.
    fn next(&self, migrations: &Migrator) -> Result<Option<i64>, OpenError> {
        let is_unknown = |version: &i64| !migrations.version_exists(*version);
        if self.applied.iter().any(is_unknown) {
            return Err(OpenError::Newer(newer(self.written_by.as_deref())));
        }
        let mut versions = migrations.iter().map(|migration| migration.version);
        Ok(versions.find(|version| !self.applied.contains(version)))
    }

    fn outdated(self, migrations: &Migrator) -> Result<Option<Outdated>, OpenError> {
        let next = self.next(migrations)?;
        let found = self.applied.last().copied().ok_or(OpenError::NoTables)?;
        let wanted = latest(migrations);
        Ok(next.and(wanted).map(|wanted| Outdated {
            found,
            wanted,
            written_by: self.written_by,
        }))
    }
}

impl Outdated {
    /// Returns a sentence about the pending upgrade, for operators who are about to start the server.
    pub(crate) fn upgrade(&self) -> String {
        let Self { found, wanted, .. } = self;
        format!("the next start of Pennon {VERSION} upgrades the schema from {found} to {wanted}")
    }
}

impl Display for Outdated {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            found,
            wanted,
            written_by,
        } = self;
        let writer = match written_by {
            Some(version) => format!("Pennon {version}"),
            None => "an older version of Pennon".to_owned(),
        };
        write!(
            formatter,
            "the database has schema {found}, written by {writer}, which this command of Pennon {VERSION} cannot \
             read: use the version that wrote it, or upgrade the database to schema {wanted} by starting the server of \
             this version"
        )
    }
}

fn failed(error: MigrateError, written_by: Option<&str>) -> OpenError {
    let answer = match &error {
        // A newer instance upgraded the schema while this one waited for the lock.
        MigrateError::VersionMissing(_) => return OpenError::Newer(newer(written_by)),
        MigrateError::Execute(sqlx::Error::Database(answer))
        | MigrateError::ExecuteMigration(sqlx::Error::Database(answer), _) => answer,
        _ => return OpenError::Migrate(error),
    };
    match answer.code().as_deref() {
        Some(INSUFFICIENT_PRIVILEGE) => OpenError::Rights(answer.message().to_owned()),
        Some(READ_ONLY_SQL_TRANSACTION) => OpenError::ReadOnly,
        Some(INVALID_SCHEMA_NAME) => OpenError::NoSchema,
        _ => OpenError::Migrate(error),
    }
}

/// Returns the message about a schema that is newer than this binary.
fn newer(written_by: Option<&str>) -> String {
    match written_by {
        Some(version) if version != VERSION => format!(
            "the database was written by Pennon {version}, which is newer than this one ({VERSION}): run that version or a \
             newer one"
        ),
        _ => format!(
            "the database was written by a newer Pennon than this one ({VERSION}): run the version that wrote it, or a \
             newer one"
        ),
    }
}
