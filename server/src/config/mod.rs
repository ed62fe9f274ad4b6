//! Settings from the command line and the environment. No other module reads environment variables.

mod secrets;

use std::env;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Command, ValueEnum, value_parser};
use http::Uri;
use http::uri::Authority;
use ipnet::{IpNet, Ipv4Net};
use pennon_model::environment::ProductName;
use pennon_model::secret::Secret;
use tokio::net::lookup_host;

pub use self::secrets::{SecretError, Secrets};

/// The end of `--help`: the secrets, which have no options.
pub(crate) const SECRETS_HELP: &str = "\
Secrets are environment variables only:
  DATABASE_URL           The database, if its URL contains a password
  PENNON_ADMIN_PASSWORD  The password of the first administrator, 12 to 256 characters
                         [default: generated, and printed once]
  PENNON_JWT_SECRET      The secret that signs access tokens, at least 32 bytes
                         [default: generated, and kept in the database]
Append _FILE to a name to read the secret from a file, as in PENNON_JWT_SECRET_FILE=/run/secrets/jwt.";

/// The settings of the server. All defaults suit a single machine.
#[derive(Clone, Debug, Args)]
pub struct Settings {
    /// Address and port to listen on; a host name is allowed, such as `localhost`
    #[arg(long, env = "PENNON_LISTEN", default_value = "127.0.0.1:3000")]
    pub listen: ListenAddress,

    /// Address and port that serve Prometheus `/metrics`, such as `127.0.0.1:9464`
    ///
    /// Without it, the server collects no metrics.
    #[arg(long, env = "PENNON_METRICS_LISTEN")]
    pub metrics_listen: Option<ListenAddress>,

    /// The database.
    #[command(flatten)]
    pub database: DatabaseSettings,

    /// E-mail address of the administrator created by the first start
    #[arg(long, env = "PENNON_ADMIN_EMAIL", default_value = "admin@pennon.local")]
    pub admin_email: String,

    /// JSON file with environments, SDK keys, flags and a personal access token
    ///
    /// Applied once, to a database that has never contained an environment. Later starts ignore it.
    #[arg(long, env = "PENNON_BOOTSTRAP_FILE", value_name = "FILE")]
    pub bootstrap_file: Option<PathBuf>,

    /// URL that people and applications use, such as `https://flags.example.com`
    ///
    /// With an https URL, cookies are sent over https only. Without a public URL, the listen address is used, and
    /// cookies are limited to https if a trusted proxy sends `X-Forwarded-Proto: https`.
    #[arg(long, env = "PENNON_PUBLIC_URL", value_parser = public_url)]
    pub public_url: Option<Uri>,

    /// Callers that may install this release's npm packages from `/npm/`
    #[arg(long, env = "PENNON_NPM", default_value = "token")]
    pub npm: NpmAccess,

    /// Networks of trusted proxies, such as `10.0.0.0/8,fd00::/8`
    ///
    /// X-Forwarded-For and X-Forwarded-Proto are accepted only from these.
    #[arg(long, env = "PENNON_TRUSTED_PROXIES", value_delimiter = ',', value_parser = network)]
    pub trusted_proxies: Vec<IpNet>,

    /// Failed sign-ins per minute, per account and client address
    ///
    /// Six times as many are allowed per hour. For all accounts together, an address is allowed six times as many per
    /// minute, and its IPv6 networks /56 and /48 are allowed 12 and 24 times as many.
    #[arg(long, env = "PENNON_RATE_LIMIT_LOGIN", default_value_t = 10, value_parser = value_parser!(u32).range(1..))]
    pub rate_limit_login: u32,

    /// Requests per second for one environment on each instance; unlimited if not set
    ///
    /// Applies separately to flags that the server evaluates and to requests of clients that evaluate locally. Requests
    /// above the limit are refused with 429.
    #[arg(long, env = "PENNON_RATE_LIMIT_EVALUATE", value_parser = rate_limit)]
    pub rate_limit_evaluate: Option<NonZeroU32>,

    /// Seconds without events after which a stream sends a heartbeat
    ///
    /// Set the idle timeout of proxies to more than this.
    #[arg(long, env = "PENNON_STREAM_HEARTBEAT", default_value_t = 15, value_parser = value_parser!(u16).range(1..))]
    pub stream_heartbeat: u16,

    /// Seconds for which caches may serve the flags of a public SDK key without asking again
    ///
    /// For `GET /sdk/v1/public/{key}/config`. Caches may serve them for the same time again while they ask. With 0,
    /// they always ask first.
    #[arg(long, env = "PENNON_PUBLIC_MAX_AGE", default_value_t = 10, value_parser = value_parser!(u32).range(..=86_400))]
    pub public_max_age: u32,

    /// Maximum number of connections; more are refused with 503
    #[arg(long, env = "PENNON_MAX_CONNECTIONS", default_value_t = 10_000,
        value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub max_connections: u32,

    /// Maximum number of requests in flight; more are refused with 503
    ///
    /// Event streams do not count.
    #[arg(long, env = "PENNON_MAX_IN_FLIGHT", default_value_t = 4096,
        value_parser = value_parser!(u32).range(1..))]
    pub max_in_flight: u32,

    /// Format of the log
    #[arg(long, env = "PENNON_LOG_FORMAT", default_value = "text")]
    pub log_format: LogFormat,

    /// Products that environments can have, such as `web,mobile`; any if not set
    #[arg(long, env = "PENNON_PRODUCTS", value_delimiter = ',', value_parser = product)]
    pub products: Vec<String>,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    Text,
    /// One JSON object per event, for programs
    Json,
}

