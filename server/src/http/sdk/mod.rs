//! The Evaluation API.

mod config;
mod context;
mod evaluate;
mod json;
mod questions;

use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RETRY_AFTER};
use http::{HeaderName, Method};
use tower_http::cors::{Any, CorsLayer};

use super::code::Code;
use super::openapi::{Routes, route};
use crate::error::Error;

/// How long browsers may remember that they may call.
const PREFLIGHT_AGE: Duration = Duration::from_hours(2);

pub(super) fn routes() -> Routes {
    Routes::group(
        "Evaluation",
        "What applications ask, with the SDK key of their environment. Pages of any origin may call.",
    )
    .with(route!(evaluate::one).refuses(&[Code::FlagNotFound]))
    .with(route!(evaluate::batch))
    .with(route!(config::config))
    .below("/sdk/v1", |router| {
        // The fallbacks stand here too, inside the layer, so that browsers may read these errors as well.
        router
            .fallback(async || Error::NoSuchPath)
            .method_not_allowed_fallback(async || Error::MethodNotAllowed)
            .layer(cors())
    })
}

/// Pages of any origin may call: the SDK key is what opens the door, and it is sent on purpose, never by the browser.
fn cors() -> CorsLayer {
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
