//! The ways to open a database, and why that fails.

use std::path::PathBuf;

use uuid::Uuid;

use super::reach::ReachError;

/// The ways to open a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenMode {
    /// Upgrades the schema, and creates a file that is missing. PostgreSQL shows its administrator the id of the
    /// instance.
    Serve(Uuid),
    /// Upgrades the schema of a database that exists.
    Upgrade,
    /// Leaves the schema of an existing database unchanged, for reading.
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
    /// The URL names no database that Pennon knows.
    #[error(
        "DATABASE_URL must begin with `sqlite://` or `postgres://`, as in sqlite://data/pennon.db or \
         postgres://pennon:secret@db.example.com/pennon"
    )]
    UnknownScheme,
    /// There is no such file, and it is not to be created.
    #[error("there is no database at {}; does DATABASE_URL name the right one?", .0.display())]
    Missing(PathBuf),
    /// A symbolic link to a missing file. The link may belong to somebody else, so nothing is created at its end.
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
        /// The message of the system.
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
    /// A file that has to be upgraded, but cannot be backed up before.
    #[error(
        "{} must be upgraded, and its backup {} cannot be written: {problem}; make room for a copy of the database in {}, \
         let the user that runs Pennon write there, and start again (nothing was changed)",
        file.display(), backup.display(), folder.display()
    )]
    Backup {
        /// The file.
        file: PathBuf,
        /// The backup that was to be written.
        backup: PathBuf,
        /// The folder of both.
        folder: PathBuf,
        /// The message of the system or of SQLite.
        problem: String,
    },
    /// A database in which no server has created tables.
    #[error("the database has no tables of Pennon; does DATABASE_URL name the right one?")]
    NoTables,
    /// PostgreSQL cannot be reached, or refuses.
    #[error(transparent)]
    Postgres(#[from] ReachError),
    /// The database fails.
    #[error("cannot open the database: {0}")]
    Connect(#[from] sqlx::Error),
    /// The tables are of a later version.
    #[error("{0}")]
    Newer(String),
    /// The tables belong to another application.
    #[error(
        "PostgreSQL does not let the user of DATABASE_URL create or change tables ({0}); make it the owner of the database"
    )]
    Rights(String),
    /// The tables cannot be upgraded.
    #[error("cannot bring the database's tables up to date: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
}

/// The reason that the database cannot be copied into a file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    /// PostgreSQL keeps its data itself.
    #[error("a PostgreSQL database is backed up by PostgreSQL's own tools, such as pg_dump")]
    NotAFile,
    /// SQLite takes names of files as text.
    #[error("the name of the file to write must be valid UTF-8")]
    NotText,
    /// The file cannot be created or named.
    #[error("the copy cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// The copy failed.
    #[error("the database cannot be copied: {0}")]
    Failed(#[from] sqlx::Error),
}
