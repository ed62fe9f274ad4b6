//! The HTTP surface. Nothing outside this folder knows of status codes.

mod admin;
mod assets;
mod body;
mod client_address;
mod coding;
mod dashboard;
mod error;
mod health;
mod path;
mod query;
mod respond;
mod sdk;

use std::any::Any;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Method, Uri};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::trace::TraceLayer;
use tracing::{Span, info_span};

use crate::error::Error;
use crate::service::Service;

/// Everything that the service answers on its port.
pub fn router(service: Service) -> Router {
    Router::new()
        .route("/", get(|| async { Redirect::to(DASHBOARD) }))
        .merge(health::router())
        .merge(admin::router())
        .merge(sdk::router())
        .merge(dashboard::router(&service))
        .fallback(async || Error::NoSuchPath)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .with_state(service)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(SetResponseHeaderLayer::if_not_present(
            CACHE_CONTROL,
            HeaderValue::from_static("no-store"),
        ))
        .layer(SetResponseHeaderLayer::overriding(
            X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ))
        .layer(TraceLayer::new_for_http().make_span_with(span))
}

/// Where the dashboard begins.
const DASHBOARD: &str = "/dashboard";

/// What the log knows of a request: neither its query nor its headers, which may hold secrets.
fn span(request: &Request) -> Span {
    let (method, uri): (&Method, &Uri) = (request.method(), request.uri());
    info_span!("request", %method, path = uri.path())
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the layer hands it over like this"
)]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let message = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    Error::Internal(format!("panic: {}", message.unwrap_or_default())).into_response()
}
