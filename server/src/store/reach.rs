//! The first connection to a PostgreSQL server. It waits for a server that is starting, and reports all other faults at
//! once, with a remedy.

use std::net::Ipv6Addr;
use std::time::Duration;

use sqlx::Connection;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use tokio::time::{Instant, sleep, timeout};

use super::target::Target;
use super::tls::{self, Tls};
use crate::database_error::{
    ADMIN_SHUTDOWN, CANNOT_CONNECT_NOW, CRASH_SHUTDOWN, INSUFFICIENT_PRIVILEGE,
    INVALID_AUTHORIZATION, INVALID_CATALOG_NAME, INVALID_PASSWORD, PROTOCOL_VIOLATION,
    TOO_MANY_CONNECTIONS, code, is_closed_before_tls,
};

/// The pause between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// The error codes of a server that cannot accept a connection now, but may soon: too many connections, shutting down,
/// starting.
const TEMPORARY: [&str; 4] = [
    TOO_MANY_CONNECTIONS,
    ADMIN_SHUTDOWN,
    CRASH_SHUTDOWN,
    CANNOT_CONNECT_NOW,
];

/// Parts of PgBouncer's messages about temporary errors, which have the same code as its other errors:
/// [`PROTOCOL_VIOLATION`], which version 1.20 and older use for all errors.
const TEMPORARY_AT_PGBOUNCER: [&str; 7] = [
    "cannot connect to server",
    "client_login_timeout",
    "connect failed",
    "max_client_conn",
    "query_wait_timeout",
    "server_login_retry",
    "shutting down",
];

/// The reason that PostgreSQL is unusable.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// The URL is malformed.
    #[error(
        "DATABASE_URL names no PostgreSQL database ({0}); write postgres://user:password@host:5432/database, with \
         characters such as `@`, `:`, `/` and `#` in the password as `%40`, `%3A`, `%2F` and `%23`"
    )]
    Url(String),
    /// A parameter is wrong, unknown, or not supported by Pennon.
    #[error("{0}")]
    Parameter(String),
    /// The server does not respond, or cannot accept a connection.
    #[error(
        "cannot reach PostgreSQL at {address}: {cause}; check that it runs there, and that DATABASE_URL names the right \
         host and port"
    )]
    Unreachable {
        /// The host and port, or the path of a socket.
        address: String,
        /// The cause of the last failure.
        cause: String,
    },
    /// The server refuses this connection, and a retry would not help.
    #[error("PostgreSQL at {address} refuses the connection: {message}; {remedy}")]
    Refused {
        /// The host and port, or the path of a socket.
        address: String,
        /// The server's message.
        message: String,
        /// The remedy.
        remedy: String,
    },
    /// The connection cannot be encrypted as the URL requires, or the server and Pennon do not trust each other.
    #[error("cannot make a TLS connection to PostgreSQL at {address}: {problem}; {remedy}")]
    Tls {
        /// The host and port.
        address: String,
        /// The failure.
        problem: String,
        /// The remedy.
        remedy: String,
    },
    /// The URL leads to a pooler in transaction mode, but does not declare it.
    #[error(
        "a notification that was sent through {address} did not arrive, so there seems to be a connection pooler in \
         transaction mode; add the parameter `pgbouncer=true` to DATABASE_URL, or connect to PostgreSQL directly"
    )]
    Pooled {
        /// The host and port, or the path of a socket.
        address: String,
    },
}

/// Connects to the server, which may still be starting: retries until the timeout, and logs the cause when it first
/// occurs and when it changes. Fails at once if a retry would not help. On success, the target contains the TLS mode
/// that worked.
pub(super) async fn reach(
    target: &mut Target,
    start_timeout: Duration,
) -> Result<PgConnection, ReachError> {
    let address = address(&target.options);
    let deadline = Instant::now() + start_timeout;
    let mut logged = None;
    loop {
        let connecting = PgConnection::connect_with(&target.options);
        let cause = match timeout(target.connect_timeout, connecting).await {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(error)) if is_temporary(&error) => cause(&error),
            Ok(Err(error)) => {
                if let Some(mode) = target.tls.alternative_to(&error) {
                    log_alternative(target, &address, mode, &error);
                    target.options = target.options.clone().ssl_mode(mode);
                    continue;
                }
                return Err(refused(
                    address,
                    &target.tls,
                    target.options.get_host(),
                    &error,
                ));
            }
            Err(_) => format!("no answer within {:?}", target.connect_timeout),
        };
        if Instant::now() >= deadline {
            return Err(ReachError::Unreachable { address, cause });
        }
        if logged.as_ref() != Some(&cause) {
            let seconds = start_timeout.as_secs();
            tracing::warn!(address, cause, seconds, "cannot reach PostgreSQL; retrying");
            logged = Some(cause);
        }
        sleep(RETRY_INTERVAL).await;
    }
}

fn log_alternative(target: &Target, address: &str, mode: PgSslMode, error: &sqlx::Error) {
    let host = target.options.get_host();
    let remedy = target.tls.explain(error, host).map(|(_, remedy)| remedy);
    let error = cause(error);
    if matches!(mode, PgSslMode::Disable) {
        tracing::warn!(
            address,
            error,
            remedy,
            "TLS to PostgreSQL failed; the connection is NOT encrypted"
        );
    } else {
        tracing::warn!(
            address,
            error,
            "PostgreSQL refuses a connection without TLS; trying again with TLS"
        );
    }
}

