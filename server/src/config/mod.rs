//! The settings, from the command line or the environment; nothing else reads the environment.

mod secrets;

use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum, value_parser};
use http::Uri;
use http::uri::Authority;
use ipnet::IpNet;
use pennon_model::secret::Secret;
use tokio::net::lookup_host;

pub use self::secrets::{SecretError, Secrets};

/// The end of `--help`: the secrets, which are no options.
pub(crate) const SECRETS_HELP: &str = "\
Secrets are environment variables only:
  DATABASE_URL           The database, if its URL contains a password
  PENNON_ADMIN_PASSWORD  The password of the first administrator, 12 to 256 characters
                         [default: generated, and printed once]
  PENNON_JWT_SECRET      The secret that signs access tokens, at least 32 bytes
                         [default: generated, and kept in the database]
Append _FILE to a name to read the secret from a file, as in PENNON_JWT_SECRET_FILE=/run/secrets/jwt.";

/// The settings of the server. Every one has a default that works on one machine.
#[derive(Clone, Debug, Args)]
pub struct Settings {
    /// The address and port to listen on. The address may be a name, such as `localhost`.
    #[arg(long, env = "PENNON_LISTEN", default_value = "127.0.0.1:3000")]
    pub listen: ListenAddress,

    /// The address and port at which Prometheus finds `/metrics`, such as `127.0.0.1:9464`. Without it nothing is
    /// measured.
    #[arg(long, env = "PENNON_METRICS_LISTEN")]
    pub metrics_listen: Option<ListenAddress>,

    /// The location of the data.
    #[command(flatten)]
    pub database: DatabaseSettings,

    /// The e-mail address of the administrator who is created on the first start.
    #[arg(long, env = "PENNON_ADMIN_EMAIL", default_value = "admin@pennon.local")]
    pub admin_email: String,

    /// A JSON file with environments, SDK keys, flags and a personal access token, which is applied once: to a database
    /// that has never held an environment. Later starts ignore it.
    #[arg(long, env = "PENNON_BOOTSTRAP_FILE", value_name = "FILE")]
    pub bootstrap_file: Option<PathBuf>,

    /// The address that people and applications use, such as `https://flags.example.com`. It decides whether cookies
    /// are for https only. Without it the address listened on counts, and `X-Forwarded-Proto: https` from a trusted
    /// proxy makes cookies be for https only.
    #[arg(long, env = "PENNON_PUBLIC_URL", value_parser = public_url)]
    pub public_url: Option<Uri>,

    /// The callers that may install the npm packages of this release from `/npm/`.
    #[arg(long, env = "PENNON_NPM", default_value = "token")]
    pub npm: NpmAccess,

    /// The networks of the proxies in front, such as `10.0.0.0/8,fd00::/8`. Only their X-Forwarded-For
    /// and X-Forwarded-Proto are believed.
    #[arg(long, env = "PENNON_TRUSTED_PROXIES", value_delimiter = ',', value_parser = network)]
    pub trusted_proxies: Vec<IpNet>,

    /// The number of failed sign-ins per minute that an account may have from one address; six times as many per hour.
    /// For all accounts together, the address may have six times as many per minute, and its IPv6 networks /56 and /48
    /// may have 12 and 24 times as many.
    #[arg(long, env = "PENNON_RATE_LIMIT_LOGIN", default_value_t = 10)]
    pub rate_limit_login: u32,

    /// The number of requests per second that an environment may make to each instance: this many for flags that the
    /// server evaluates, and this many again from clients that evaluate locally. More are refused with 429. Unlimited
    /// if not set.
    #[arg(long, env = "PENNON_RATE_LIMIT_EVALUATE")]
    pub rate_limit_evaluate: Option<NonZeroU32>,

    /// The number of seconds after which a silent stream of changes sends a heartbeat. Proxies that close silent
    /// connections must wait longer.
    #[arg(long, env = "PENNON_STREAM_HEARTBEAT", default_value_t = 15, value_parser = value_parser!(u16).range(1..))]
    pub stream_heartbeat: u16,

    /// The maximum number of connections; more are refused with 503.
    #[arg(long, env = "PENNON_MAX_CONNECTIONS", default_value_t = 10_000,
        value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub max_connections: u32,

    /// The maximum number of requests in flight; more are refused with 503. Streams of events do not count.
    #[arg(long, env = "PENNON_MAX_IN_FLIGHT", default_value_t = 4096,
        value_parser = value_parser!(u32).range(1..))]
    pub max_in_flight: u32,

    /// The format of the log.
    #[arg(long, env = "PENNON_LOG_FORMAT", default_value = "text")]
    pub log_format: LogFormat,

    /// The products that environments may belong to, such as `web,mobile`; any product if not set.
    #[arg(long, env = "PENNON_PRODUCTS", value_delimiter = ',')]
    pub products: Vec<String>,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object each, for programs.
    Json,
}

