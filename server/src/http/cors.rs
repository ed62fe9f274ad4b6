//! Cross-origin access.
//!
//! Pages of any origin can call the Evaluation API. The SDK key grants access, and the page sends it explicitly:
//! browsers never add it themselves.

use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
};
use http::{HeaderMap, HeaderValue};

/// Returns true if pages of any origin can call a path. As in routing, several leading slashes count as one.
pub(super) fn is_open(path: &str) -> bool {
    let path = path.trim_start_matches('/');
    path.starts_with("sdk/") || path.starts_with("ofrep/")
}

/// Returns the response to a preflight request.
pub(super) fn preflight() -> Response {
    let permissions = [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET,HEAD,POST"),
        (
            ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization,content-type,if-none-match,x-api-key,last-event-id,x-pennon-client",
        ),
        // A day, which is the maximum in Firefox. Chromium reduces it to its own maximum of two hours.
        (ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    permissions.into_response()
}

/// Adds the headers that let pages of other origins read a response.
pub(super) fn open(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    let exposed = HeaderValue::from_static("age,etag,retry-after,x-request-id");
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
}
