//! The address at which a caller reaches the server.

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;

use super::client_address::is_forwarded_https;
use crate::config::Settings;

/// Returns whether the caller uses https: the public URL decides, and without one a trusted proxy.
pub(super) fn is_https(parts: &Parts, settings: &Settings) -> bool {
    match settings.public_url {
        Some(_) => settings.is_https(),
        None => is_forwarded_https(parts, &settings.trusted_proxies),
    }
}

/// Returns scheme and host without a slash at the end: the public URL, and without one the host that the caller named.
pub(super) fn base_url(parts: &Parts, settings: &Settings) -> String {
    match (&settings.public_url, host(parts)) {
        (None, Some(host)) if is_https(parts, settings) => format!("https://{host}"),
        (None, Some(host)) => format!("http://{host}"),
        _ => settings.base_url(),
    }
}

/// The `Host` of a request, if it is one.
fn host(parts: &Parts) -> Option<Authority> {
    let host = parts.headers.get(HOST)?.to_str().ok()?;
    host.parse().ok()
}
