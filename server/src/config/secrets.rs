//! The secret settings. They come from the environment or from files, as Docker and Kubernetes mount them. They never
//! come from the command line, which every user of the machine can read.

use std::env::{self, VarError};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pennon_model::secret::Secret;

use super::{DatabaseSettings, Settings};

/// The database URL of a server without this setting.
const DEFAULT_DATABASE: &str = "sqlite://data/pennon.db";

/// The environment variables of secrets. Each has a variant that ends with `_FILE`.
pub(super) const NAMES: [&str; 3] = [DATABASE_URL, ADMIN_PASSWORD, JWT_SECRET];

const DATABASE_URL: &str = "DATABASE_URL";
const ADMIN_PASSWORD: &str = "PENNON_ADMIN_PASSWORD";
const JWT_SECRET: &str = "PENNON_JWT_SECRET";

/// The secrets of a server.
#[derive(Clone, Debug)]
pub struct Secrets {
    /// The URL of the database, which may contain a password.
    pub database_url: Secret,
    /// The password of the first administrator. Without it, one is generated and printed once.
    pub admin_password: Option<Secret>,
    /// The secret that signs access tokens. Without it, one is generated and kept in the database.
    pub jwt_secret: Option<Secret>,
}

/// The reason why a secret cannot be read. It never contains the secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// Both the variable and its `_FILE` variant are set.
    #[error("{name} and {name}_FILE are both set; remove one of them")]
    Ambiguous {
        /// The variable for the secret itself.
        name: &'static str,
    },
    /// The variable is not UTF-8 text.
    #[error("{name} must be UTF-8 text")]
    NotText {
        /// The variable.
        name: &'static str,
    },
    /// The file cannot be read.
    #[error("cannot read the file {} that {name}_FILE names: {problem}", file.display())]
    Unreadable {
        /// The variable for the secret itself.
        name: &'static str,
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        problem: io::Error,
    },
    /// The file is empty or contains only a newline.
    #[error("the file {} that {name}_FILE names is empty; write the secret into it", file.display())]
    Empty {
        /// The variable for the secret itself.
        name: &'static str,
        /// The file.
        file: PathBuf,
    },
    /// The command line contains a password.
    #[error(
        "--database-url must not contain a password, because other users of this machine can see it; set DATABASE_URL \
         or DATABASE_URL_FILE instead"
    )]
    PasswordInOption,
}

impl Secrets {
    /// Reads the secrets from the environment, and from the files named there.
    pub fn read(settings: &Settings) -> Result<Self, SecretError> {
        Ok(Self {
            database_url: settings.database.url()?,
            admin_password: read(ADMIN_PASSWORD)?,
            jwt_secret: read(JWT_SECRET)?,
        })
    }

    /// Returns the secrets of a server that uses this database and generates all other secrets.
    pub fn generated(database_url: &str) -> Self {
        Self {
            database_url: database_url.into(),
            admin_password: None,
            jwt_secret: None,
        }
    }
}

impl DatabaseSettings {
    /// Returns the database URL: from the option, or else from the environment.
    pub(crate) fn url(&self) -> Result<Secret, SecretError> {
        if let Some(url) = &self.database_url {
            return if has_password(url.expose()) {
                Err(SecretError::PasswordInOption)
            } else {
                Ok(url.clone())
            };
        }
        Ok(read(DATABASE_URL)?.unwrap_or_else(|| DEFAULT_DATABASE.into()))
    }
}

/// Reads a secret from the variable `name`, or from the file named by `{name}_FILE`. Returns none if neither is set.
fn read(name: &'static str) -> Result<Option<Secret>, SecretError> {
    let file: Option<OsString> = env::var_os(format!("{name}_FILE"));
    match (env::var(name), file) {
        (Err(VarError::NotPresent), None) => Ok(None),
        (Err(VarError::NotPresent), Some(file)) => read_file(name, Path::new(&file)).map(Some),
        (Ok(secret), None) => Ok(Some(Secret::new(secret))),
        (Err(VarError::NotUnicode(_)), None) => Err(SecretError::NotText { name }),
        (_, Some(_)) => Err(SecretError::Ambiguous { name }),
    }
}

/// Reads a secret from a file, without the newline that most editors append.
fn read_file(name: &'static str, file: &Path) -> Result<Secret, SecretError> {
    let mut secret = fs::read_to_string(file).map_err(|problem| SecretError::Unreadable {
        name,
        file: file.to_owned(),
        problem,
    })?;
    if secret.ends_with('\n') {
        secret.pop();
        if secret.ends_with('\r') {
            secret.pop();
        }
    }
    if secret.is_empty() {
        let file = file.to_owned();
        return Err(SecretError::Empty { name, file });
    }
    Ok(Secret::new(secret))
}

/// Returns true if a database URL contains a password, even one in a form that no database accepts.
fn has_password(url: &str) -> bool {
    if url.starts_with("sqlite:") {
        return false;
    }
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    let user = address.rsplit_once('@').map_or("", |(user, _)| user);
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    user.contains(':') || parameters.any(|(name, _)| name == "password")
}

#[cfg(test)]
mod tests {
    use super::has_password;

    #[test]
    fn a_password_is_found_wherever_a_url_may_have_one() {
        for url in [
            "postgres://pennon:secret@db/flags",
            "postgres://pennon:sec@ret@db/flags",
            "postgres://pennon:sec/ret@db/flags",
            "postgresql://:secret@db",
            "postgres://db/flags?application_name=x&password=secret",
            "postgres://db/flags?p%61ssword=secret",
            "pennon:secret@db",
        ] {
            assert!(has_password(url), "{url}");
        }
        for url in [
            "sqlite://data/a:b@c.db",
            "postgres://pennon@db.example.com:5432/flags?sslmode=disable",
            "postgres://[::1]:5432/flags",
            "postgres:///flags?host=/run/postgresql",
        ] {
            assert!(!has_password(url), "{url}");
        }
    }
}