/// The callers that can install npm packages from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NpmAccess {
    /// Nobody
    Off,
    /// Everybody with a personal access token, of any role
    Token,
    /// Everybody
    Open,
}

/// The setting for the database.
#[derive(Clone, Debug, Args)]
pub struct DatabaseSettings {
    /// Database, as `sqlite://` and a file, or as a `postgres://` URL
    ///
    /// A URL with a password is refused, because other users of the machine could see it: set `DATABASE_URL` instead,
    /// or set `DATABASE_URL_FILE` to a file that contains the URL. Default without any of these:
    /// `sqlite://data/pennon.db`
    #[arg(long, value_name = "URL")]
    pub database_url: Option<Secret>,
}

impl Settings {
    /// Returns the URL that people and applications use, without a slash at the end. For a server that listens on all
    /// addresses, the host is `localhost`.
    pub fn base_url(&self) -> String {
        match (&self.public_url, &self.listen) {
            (Some(url), _) => url.to_string().trim_end_matches('/').to_owned(),
            (None, ListenAddress::Ip(address)) if address.ip().is_unspecified() => {
                format!("http://localhost:{}", address.port())
            }
            (None, listen) => format!("http://{listen}"),
        }
    }

    /// Returns the environment variables that look like settings and are none, such as misspelled ones.
    pub fn unknown_variables() -> Vec<String> {
        let settings = Self::augment_args(Command::new(""));
        let known: Vec<_> = settings
            .get_arguments()
            .filter_map(|setting| setting.get_env())
            .collect();
        let names = env::vars_os().filter(|(name, _)| !known.contains(&name.as_os_str()));
        let names = names.filter_map(|(name, _)| name.into_string().ok());
        names.filter(|name| is_misspelled(name)).collect()
    }

    /// Returns true if the public URL has the scheme https.
    pub fn is_https(&self) -> bool {
        self.public_url.as_ref().and_then(Uri::scheme_str) == Some("https")
    }
}

/// An address and a port to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// An IP address.
    Ip(SocketAddr),
    /// A host name, resolved on use.
    Name(String, u16),
}

impl ListenAddress {
    /// Returns the port; 0 stands for any free one.
    pub(crate) fn port(&self) -> u16 {
        match self {
            Self::Ip(address) => address.port(),
            Self::Name(_, port) => *port,
        }
    }

    /// Returns the addresses of the name, IPv4 first, because most clients try IPv4 first for `localhost`.
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

/// Returns true for the name of a variable that looks like a setting, and is neither a secret nor set by others:
/// Kubernetes describes the services of a namespace in variables, and scripts keep their credentials in some.
fn is_misspelled(name: &str) -> bool {
    const CREDENTIALS: [&str; 4] = [
        "PENNON_SDK_KEY",
        "PENNON_TOKEN",
        "PENNON_URL",
        "PENNON_PASSWORD",
    ];
    let is_of_kubernetes = ["_SERVICE_", "_PORT"]
        .iter()
        .any(|part| name.contains(part));
    let is_secret = secrets::NAMES.contains(&name.strip_suffix("_FILE").unwrap_or(name));
    name.starts_with("PENNON_") && !is_secret && !is_of_kubernetes && !CREDENTIALS.contains(&name)
}

fn rate_limit(text: &str) -> Result<NonZeroU32, &'static str> {
    text.parse()
        .map_err(|_| "write a number from 1, or leave the setting out for no limit")
}

/// Parses a network or a single address. An IPv4 network in the form of IPv6 becomes one of IPv4, like the addresses
/// that are compared with it.
fn network(text: &str) -> Result<IpNet, &'static str> {
    let text = text.trim();
    let single = || text.parse::<IpAddr>().map(IpNet::from);
    let network = text.parse().or_else(|_| single()).map_err(|_| {
        "write networks such as 10.0.0.0/8 or fd00::/8, with at most /32 for IPv4 and /128 for IPv6, separated by commas"
    })?;
    let IpNet::V6(mapped) = network else {
        return Ok(network);
    };
    let prefix = mapped.prefix_len().checked_sub(96);
    let address = mapped.addr().to_ipv4_mapped();
    let canonical = address
        .zip(prefix)
        .and_then(|(address, prefix)| Ipv4Net::new(address, prefix).ok());
    Ok(canonical.map_or(network, IpNet::V4))
}

/// Parses the name of a product, which spaces may surround.
fn product(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("write names of products, such as web,mobile"),
        name => match ProductName::try_from(name.to_owned()) {
            Ok(_) => Ok(name.to_owned()),
            Err(invalid) => Err(invalid.detail()),
        },
    }
}

/// Parses a URL with only a scheme and a host. The result is an origin as browsers send it: in lower case, without the
/// default port.
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
            "Pennon cannot be served below a path: write {origin}, and have the proxy forward that whole host"
        ));
    }
    origin.parse().map_err(|_| EXPECTED.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::network;
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

    #[test]
    fn an_ipv4_network_in_the_form_of_ipv6_is_one_of_ipv4() {
        for (text, expected) in [
            ("::ffff:10.0.0.1", "10.0.0.1/32"),
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("fd00::/8", "fd00::/8"),
            ("::/0", "::/0"),
        ] {
            assert_eq!(
                network(text).map(|network| network.to_string()),
                Ok(expected.to_owned())
            );
        }
    }
}
