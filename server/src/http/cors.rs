//! What pages of other origins may do.

use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RETRY_AFTER};
use http::{HeaderName, Method};
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
