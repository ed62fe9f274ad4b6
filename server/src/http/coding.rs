//! The content codings that a client accepts, and compression on the fly.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::HeaderMap;
use http::header::ACCEPT_ENCODING;
use http::request::Parts;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, DefaultPredicate, Predicate, SizeAbove};

use crate::snapshot::{Encoding, WORTH_COMPRESSING};

/// The level of compression on the fly. Higher levels take more time than they save.
const LEVEL: CompressionLevel = CompressionLevel::Precise(4);

/// Returns the layer that compresses responses for clients that accept it.
pub(super) fn compression() -> CompressionLayer<And<DefaultPredicate, SizeAbove>> {
    let is_worthwhile = DefaultPredicate::new().and(SizeAbove::new(WORTH_COMPRESSING));
    CompressionLayer::new()
        .quality(LEVEL)
        .compress_when(is_worthwhile)
}

/// The accepted coding that makes the content smallest.
pub(crate) struct Accepted(pub(crate) Encoding);

impl<S: Sync> FromRequestParts<S> for Accepted {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(if accepts(&parts.headers, "br") {
            Encoding::Brotli
        } else if accepts(&parts.headers, "gzip") {
            Encoding::Gzip
        } else {
            Encoding::Identity
        }))
    }
}

/// Returns true if `Accept-Encoding` contains the coding with a weight other than zero (RFC 9110, 12.5.3).
pub(super) fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|item| {
            let (name, weight) = item.split_once(';').unwrap_or((item, ""));
            let weight = weight.trim();
            let weight = weight.strip_prefix("q=").or(weight.strip_prefix("Q="));
            let weight = weight.unwrap_or("1");
            name.trim().eq_ignore_ascii_case(coding)
                && weight.parse::<f32>().is_ok_and(|weight| weight > 0.0)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coding_counts_when_it_is_named_with_some_weight() {
        let accepted = |value: &'static str, coding| {
            let header = http::HeaderValue::from_static(value);
            accepts(&HeaderMap::from_iter([(ACCEPT_ENCODING, header)]), coding)
        };
        assert!(accepted("gzip, deflate, br, zstd", "br"));
        assert!(accepted("GZIP;q=0.5", "gzip"));
        assert!(!accepted("br;q=0, gzip", "br"));
        assert!(!accepted("br;Q=0.0, gzip", "br"));
        assert!(!accepted("broken", "br"));
    }
}
