//! The HTTP interface. Only this module uses status codes.

mod admin;
mod admission;
mod all_results;
mod assets;
mod audit_export;
mod base_url;
mod body;
mod client_address;
mod code;
mod coding;
mod context;
mod cors;
mod dashboard;
pub(crate) mod duplicates;
mod edge;
mod error;
mod event_stream;
mod events;
mod existing;
pub(crate) mod fields;
mod from_json;
mod grants;
mod health;
mod if_match;
mod if_none_match;
mod live_evaluations;
mod malformed;
mod npm;
mod ofrep;
mod openapi;
mod path;
mod query;
mod reference;
mod request_id;
mod respond;
mod sdk;
mod stream_session;
mod timing;

use std::any::Any;

use axum::Router;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use http::{Method, StatusCode};
use tower_http::catch_panic::CatchPanicLayer;

pub(crate) use self::admission::OnSpareConnection;
pub(crate) use self::edge::Edge;
pub(crate) use self::malformed::refusal_of_head;
use self::openapi::Routes;
use self::timing::Timing;
pub(crate) use self::timing::metrics_router;
use crate::error::Error;
use crate::state::Service;

/// Returns the router of the service's port.
pub(crate) fn edge(service: Service) -> Edge {
    protected(routes(service.clone()), service)
}

/// Adds the time limit and a response for panics to routes.
pub(crate) fn protected(routes: Router, service: Service) -> Edge {
    let timing = Timing(service.runtime.metrics.clone());
    let routes = routes.layer((timing, CatchPanicLayer::custom(panicked)));
    Edge::new(routes, service)
}

/// The routes in the OpenAPI description.
fn api() -> Routes {
    admin::routes()
        .and(sdk::routes())
        .and(ofrep::routes())
        .and(health::routes())
        .and(reference::routes())
}

/// Returns the OpenAPI description as JSON.
pub fn description() -> String {
    let document = openapi::document(api());
    document.to_pretty_json().unwrap_or_default()
}

fn routes(service: Service) -> Router {
    Router::new()
        .route("/", get(|| async { Redirect::to(DASHBOARD) }))
        .merge(api().into_router())
        .merge(reference::page())
        .merge(dashboard::router(&service))
        .merge(npm::router())
        .fallback(async || Error::NoSuchPath)
        .method_not_allowed_fallback(other_method)
        .with_state(service)
}

/// The response to an unsupported method. axum adds `Allow`, which is also the whole response to OPTIONS.
async fn other_method(method: Method) -> Result<StatusCode, Error> {
    if method == Method::OPTIONS {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Error::MethodNotAllowed)
    }
}

/// The start page of the dashboard.
const DASHBOARD: &str = "/dashboard";

#[expect(
    clippy::needless_pass_by_value,
    reason = "the signature that the layer expects"
)]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let message = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    Error::Internal(format!("panic: {}", message.unwrap_or_default())).into_response()
}
