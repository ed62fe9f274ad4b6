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
mod held_body;
mod if_match;
mod if_none_match;
mod live_evaluations;
mod malformed;
mod metrics;
mod npm;
mod ofrep;
mod openapi;
mod parts;
mod path;
mod query;
mod reference;
mod request_id;
mod respond;
mod sdk;
mod stream_session;
mod time_limit;
mod timing;

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;
use http::{Method, StatusCode};

pub(crate) use self::admission::OnSpareConnection;
pub(crate) use self::edge::Edge;
pub(crate) use self::malformed::refusal_of_head;
pub(crate) use self::metrics::metrics_router;
use self::openapi::Routes;
use self::timing::Timing;
use crate::error::Error;
use crate::state::AppState;

/// Returns the router of the server's port.
pub(crate) fn edge(state: AppState) -> Edge {
    protected(routes(state.clone()), state)
}

/// Adds to routes what all requests have in common.
pub(crate) fn protected(routes: Router, state: AppState) -> Edge {
    let routes = match state.runtime.metrics.clone() {
        Some(metrics) => routes.layer(Timing(metrics)),
        None => routes,
    };
    Edge::new(routes, state)
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

fn routes(state: AppState) -> Router {
    Router::new()
        .route("/", get(|| async { Redirect::to(DASHBOARD) }))
        .merge(api().into_router())
        .merge(reference::page())
        .merge(dashboard::router(&state))
        .merge(npm::router())
        .fallback(async || Error::NoSuchPath)
        .method_not_allowed_fallback(other_method)
        .with_state(state)
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
