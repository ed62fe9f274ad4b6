//! A PostgreSQL database as given by a URL. Every parameter of the URL either has an effect or is an error, because an
//! ignored parameter may be one for security.

use std::str::FromStr;
use std::time::Duration;

use form_urlencoded::{Serializer, parse};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use uuid::Uuid;

use super::reach::ReachError;
use super::statements::Statements;
use super::tls::{Tls, TlsParameters};

/// The time limit for one attempt to connect, unless `connect_timeout` sets another. A server that drops packets
/// instead of refusing them never responds.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// The maximum length of the URL's `application_name`, in bytes. With the parts that Pennon adds, it must fit into the
/// 63 bytes that the server keeps.
const NAME_BYTES: usize = 16;

/// Parameters that sqlx understands.
const PASSED_ON: [&str; 8] = [
    "application_name",
    "dbname",
    "host",
    "options",
    "password",
    "port",
    "statement-cache-capacity",
    "user",
];

/// Parameters whose effect is fixed: their permitted values, and the end of the error message about other values.
const GIVEN: [(&str, &[&str], &str); 9] = [
    (
        "channel_binding",
        &["disable", "prefer"],
        ", and use `sslmode=verify-full`, which verifies the server's identity",
    ),
    (
        "client_encoding",
        &["utf8", "UTF8", "utf-8", "UTF-8", "auto"],
        "; Pennon uses UTF-8",
    ),
    (
        "gssencmode",
        &["disable", "prefer"],
        ", and use TLS (`sslmode`) instead",
    ),
    (
        "load_balance_hosts",
        &["disable"],
        "; Pennon connects to one host",
    ),
    ("sslcompression", &["0"], "; TLS is never compressed"),
    (
        "sslnegotiation",
        &["postgres"],
        "; Pennon asks the server for TLS first",
    ),
    ("sslsni", &["1"], "; Pennon always sends the host"),
    (
        "ssl_min_protocol_version",
        &["TLSv1", "TLSv1.1", "TLSv1.2"],
        ", and set it at the server; Pennon uses TLS 1.2 and 1.3",
    ),
    (
        "target_session_attrs",
        &["any", "read-write", "primary"],
        "; Pennon writes, so it needs the primary",
    ),
];

/// A database on a server, and how to connect to it.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) options: PgConnectOptions,
    pub(super) tls: Tls,
    /// True with `pgbouncer=true`: the URL leads to a pooler in transaction mode.
    pub(super) pooled: bool,
    pub(super) connect_timeout: Duration,
}

/// The parameters of a URL, by the code that handles them.
#[derive(Default)]
struct Parameters {
    passed_on: Vec<(String, String)>,
    tls: TlsParameters,
    pooled: bool,
    connect_timeout: Option<Duration>,
    fallback_name: Option<String>,
}

impl Target {
    /// Parses a URL. The name of the connections includes `instance`, so that an administrator of the server can see
    /// which instance opened them.
    pub(super) fn parse(url: &str, instance: Option<Uuid>) -> Result<Self, ReachError> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let parameters = Parameters::parse(query).map_err(ReachError::Parameter)?;
        if parameters.hosts(base).any(|host| host.contains(',')) {
            let problem = "DATABASE_URL names several hosts; name one, which leads to the primary";
            return Err(ReachError::Parameter(problem.to_owned()));
        }
        let query = Serializer::new(String::new())
            .extend_pairs(&parameters.passed_on)
            .finish();
        let options = PgConnectOptions::from_str(&format!("{base}?{query}"))
            .map_err(|error| ReachError::Url(super::reach::cause(&error)))?;
        // A URL has IPv6 addresses in brackets, but a resolver does not accept brackets.
        let host = options.get_host().trim_matches(['[', ']']).to_owned();
        let options = options.host(&host);
        let (mut options, tls) = parameters
            .tls
            .apply(options)
            .map_err(|problem| ReachError::Parameter(format!("DATABASE_URL: {problem}")))?;
        if parameters.pooled {
            options = options.statement_cache_capacity(0);
        }
        let name = options.get_application_name().map(str::to_owned);
        let name = name.or(parameters.fallback_name);
        let name = instance_name(name.as_deref().unwrap_or("pennon"), instance);
        Ok(Self {
            // `extra_float_digits` is not needed, because no column has floating-point numbers, and poolers refuse
            // parameters that they do not know.
            options: options.application_name(&name).extra_float_digits(None),
            tls,
            pooled: parameters.pooled,
            connect_timeout: parameters.connect_timeout.unwrap_or(CONNECT_TIMEOUT),
        })
    }

    /// Returns the options for connections of one purpose, which is part of their name on the server.
    pub(super) fn options_for(&self, purpose: &str) -> PgConnectOptions {
        let name = self.options.get_application_name().unwrap_or_default();
        self.options
            .clone()
            .application_name(&format!("{name} {purpose}"))
    }

    /// Returns a connection that executes its statements in the way that the target requires.
    pub(super) fn statements<'c>(&self, connection: &'c mut PgConnection) -> Statements<'c> {
        Statements::on(connection, self.pooled)
    }

    /// Returns the address and the name of the database.
    pub(super) fn location(&self) -> String {
        let options = &self.options;
        let server = match options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", options.get_host(), options.get_port()),
        };
        // Like libpq, the server uses the name of the user by default.
        let database = options.get_database().unwrap_or(options.get_username());
        format!("postgres://{server}/{database}")
    }
}

