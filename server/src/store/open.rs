//! The ways to open a database, and the errors of opening it.

use std::borrow::Cow;
use std::path::PathBuf;

use sqlx::migrate::MigrateError;
use uuid::Uuid;

use super::reach::ReachError;
use crate::database_error::{self, INSUFFICIENT_PRIVILEGE};

/// The ways to open a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenMode {
    /// Upgrades the schema, and creates a missing file. PostgreSQL shows the ID of the instance to its administrator.
    Serve(Uuid),
    /// Upgrades the schema of an existing database.
    Upgrade,
    /// Opens an existing database for reading, and does not change its schema.
    AsIs,
}

impl OpenMode {
    pub(super) fn instance(self) -> Option<Uuid> {
        match self {
            Self::Serve(instance) => Some(instance),
            Self::Upgrade | Self::AsIs => None,
        }
    }
}

/// The reason that the database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL is not one of a supported database.
    #[error(
        "DATABASE_URL must begin with `sqlite://` or `postgres://`, as in sqlite://data/pennon.db or \
         postgres://pennon:secret@db.example.com/pennon"
    )]
    UnknownScheme,
    /// The URL names no file.
    #[error("DATABASE_URL names no file; write one, as in sqlite://data/pennon.db")]
    NoFile,
    /// The file does not exist, and must not be created.
    #[error("there is no database at {}; check DATABASE_URL", .0.display())]
    Missing(PathBuf),
    /// The file is a symbolic link to a missing file. The link may belong to somebody else, so its target is not
    /// created.
    #[error(
        "{} is a symbolic link to a file that does not exist; name that file itself in DATABASE_URL", .0.display()
    )]
    Dangling(PathBuf),
    /// The file or its folder cannot be created or written.
    #[error(
        "cannot write the database {}: {problem}; let the user that runs Pennon write to {}{}, or name another file in \
         DATABASE_URL", file.display(), if *exists { "this file and to " } else { "" }, folder.display()
    )]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// The folder that must be writable.
        folder: PathBuf,
        /// True if the file exists.
        exists: bool,
        /// The message of the operating system.
        problem: String,
    },
    /// The disk of the file is full, or a limit of the file's size is reached.
    #[error(
        "the disk of the database {} is full: SQLite needs some space even to read it; free at least 1 MB in {}, and start \
         again", file.display(), folder.display()
    )]
    Full {
        /// The file.
        file: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
    /// The file is not a SQLite database.
    #[error("{} is not a SQLite database; name another file in DATABASE_URL", .0.display())]
    NotADatabase(PathBuf),
    /// The file is damaged.
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
    /// The file must be upgraded, but its backup cannot be written.
    #[error(
        "{} must be upgraded, and its backup {} cannot be written: {problem}; make room for a copy of the database in {}, \
         let the user that runs Pennon write there, and start again (nothing was changed)",
        file.display(), backup.display(), folder.display()
    )]
    Backup {
        /// The file.
        file: PathBuf,
        /// The file of the backup.
        backup: PathBuf,
        /// The folder of both.
        folder: PathBuf,
        /// The message of the operating system or of SQLite.
        problem: String,
    },
    /// The database has no tables of Pennon.
    #[error("the database has no tables of Pennon; check DATABASE_URL")]
    NoTables,
    /// PostgreSQL is unreachable, or refuses the connection.
    #[error(transparent)]
    Postgres(#[from] ReachError),
    /// The database failed.
    #[error("cannot open the database: {0}")]
    Connect(sqlx::Error),
    /// A newer version of Pennon has upgraded the tables.
    #[error("{0}")]
    Newer(String),
    /// The database user must not use, create or change tables.
    #[error(
        "PostgreSQL does not let the user of DATABASE_URL use, create or change tables ({0}); make it the owner of the \
         database and of its tables"
    )]
    Rights(String),
    /// No schema of the search path exists.
    #[error(
        "PostgreSQL finds no schema to create tables in; create the one that `search_path` names, or remove `search_path` \
         from DATABASE_URL and from the settings of its user"
    )]
    NoSchema,
    /// The server executes no writes.
    #[error(
        "PostgreSQL is read-only, so the tables cannot be upgraded; check that DATABASE_URL leads to the primary and not \
         to a standby"
    )]
    ReadOnly,
    /// The database cannot store every text.
    #[error(
        "the database has the encoding {0}; create one with `create database pennon encoding 'UTF8' template template0`"
    )]
    Encoding(String),
    /// The database converts letters to lower case by the rules of Turkish or Azeri.
    #[error(
        "the locale of the database has Turkish or Azeri rules for the letter I, with which some accounts could not \
         sign in; create one with `create database pennon encoding 'UTF8' locale 'C' template template0`"
    )]
    Locale,
    /// The tables cannot be upgraded.
    #[error("cannot upgrade the database's tables: {0}")]
    Migrate(#[from] MigrateError),
}

impl From<sqlx::Error> for OpenError {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(answer)
                if answer.code().as_deref() == Some(INSUFFICIENT_PRIVILEGE) =>
            {
                Self::Rights(answer.message().to_owned())
            }
            error => Self::Connect(error),
        }
    }
}

impl OpenError {
    /// Returns the error code of the database.
    pub(super) fn code(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Connect(error)
            | Self::Migrate(
                MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _),
            ) => database_error::code(error),
            _ => None,
        }
    }
}

/// The reason that the database cannot be copied to a file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    /// The database is on PostgreSQL, not in a file.
    #[error("to back up a PostgreSQL database, use PostgreSQL's own tools, such as pg_dump")]
    NotAFile,
    /// The file name is not UTF-8, which SQLite requires.
    #[error("the name of the file to write must be valid UTF-8")]
    NotText,
    /// The file cannot be created or renamed.
    #[error("the copy cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// The copy failed.
    #[error("the database cannot be copied: {0}")]
    Failed(#[from] sqlx::Error),
}
