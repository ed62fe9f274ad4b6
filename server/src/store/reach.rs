//! The first connection to a PostgreSQL server. A server that is starting is waited for; whatever else is wrong is said at
//! once, with what to change.

use std::net::Ipv6Addr;
use std::str::FromStr;
use std::time::Duration;

use sqlx::Connection;
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

/// How long one attempt may take. A server that drops what it should refuse says nothing at all.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);

/// The pause between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// How much of the name in the URL is kept, in bytes: with what is added it must fit into the 63 that the server keeps.
const NAME_BYTES: usize = 16;

/// What a server says that cannot take a connection now and may soon: too many connections, shutting down, starting.
const PASSING: [&str; 4] = ["53300", "57P01", "57P02", "57P03"];

/// Why PostgreSQL cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// A URL that cannot be read.
    #[error(
        "DATABASE_URL names no PostgreSQL database ({0}); write postgres://user:password@host:5432/database, with \
         characters such as `@`, `:`, `/` and `#` in the password as `%40`, `%3A`, `%2F` and `%23`"
    )]
    Url(String),
    /// A demand for encryption.
    #[error(
        "DATABASE_URL demands an encrypted connection, which Pennon cannot make; remove `sslmode` from it (and \
         PGSSLMODE from the environment), and keep Pennon and PostgreSQL in one private network"
    )]
    Encryption,
    /// Nobody answers, or nobody who can take a connection.
    #[error(
        "cannot reach PostgreSQL at {address}: {cause}; check that it runs there, and that DATABASE_URL names the right \
         host and port"
    )]
    Unreachable {
        /// Host and port, or the path of a socket.
        address: String,
        /// What the last attempt met.
        cause: String,
    },
    /// The server does not want this connection, and would not want it later.
    #[error("PostgreSQL at {address} refuses the connection: {message}; {remedy}")]
    Refused {
        /// Host and port, or the path of a socket.
        address: String,
        /// What the server says.
        message: String,
        /// What to change.
        remedy: &'static str,
    },
}

/// How to connect to the database that a URL names. A server shows its administrator which instance the connection is of.
pub(super) fn options(url: &str, instance: Option<Uuid>) -> Result<PgConnectOptions, ReachError> {
    let options =
        PgConnectOptions::from_str(url).map_err(|error| ReachError::Url(cause(&error)))?;
    if let PgSslMode::Require | PgSslMode::VerifyCa | PgSslMode::VerifyFull = options.get_ssl_mode()
    {
        return Err(ReachError::Encryption);
    }
    // A URL has IPv6 addresses in brackets, a resolver has not.
    let host = options.get_host().trim_matches(['[', ']']).to_owned();
    let name = options.get_application_name().unwrap_or("pennon");
    let name = match instance {
        Some(instance) => {
            let name = name.chars().filter(char::is_ascii).take(NAME_BYTES);
            format!("{} {instance}", name.collect::<String>())
        }
        None => name.to_owned(),
    };
    let options = options.host(&host).application_name(&name);
    // No column holds a number to which this would matter, and poolers refuse what they do not know.
    Ok(options.extra_float_digits(None))
}

/// Connects to the server, which may be starting at the same moment: for as long as `patience` lasts, it is tried again.
/// The log tells at once why, and again if the cause changes.
pub(super) async fn reach(
    options: &PgConnectOptions,
    patience: Duration,
) -> Result<PgConnection, ReachError> {
    let address = address(options);
    let deadline = Instant::now() + patience;
    let mut logged = None;
    loop {
        let attempt = timeout(ATTEMPT_TIMEOUT, PgConnection::connect_with(options)).await;
        let cause = match attempt {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(error)) if may_pass(&error) => cause(&error),
            Ok(Err(error)) => return Err(refused(address, &error)),
            Err(_) => format!("no answer within {ATTEMPT_TIMEOUT:?}"),
        };
        if Instant::now() >= deadline {
            return Err(ReachError::Unreachable { address, cause });
        }
        if logged.as_ref() != Some(&cause) {
            let seconds = patience.as_secs();
            tracing::warn!(address, cause, seconds, "cannot reach PostgreSQL; retrying");
            logged = Some(cause);
        }
        sleep(RETRY_INTERVAL).await;
    }
}

/// Where the server is, without the secrets of the URL.
fn address(options: &PgConnectOptions) -> String {
    let (host, port) = (options.get_host(), options.get_port());
    let socket = options.get_socket().map(|folder| folder.to_string_lossy());
    match socket.as_deref().or(host.starts_with('/').then_some(host)) {
        Some(folder) => format!("{folder}/.s.PGSQL.{port}"),
        None if host.parse::<Ipv6Addr>().is_ok() => format!("[{host}]:{port}"),
        None => format!("{host}:{port}"),
    }
}

