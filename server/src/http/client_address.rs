//! The address of a client, also behind proxies.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use http::HeaderMap;
use http::request::Parts;
use ipnet::IpNet;

use crate::service::Service;

/// Where a request comes from.
#[derive(Clone, Copy)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

impl FromRequestParts<Service> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Infallible> {
        Ok(Self::of(parts, &service.settings.trusted_proxies))
    }
}

impl ClientAddress {
    /// The nearest address that is no trusted proxy: the peer's own, or, if the peer is one, the last entry of
    /// `X-Forwarded-For` that is not. What stands further left was written by the client and proves nothing.
    pub(crate) fn of(parts: &Parts, trusted: &[IpNet]) -> Self {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(peer)| {
            peer.ip()
        });
        let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(&address));
        let mut nearest = peer.to_canonical();
        for address in forwarded_for(&parts.headers) {
            if !is_trusted(nearest) {
                break;
            }
            let Some(address) = address else { break };
            nearest = address;
        }
        Self(nearest)
    }
}

/// The entries of `X-Forwarded-For`, the last one first; none for one that is no address.
fn forwarded_for(headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
    let values: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .flat_map(|value| value.to_str().unwrap_or_default().split(','))
        .collect();
    values.into_iter().rev().map(|entry| {
        entry
            .trim()
            .parse()
            .ok()
            .map(|address: IpAddr| address.to_canonical())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(peer: &str, forwarded: &str) -> String {
        let request = http::Request::builder()
            .header("x-forwarded-for", forwarded)
            .body(());
        let (mut parts, ()) = request.unwrap().into_parts();
        parts
            .extensions
            .insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 1)));
        let trusted = ["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        ClientAddress::of(&parts, &trusted).0.to_string()
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
        assert_eq!(address("10.0.0.1", ""), "10.0.0.1");
    }
}
