//! The URL at which a caller reaches the server.

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;

use super::client_address::is_forwarded_https;
use crate::config::Settings;

/// Returns true if the caller uses https, according to the public URL or, without one, to a trusted proxy.
pub(super) fn is_https(parts: &Parts, settings: &Settings) -> bool {
    match settings.public_url {
        Some(_) => settings.is_https(),
        None => is_forwarded_https(parts, &settings.trusted_proxies),
    }
}

/// Returns the scheme and host without a slash at the end: from the public URL or, without one, from the request's
/// host.
pub(super) fn base_url(parts: &Parts, settings: &Settings) -> String {
    match (&settings.public_url, host(parts)) {
        (None, Some(host)) if is_https(parts, settings) => format!("https://{host}"),
        (None, Some(host)) => format!("http://{host}"),
        _ => settings.base_url(),
    }
}

/// Returns the `Host` of a request if it is valid.
fn host(parts: &Parts) -> Option<Authority> {
    let host = parts.headers.get(HOST)?.to_str().ok()?;
    host.parse().ok()
}
