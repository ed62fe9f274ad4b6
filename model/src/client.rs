//! The npm packages that fetch config documents, and their versions.

use std::cmp::Ordering;
use std::fmt;

pub use semver::Version;

use crate::time::Timestamp;
use pennon_core::string_enum;

/// The maximum size of an `X-Pennon-Client` header, in bytes.
const MAX_HEADER: usize = 64;

/// The text in place of a version that is newer than the server's.
const NEWER: &str = "newer";

string_enum! {
    /// An npm package that fetches config documents.
    pub enum Package {
        /// The client itself.
        Core = "@pennon/core",
        /// For `NestJS`.
        Nest = "@pennon/nest",
        /// For Next.js.
        Next = "@pennon/next",
        /// The providers for OpenFeature.
        OpenFeature = "@pennon/openfeature",
        /// For React.
        React = "@pennon/react",
    }
    else "must be a Pennon package, such as `@pennon/core`"
}

/// A client in the usage counts, by package and version unless the version is newer than the server's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// A package in a version up to the server's.
    Known(Package, Version),
    /// A package in any later version.
    Newer(Package),
    /// Any other client, and clients without a name.
    Other,
}

/// The requests of a client for config documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientUsage {
    /// The client.
    pub client: Client,
    /// The number of fetches.
    pub polls: i64,
    /// The number of streams that it opened.
    pub streams: i64,
    /// The time of the last fetch or of the last open stream, to the minute.
    pub last_seen_at: Timestamp,
}

impl Client {
    /// Parses the `X-Pennon-Client` header: a package, a slash, and a version without build metadata, in at most 64
    /// bytes. All versions after `server` count as one. Any other value is [`Client::Other`].
    pub fn from_header(value: &str, server: &Version) -> Self {
        if value.len() > MAX_HEADER {
            return Self::Other;
        }
        match parse_name(value) {
            Some((package, version)) => match version.cmp_precedence(server) {
                Ordering::Greater => Self::Newer(package),
                Ordering::Less | Ordering::Equal => Self::Known(package, version),
            },
            None => Self::Other,
        }
    }

    /// Parses the output of [`Display`](fmt::Display).
    pub fn from_text(text: &str) -> Self {
        if let Some((package, version)) = parse_name(text) {
            return Self::Known(package, version);
        }
        let newer = text
            .rsplit_once('/')
            .filter(|(_, version)| *version == NEWER);
        let package = newer.and_then(|(package, _)| Package::parse(package).ok());
        package.map_or(Self::Other, Self::Newer)
    }

    /// Returns the package, if it is known.
    pub const fn package(&self) -> Option<Package> {
        match self {
            Self::Known(package, _) | Self::Newer(package) => Some(*package),
            Self::Other => None,
        }
    }

    /// Returns the text for the version: `newer` for one after the server's, none if the package is not known.
    pub fn version(&self) -> Option<String> {
        match self {
            Self::Known(_, version) => Some(version.to_string()),
            Self::Newer(_) => Some(NEWER.to_owned()),
            Self::Other => None,
        }
    }
}

/// Parses the package and version of a name such as `@pennon/core/1.2.3`.
fn parse_name(text: &str) -> Option<(Package, Version)> {
    let (package, version) = text.rsplit_once('/')?;
    let package = Package::parse(package).ok()?;
    let version = Version::parse(version).ok()?;
    version.build.is_empty().then_some((package, version))
}

/// Formats `@pennon/core/1.2.3`, `@pennon/core/newer` or `other`.
impl fmt::Display for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(package, version) => write!(formatter, "{package}/{version}"),
            Self::Newer(package) => write!(formatter, "{package}/{NEWER}"),
            Self::Other => formatter.write_str("other"),
        }
    }
}

/// The number of fetches and of opened streams of a client. A stream that only stays open adds to neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientRequests {
    /// The number of fetches.
    pub polls: u64,
    /// The number of streams that it opened.
    pub streams: u64,
}

impl ClientRequests {
    /// Adds the counts of further requests.
    pub fn add(&mut self, more: Self) {
        self.polls = self.polls.saturating_add(more.polls);
        self.streams = self.streams.saturating_add(more.streams);
    }
}

#[cfg(test)]
mod tests {
    use super::{Client, Package, Version};

    #[test]
    fn a_client_is_read_as_it_was_written_and_anything_else_is_another_client() {
        for client in [
            Client::Known(Package::Core, Version::new(0, 1, 0)),
            Client::Newer(Package::React),
            Client::Other,
        ] {
            assert_eq!(Client::from_text(&client.to_string()), client);
        }
        for text in ["", "@pennon/core", "@pennon/core/latest", "shop/newer"] {
            assert_eq!(Client::from_text(text), Client::Other, "{text}");
        }
    }
}