impl Parameters {
    fn parse(query: &str) -> Result<Self, String> {
        let mut parameters = Self::default();
        for (name, value) in parse(query.as_bytes()) {
            let taken = parameters.take(&name, value.into_owned());
            // The text before an `@` may be part of a password in which `?` is not encoded.
            taken.map_err(|error| {
                if query.contains('@') {
                    UNREADABLE.to_owned()
                } else {
                    error
                }
            })?;
        }
        Ok(parameters)
    }

    /// Returns the parts that contain host names: the authority of the URL, and the parameter `host`.
    fn hosts<'a>(&'a self, base: &'a str) -> impl Iterator<Item = &'a str> {
        let (_, authority) = base.split_once("://").unwrap_or_default();
        let authority = authority.split('/').next().unwrap_or_default();
        let hosts = authority.rsplit('@').next();
        let is_host = |(name, _): &&(String, String)| name == "host";
        let named = self.passed_on.iter().filter(is_host);
        hosts
            .into_iter()
            .chain(named.map(|(_, value)| value.as_str()))
    }

    fn take(&mut self, name: &str, value: String) -> Result<(), String> {
        match name {
            "sslmode" | "ssl-mode" => self.tls.mode = Some(value),
            // The same meaning as in libpq, for URLs that were written for JDBC.
            "ssl" if value == "true" => self.tls.mode = Some("require".to_owned()),
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" => self.tls.root = Some(value),
            "sslcert" | "ssl-cert" => self.tls.certificate = Some(value),
            "sslkey" | "ssl-key" => self.tls.key = Some(value),
            "pgbouncer" => self.pooled = flag(name, &value)?,
            "connect_timeout" => self.connect_timeout = connect_timeout(&value)?,
            "fallback_application_name" => self.fallback_name = Some(value),
            _ if PASSED_ON.contains(&name) || name.starts_with("options[") => {
                self.passed_on.push((name.to_owned(), value));
            }
            _ => check_given(name, &value)?,
        }
        Ok(())
    }
}

fn flag(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("`{name}` in DATABASE_URL must be true or false")),
    }
}

/// Parses a number of seconds. Zero or a negative number selects the default.
fn connect_timeout(value: &str) -> Result<Option<Duration>, String> {
    let seconds: i32 = value
        .parse()
        .map_err(|_| "`connect_timeout` in DATABASE_URL must be a number of seconds".to_owned())?;
    let seconds = u64::try_from(seconds).unwrap_or_default();
    Ok((seconds > 0).then(|| Duration::from_secs(seconds)))
}

/// The error of a query that shows none of its text.
const UNREADABLE: &str = "the parameters of DATABASE_URL cannot be read; a `?` in the user or password must be written as `%3F`";

fn check_given(name: &str, value: &str) -> Result<(), String> {
    if let Some((_, values, advice)) = GIVEN.iter().find(|(known, _, _)| *known == name) {
        return if values.contains(&value) {
            Ok(())
        } else {
            Err(format!(
                "Pennon does not support `{name}={value}` in DATABASE_URL; remove it{advice}"
            ))
        };
    }
    // Text that is not a name may be part of a password in which `?` is not encoded.
    let is_name = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    Err(if is_name(name) {
        format!("DATABASE_URL has the parameter `{name}`, which Pennon does not know; remove it")
    } else {
        UNREADABLE.to_owned()
    })
}

fn instance_name(name: &str, instance: Option<Uuid>) -> String {
    match instance {
        Some(instance) => {
            let name = name.chars().filter(char::is_ascii).take(NAME_BYTES);
            format!("{} {instance}", name.collect::<String>())
        }
        None => name.to_owned(),
    }
}
