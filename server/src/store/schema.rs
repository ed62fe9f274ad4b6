//! The tables, which each start brings up to date.

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqlitePool;
use sqlx::{Executor, SqliteConnection};

use super::OpenError;

static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("../migrations/sqlite");
static POSTGRES_MIGRATIONS: Migrator = sqlx::migrate!("../migrations/postgres");

/// The version that this is.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of the setting that holds the version of Pennon that last opened the database.
const WRITTEN_BY: &str = "schema_version_written_by";

const READ_SETTING: &str = "select value from settings where name = $1";
const WRITE_SETTING: &str = "insert into settings (name, value) values ($1, $2)
                             on conflict (name) do update set value = excluded.value";

/// Reads who has written the database. It is a macro because each driver has types of its own.
macro_rules! written_by {
    ($connection:expr) => {
        sqlx::query_scalar::<_, String>(READ_SETTING)
            .bind(WRITTEN_BY)
            .fetch_optional($connection)
            .await
    };
}

/// Brings the tables up to date and keeps which version did so, for the sake of older ones that are started later.
macro_rules! bring_up_to_date {
    ($migrations:expr, $connection:expr) => {{
        // `run` does the same, but the compiler does not see that its future can be sent.
        if let Err(error) = $migrations.run_direct(None, &mut *$connection, false).await {
            // Tables of long ago may not have it.
            let written_by = written_by!(&mut *$connection).unwrap_or_default();
            return Err(explained(error, written_by.as_deref()));
        }
        if written_by!(&mut *$connection)?.as_deref() != Some(VERSION) {
            let write = sqlx::query(WRITE_SETTING).bind(WRITTEN_BY).bind(VERSION);
            write.execute(&mut *$connection).await?;
        }
        Ok(())
    }};
}

pub(super) async fn update_sqlite(pool: &SqlitePool) -> Result<(), OpenError> {
    let connection: &mut SqliteConnection = &mut *pool.acquire().await?;
    bring_up_to_date!(SQLITE_MIGRATIONS, connection)
}

/// Of several instances that start together one brings the tables up to date, while the others wait for it.
pub(super) async fn update_postgres(connection: &mut PgConnection) -> Result<(), OpenError> {
    // Otherwise each start is told, and logs, that the table of migrations exists.
    connection
        .execute("set client_min_messages = warning")
        .await?;
    bring_up_to_date!(POSTGRES_MIGRATIONS, connection)
}

fn explained(error: MigrateError, written_by: Option<&str>) -> OpenError {
    match error {
        MigrateError::VersionMissing(_) => OpenError::Newer(newer(written_by)),
        MigrateError::Execute(sqlx::Error::Database(answer))
        | MigrateError::ExecuteMigration(sqlx::Error::Database(answer), _)
            if answer.code().as_deref() == Some("42501") =>
        {
            OpenError::Rights(answer.message().to_owned())
        }
        error => OpenError::Migrate(error),
    }
}

/// What to say of a database with tables that this version does not know.
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