/// The callers that may install npm packages from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NpmAccess {
    /// Nobody.
    Off,
    /// Everybody with a personal access token, of any role.
    Token,
    /// Everybody.
    Open,
}

/// The location of the data.
#[derive(Clone, Debug, Args)]
pub struct DatabaseSettings {
    /// The database: `sqlite://` and a file, or `postgres://` and a database. A URL that contains a password is
    /// refused, because other users of the machine could see it: set `DATABASE_URL`, or `DATABASE_URL_FILE` to a file
    /// that contains the URL. Default without any of them: `sqlite://data/pennon.db`
    #[arg(long, value_name = "URL")]
    pub database_url: Option<Secret>,
}

impl Settings {
    /// The address that people and applications use, without a slash at its end. A server that listens on all addresses
    /// is reached at `localhost`.
    pub fn base_url(&self) -> String {
        match (&self.public_url, &self.listen) {
            (Some(url), _) => url.to_string().trim_end_matches('/').to_owned(),
            (None, ListenAddress::Ip(address)) if address.ip().is_unspecified() => {
                format!("http://localhost:{}", address.port())
            }
            (None, listen) => format!("http://{listen}"),
        }
    }

    /// Returns true if people reach the service by https.
    pub fn is_https(&self) -> bool {
        self.public_url.as_ref().and_then(Uri::scheme_str) == Some("https")
    }
}

/// An address and a port to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// An IP address.
    Ip(SocketAddr),
    /// A name, which is resolved when it is needed.
    Name(String, u16),
}

impl ListenAddress {
    /// Returns the addresses of the name, IPv4 first: most clients try it first for `localhost`.
    pub(crate) async fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        if let Self::Ip(address) = self {
            return Ok(vec![*address]);
        }
        let mut addresses: Vec<SocketAddr> = lookup_host(self.to_string()).await?.collect();
        addresses.sort_by_key(SocketAddr::is_ipv6);
        Ok(addresses)
    }
}

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str =
            "write an address and a port, such as 127.0.0.1:3000, [::1]:3000 or localhost:3000";
        if let Ok(address) = text.parse() {
            return Ok(Self::Ip(address));
        }
        let (name, port) = text.rsplit_once(':').ok_or(EXPECTED)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        match port.parse() {
            Ok(port) if !name.is_empty() && name.chars().all(is_name) => {
                Ok(Self::Name(name.to_owned(), port))
            }
            _ => Err(EXPECTED),
        }
    }
}

impl Display for ListenAddress {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(address) => address.fmt(f),
            Self::Name(name, port) => write!(f, "{name}:{port}"),
        }
    }
}

/// A network, or a single address.
fn network(text: &str) -> Result<IpNet, &'static str> {
    let text = text.trim();
    let single = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse().or_else(|_| single()).map_err(|_| {
        "write networks such as 10.0.0.0/8 or fd00::/8, with at most /32 for IPv4 and /128 for IPv6, separated by commas"
    })
}

/// An address with scheme and host and nothing behind them, in the form in which browsers name an origin: in lower
/// case, without the usual port.
fn public_url(text: &str) -> Result<Uri, String> {
    const EXPECTED: &str = "write an address such as https://flags.example.com";
    let url: Uri = text.to_ascii_lowercase().parse().map_err(|_| EXPECTED)?;
    let (Some(scheme @ ("http" | "https")), Some(host)) = (url.scheme_str(), url.host()) else {
        return Err(EXPECTED.to_owned());
    };
    let port = url.port_u16().map(|port| format!(":{port}"));
    let port = port.unwrap_or_default();
    if url.authority().map(Authority::as_str) != Some(&format!("{host}{port}")) {
        return Err(EXPECTED.to_owned());
    }
    let origin = match (scheme, port.as_str()) {
        ("http", ":80") | ("https", ":443") => format!("{scheme}://{host}"),
        _ => format!("{scheme}://{host}{port}"),
    };
    if url.path() != "/" || url.query().is_some() {
        return Err(format!(
            "Pennon cannot be served below a path, so write {origin} and let the proxy pass on all of that host"
        ));
    }
    origin.parse().map_err(|_| EXPECTED.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::cli::CommandLine;

    fn base_url(arguments: &[&str]) -> String {
        let arguments = ["pennon"].iter().chain(arguments);
        let parsed = CommandLine::try_parse_from(arguments).unwrap();
        parsed.settings.base_url()
    }

    #[test]
    fn a_server_that_listens_on_all_addresses_names_one_that_can_be_opened() {
        assert_eq!(
            base_url(&["--listen", "0.0.0.0:3000"]),
            "http://localhost:3000"
        );
        assert_eq!(base_url(&["--listen", "[::]:80"]), "http://localhost:80");
        assert_eq!(
            base_url(&["--listen", "10.0.0.7:3000"]),
            "http://10.0.0.7:3000"
        );
    }
}
