//! The address and scheme of a client, including behind proxies.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use http::HeaderMap;
use http::request::Parts;
use ipnet::IpNet;

use crate::state::AppState;

/// The address that a request comes from.
#[derive(Clone, Copy)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

impl FromRequestParts<AppState> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        Ok(Self::of(parts, &state.runtime.settings.trusted_proxies))
    }
}

impl ClientAddress {
    /// Returns the nearest address that is not a trusted proxy. This is the peer's address or, if the peer is a trusted
    /// proxy, the last entry of `X-Forwarded-For` that is not one. Entries to the left of it come from the client and
    /// cannot be trusted.
    pub(crate) fn of(parts: &Parts, trusted: &[IpNet]) -> Self {
        let mut nearest = peer(parts);
        for address in forwarded_for(&parts.headers) {
            if !is_trusted(nearest, trusted) {
                break;
            }
            let Some(address) = address else { break };
            nearest = address;
        }
        Self(nearest)
    }
}

/// Returns true if a trusted proxy reports in `X-Forwarded-Proto` that the browser uses https. If several proxies have
/// added entries, the first is that of the browser.
pub(crate) fn is_forwarded_https(parts: &Parts, trusted: &[IpNet]) -> bool {
    let scheme = parts.headers.get("x-forwarded-proto");
    let scheme = scheme.and_then(|value| value.to_str().ok()?.split(',').next());
    is_trusted(peer(parts), trusted)
        && scheme.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}

/// Returns the address of the peer.
fn peer(parts: &Parts) -> IpAddr {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(peer)| {
        peer.ip()
    });
    peer.to_canonical()
}

fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&address))
}

/// Returns the entries of `X-Forwarded-For`, last first. An entry that is not an address is none.
fn forwarded_for(headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
    let values: Vec<&[u8]> = headers
        .get_all("x-forwarded-for")
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .collect();
    values.into_iter().rev().map(address)
}

/// Returns the address in an entry of `X-Forwarded-For`. Some proxies add the port, and some put IPv6 into brackets.
fn address(entry: &[u8]) -> Option<IpAddr> {
    let entry = std::str::from_utf8(entry).ok()?.trim();
    let bracketed = entry
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let address = bracketed.unwrap_or(entry).parse().ok();
    let address = address.or_else(|| Some(entry.parse::<SocketAddr>().ok()?.ip()));
    address.as_ref().map(IpAddr::to_canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(peer: &str, header: &str, value: &str) -> Parts {
        let value = value.as_bytes();
        let request = http::Request::builder().header(header, value).body(());
        let (mut parts, ()) = request.unwrap().into_parts();
        parts
            .extensions
            .insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 1)));
        parts
    }

    fn trusted() -> [IpNet; 2] {
        ["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()]
    }

    fn address(peer: &str, forwarded: &str) -> String {
        let parts = parts(peer, "x-forwarded-for", forwarded);
        ClientAddress::of(&parts, &trusted()).0.to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed_and_only_as_far_as_they_are() {
        assert_eq!(address("203.0.113.7", "198.51.100.1"), "203.0.113.7");
        assert_eq!(address("10.0.0.1", "198.51.100.1"), "198.51.100.1");
        assert_eq!(
            address("10.0.0.1", "6.6.6.6, 198.51.100.1, 10.0.0.2"),
            "198.51.100.1"
        );
        assert_eq!(
            address("::ffff:10.0.0.1", "2001:db8::1,fd00::2"),
            "2001:db8::1"
        );
        assert_eq!(address("10.0.0.1", "nonsense"), "10.0.0.1");
        assert_eq!(address("10.0.0.1", "é, 198.51.100.1"), "198.51.100.1");
        assert_eq!(address("10.0.0.1", ""), "10.0.0.1");
    }

    #[test]
    fn a_forwarded_address_may_have_a_port_and_brackets() {
        let client = |entry| address("10.0.0.1", entry);
        assert_eq!(client("203.0.113.7:4711"), "203.0.113.7");
        assert_eq!(client("[2001:db8::1]:4711"), "2001:db8::1");
        assert_eq!(client("[2001:db8::1]"), "2001:db8::1");
        assert_eq!(client("[::ffff:203.0.113.7]:4711"), "203.0.113.7");
        assert_eq!(client("203.0.113.7:4711, 10.0.0.2:80"), "203.0.113.7");
        for nonsense in [
            "203.0.113.7:99999",
            "203.0.113.7:",
            "[2001:db8::1",
            "[]",
            ":80",
        ] {
            assert_eq!(client(nonsense), "10.0.0.1", "{nonsense}");
        }
    }

    #[test]
    fn only_a_trusted_proxy_can_say_that_the_browser_speaks_https() {
        let is_https =
            |peer, value| is_forwarded_https(&parts(peer, "x-forwarded-proto", value), &trusted());
        assert!(is_https("10.0.0.1", "https"));
        assert!(is_https("10.0.0.1", "HTTPS, http"));
        assert!(!is_https("10.0.0.1", "http, https"));
        assert!(!is_https("10.0.0.1", "httpsx"));
        assert!(!is_https("203.0.113.7", "https"));
        let other = parts("10.0.0.1", "x-forwarded-for", "https");
        assert!(!is_forwarded_https(&other, &trusted()));
    }
}