/// Returns the address of the server, without the secrets of the URL.
pub(super) fn address(options: &PgConnectOptions) -> String {
    let (host, port) = (options.get_host(), options.get_port());
    let socket = options.get_socket().map(|folder| folder.to_string_lossy());
    match socket.as_deref().or(host.starts_with('/').then_some(host)) {
        Some(folder) => format!("{folder}/.s.PGSQL.{port}"),
        None if host.parse::<Ipv6Addr>().is_ok() => format!("[{host}]:{port}"),
        None => format!("{host}:{port}"),
    }
}

/// Returns true if a server that is starting may cause this error.
fn is_temporary(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) => !tls::is_failure(error),
        sqlx::Error::Database(answer) => match code(error).as_deref() {
            Some(PROTOCOL_VIOLATION) => {
                let message = answer.message();
                let mut temporary = TEMPORARY_AT_PGBOUNCER.iter();
                temporary.any(|part| message.contains(part))
            }
            Some(code) => TEMPORARY.contains(&code),
            None => false,
        },
        _ => is_closed_before_tls(error),
    }
}

/// Returns the cause, without the prefix that sqlx adds.
pub(super) fn cause(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::Database(answer) => answer.message().to_owned(),
        sqlx::Error::Configuration(error) | sqlx::Error::Tls(error) => error.to_string(),
        error if is_closed_before_tls(error) => "the server closed the connection".to_owned(),
        error => error.to_string(),
    }
}

fn refused(address: String, tls: &Tls, host: &str, error: &sqlx::Error) -> ReachError {
    if let Some((problem, remedy)) = tls.explain(error, host) {
        return ReachError::Tls {
            address,
            problem,
            remedy,
        };
    }
    let message = cause(error);
    let remedy = tls
        .remedy_of_refusal(&message)
        .unwrap_or_else(|| remedy(code(error).as_deref(), &message));
    ReachError::Refused {
        address,
        remedy: remedy.to_owned(),
        message,
    }
}

fn remedy(code: Option<&str>, message: &str) -> &'static str {
    match code {
        Some(INVALID_CATALOG_NAME) => "create the database, or correct its name in DATABASE_URL",
        Some(INVALID_PASSWORD) => "correct the user or the password in DATABASE_URL",
        Some(INVALID_AUTHORIZATION) => {
            "correct the user in DATABASE_URL, or let it in by pg_hba.conf"
        }
        Some(INSUFFICIENT_PRIVILEGE) => "grant the user `connect` on the database",
        Some(PROTOCOL_VIOLATION) if message.contains("startup parameter") => {
            "remove the parameter from DATABASE_URL (or the environment), or add it to `ignore_startup_parameters` of \
             PgBouncer"
        }
        Some(_) => "the log of PostgreSQL may say more",
        None => "check that DATABASE_URL names host and port of PostgreSQL",
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    fn address_in(url: &str) -> String {
        address(&Target::parse(url, None).unwrap().options)
    }

    fn complaint_about(url: &str) -> String {
        Target::parse(url, None).err().unwrap().to_string()
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
        assert_eq!(address_in("postgres:///b?host=::1&port=6432"), "[::1]:6432");
        let socket = "/run/pg/.s.PGSQL.6432";
        assert_eq!(address_in("postgres://a@%2Frun%2Fpg:6432/b"), socket);
        assert_eq!(address_in("postgres:///b?host=/run/pg&port=6432"), socket);
    }

    #[test]
    fn an_unusable_url_is_refused_without_an_attempt() {
        let complaint = complaint_about("postgres://a:se/cret@db/b");
        assert!(complaint.contains("as `%40`"), "{complaint}");
        assert!(!complaint.contains("cret@"), "{complaint}");
    }

    /// Returns the error of starting with a server that answers every connection with an error.
    async fn complaint_after(code: &str, message: &str) -> String {
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
        let url = format!("postgres://a:secret@127.0.0.1:{port}/b?sslmode=disable");
        let mut target = Target::parse(&url, None).unwrap();
        let error = reach(&mut target, Duration::ZERO).await.unwrap_err();
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
            let complaint = complaint_after(code, "not like this").await;
            assert!(complaint.contains("refuses the connection"), "{complaint}");
            assert!(complaint.contains(remedy), "{complaint}");
        }
        for code in TEMPORARY {
            let complaint = complaint_after(code, "not now").await;
            assert!(
                complaint.starts_with("cannot reach PostgreSQL"),
                "{complaint}"
            );
        }
    }

    #[tokio::test]
    async fn a_proxy_that_closes_the_connection_is_tried_again() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                // Closing a connection that has unread bytes would reset it.
                stream.read_exact(&mut [0; 8]).await.unwrap();
            }
        });
        for mode in ["prefer", "require", "verify-full"] {
            let url = format!("postgres://a@127.0.0.1:{port}/b?sslmode={mode}");
            let mut target = Target::parse(&url, None).unwrap();
            let error = reach(&mut target, Duration::ZERO).await.unwrap_err();
            let cause = format!(
                "cannot reach PostgreSQL at 127.0.0.1:{port}: the server closed the connection"
            );
            assert!(error.to_string().starts_with(&cause), "{error}");
        }
    }

    #[tokio::test]
    async fn a_server_that_does_not_come_is_named_with_the_cause() {
        let mut target = Target::parse("postgres://a:secret@127.0.0.1:1/b", None).unwrap();
        let error = reach(&mut target, Duration::ZERO).await.unwrap_err();
        let error = error.to_string();
        let named = "cannot reach PostgreSQL at 127.0.0.1:1: Connection refused";
        assert!(error.starts_with(named), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}
