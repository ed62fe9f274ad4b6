//! What pages of other origins may do.

use std::time::Duration;

use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, AUTHORIZATION, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, RETRY_AFTER,
};
use http::{HeaderName, HeaderValue, Method};
use tower_http::cors::{Any, CorsLayer};

/// How long browsers may remember that they may call.
const PREFLIGHT_AGE: Duration = Duration::from_hours(2);

/// Pages of any origin may call: the SDK key is what opens the door, and it is sent on purpose, never by the browser.
pub(super) fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::HEAD, Method::POST])
        .allow_headers([
            AUTHORIZATION,
            CONTENT_TYPE,
            IF_NONE_MATCH,
            HeaderName::from_static("x-api-key"),
            HeaderName::from_static("last-event-id"),
        ])
        .expose_headers([ETAG, RETRY_AFTER, HeaderName::from_static("x-request-id")])
        .max_age(PREFLIGHT_AGE)
        .vary([])
}

/// Whether [`cors`] holds for a path.
pub(super) fn is_open(path: &str) -> bool {
    path.starts_with("/sdk/") || path.starts_with("/ofrep/")
}

/// Lets pages read an answer that arose outside of [`cors`].
pub(super) fn open(response: &mut Response) {
    let any = HeaderValue::from_static("*");
    let headers = response.headers_mut();
    if headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, any).is_none() {
        let exposed = HeaderValue::from_static("retry-after,x-request-id");
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
}