/// Whether a server that is starting may have brought this about.
fn may_pass(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) => true,
        sqlx::Error::Database(answer) => {
            code(&**answer).is_some_and(|code| PASSING.contains(&&*code))
        }
        _ => false,
    }
}

/// What happened, without what sqlx says before it.
fn cause(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::Database(answer) => answer.message().to_owned(),
        sqlx::Error::Configuration(error) => error.to_string(),
        error => error.to_string(),
    }
}

fn refused(address: String, error: &sqlx::Error) -> ReachError {
    let code = error.as_database_error().and_then(code);
    let remedy = match code.as_deref() {
        Some("3D000") => "create the database, or correct its name in DATABASE_URL",
        Some("28P01") => "correct the user or the password in DATABASE_URL",
        Some("28000") => "correct the user in DATABASE_URL, or let it in by pg_hba.conf",
        Some("42501") => "grant the user `connect` on the database",
        Some(_) => "the log of PostgreSQL may say more",
        None => "check that DATABASE_URL names host and port of PostgreSQL",
    };
    ReachError::Refused {
        address,
        message: cause(error),
        remedy,
    }
}

fn code(answer: &dyn DatabaseError) -> Option<String> {
    answer.code().map(Into::into)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    fn address_in(url: &str) -> String {
        address(&options(url, None).unwrap())
    }

    fn complaint_about(url: &str) -> String {
        options(url, None).unwrap_err().to_string()
    }

    #[test]
    fn an_address_is_named_without_secrets_however_the_url_is_written() {
        assert_eq!(
            address_in("postgres://a:secret@db.example.com/b"),
            "db.example.com:5432"
        );
        assert_eq!(
            address_in("postgresql://db:6432/b?password=secret"),
            "db:6432"
        );
        assert_eq!(address_in("postgres://a@[::1]:6432/b"), "[::1]:6432");
        assert_eq!(
            address_in("postgres:///b?hostaddr=::1&port=6432"),
            "[::1]:6432"
        );
        let socket = "/run/pg/.s.PGSQL.6432";
        assert_eq!(address_in("postgres://a@%2Frun%2Fpg:6432/b"), socket);
        assert_eq!(address_in("postgres:///b?host=/run/pg&port=6432"), socket);
    }

    #[test]
    fn what_cannot_work_is_refused_without_an_attempt() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let complaint = complaint_about(&format!("postgres://db/b?sslmode={mode}"));
            assert!(complaint.contains("remove `sslmode`"), "{complaint}");
        }
        assert!(options("postgres://db/b?sslmode=prefer", None).is_ok());
        let complaint = complaint_about("postgres://a:se/cret@db/b");
        assert!(complaint.contains("as `%40`"), "{complaint}");
        assert!(!complaint.contains("cret@"), "{complaint}");
    }

    /// What the start says of a server that answers every connection with an error.
    async fn complaint_when_told(code: &str, message: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let fields = format!("SFATAL\0VFATAL\0C{code}\0M{message}\0\0");
        let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
        let answer = [b"E", &length[..], fields.as_bytes()].concat();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_u8().await.unwrap();
            stream.write_all(&answer).await.unwrap();
        });
        let url = format!("postgres://a:secret@127.0.0.1:{port}/b");
        let options = options(&url, None).unwrap();
        let error = reach(&options, Duration::ZERO).await.unwrap_err();
        let error = error.to_string();
        assert!(error.contains(&format!("127.0.0.1:{port}")), "{error}");
        assert!(
            error.contains(message) && !error.contains("secret"),
            "{error}"
        );
        error
    }

    #[tokio::test]
    async fn a_refusal_is_said_with_what_to_change() {
        for (code, remedy) in [
            ("3D000", "create the database"),
            ("28P01", "the user or the password"),
            ("28000", "pg_hba.conf"),
            ("42501", "grant the user `connect`"),
            ("0A000", "the log of PostgreSQL"),
        ] {
            let complaint = complaint_when_told(code, "not like this").await;
            assert!(complaint.contains("refuses the connection"), "{complaint}");
            assert!(complaint.contains(remedy), "{complaint}");
        }
        for code in PASSING {
            let complaint = complaint_when_told(code, "not now").await;
            assert!(
                complaint.starts_with("cannot reach PostgreSQL"),
                "{complaint}"
            );
        }
    }

    #[tokio::test]
    async fn a_server_that_does_not_come_is_named_with_the_cause() {
        let options = options("postgres://a:secret@127.0.0.1:1/b", None).unwrap();
        let error = reach(&options, Duration::ZERO).await.unwrap_err();
        let error = error.to_string();
        let named = "cannot reach PostgreSQL at 127.0.0.1:1: Connection refused";
        assert!(error.starts_with(named), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}
