//! Databases of earlier releases.

use std::path::{Path, PathBuf};

use sqlx::migrate::Migrator;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

use crate::TestDatabase;
use crate::database::SEED_IF_FILLED;

/// Returns the folder of files from earlier releases.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Returns the migrations for SQLite or PostgreSQL.
pub async fn migrations(is_postgres: bool) -> Migrator {
    let name = if is_postgres { "postgres" } else { "sqlite" };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../migrations")
        .join(name);
    Migrator::new(folder)
        .await
        .expect("the migrations can be read")
}

impl TestDatabase {
    /// Creates a copy of the database in a fixture, a folder with `pennon.db` and `postgres.sql`.
    pub async fn restored(fixture: &Path) -> Self {
        let mut database = Self::create().await;
        database.seed_from(SEED_IF_FILLED);
        if database.is_postgres() {
            let dump = std::fs::read_to_string(fixture.join("postgres.sql"));
            database.run(&dump.expect("the dump can be read")).await;
        } else {
            let copied = std::fs::copy(fixture.join("pennon.db"), database.file());
            copied.expect("the file is copied");
        }
        database
    }

    /// Creates a database with the schema after this migration, and with an old version of Pennon as the schema's
    /// writer.
    pub async fn with_schema(version: i64) -> Self {
        let database = Self::create().await;
        let migrations = migrations(database.is_postgres()).await;
        if database.is_postgres() {
            let mut connection = database.postgres().await;
            migrations.run_to(version, &mut connection).await
        } else {
            std::fs::File::create_new(database.file()).expect("a file");
            let mut connection = database.sqlite().await;
            let run = migrations.run_to(version, &mut connection).await;
            connection.close().await.expect("the file is complete");
            run
        }
        .expect("the migrations run");
        database
            .execute("insert into settings values ('schema_version_written_by', '0.0.9')")
            .await;
        database
    }

    /// Runs statements on the database, unnoticed by the server.
    pub async fn run(&self, sql: &str) {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql));
        if self.is_postgres() {
            sql.execute(&mut self.postgres().await).await.map(drop)
        } else {
            sql.execute(&mut self.sqlite().await).await.map(drop)
        }
        .expect("the statements run");
    }

    /// Returns the version of the newest applied migration.
    pub async fn schema_version(&self) -> i64 {
        self.count("select max(version) from _sqlx_migrations")
            .await
    }

    /// Opens a connection to the SQLite file.
    pub async fn sqlite(&self) -> SqliteConnection {
        SqliteConnection::connect(self.url())
            .await
            .expect("the file opens")
    }
}
