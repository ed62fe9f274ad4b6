//! The HTTP surface. Nothing outside this folder knows of status codes.

mod admin;
mod admission;
mod assets;
mod body;
mod client_address;
mod code;
mod coding;
mod context;
mod cors;
mod dashboard;
mod deadline;
mod error;
pub(crate) mod fields;
mod from_json;
mod health;
mod if_match;
mod if_none_match;
mod json;
mod measure;
mod ofrep;
mod openapi;
mod path;
mod query;
mod reference;
mod request_id;
mod respond;
mod sdk;

use std::any::Any;

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Method, StatusCode, Uri};
use tower::Layer;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::normalize_path::NormalizePathLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::trace::TraceLayer;
use tracing::{Span, info_span};

use self::admission::Admission;
use self::deadline::Deadline;
use self::measure::Measure;
pub(crate) use self::measure::metrics_router;
use self::openapi::Routes;
use self::request_id::{X_REQUEST_ID, identify};
use crate::error::Error;
use crate::service::Service;

/// Everything that the service answers on its port. A slash at the end of a path makes no difference.
pub(crate) fn router(service: Service) -> Router {
    protected(routes(service.clone()), service)
}

/// Routes with what holds for all of them: bounds, an answer to every panic, an identifier, a log.
pub(crate) fn protected(routes: Router, service: Service) -> Router {
    let measure = Measure(service.metrics.clone());
    let routes = routes.layer((measure, Deadline, CatchPanicLayer::custom(panicked)));
    let routes = NormalizePathLayer::trim_trailing_slash().layer(routes);
    Router::new()
        .fallback_service(Admission(service.clone()).layer(routes))
        .layer((
            from_fn_with_state(service, identify),
            SetResponseHeaderLayer::if_not_present(
                CACHE_CONTROL,
                HeaderValue::from_static("no-store"),
            ),
            SetResponseHeaderLayer::overriding(
                X_CONTENT_TYPE_OPTIONS,
                HeaderValue::from_static("nosniff"),
            ),
            TraceLayer::new_for_http().make_span_with(span),
        ))
}

/// Everything that the API's description speaks of.
fn api() -> Routes {
    admin::routes()
        .and(sdk::routes())
        .and(ofrep::routes())
        .and(health::routes())
        .and(reference::routes())
}

/// The API's description, as JSON.
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
        .fallback(async || Error::NoSuchPath)
        .method_not_allowed_fallback(other_method)
        .with_state(service)
}

/// The answer to a method that the path does not know. `Allow` is added to it, which is all that OPTIONS asks for.
async fn other_method(method: Method) -> Result<StatusCode, Error> {
    if method == Method::OPTIONS {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Error::MethodNotAllowed)
    }
}

/// Where the dashboard begins.
const DASHBOARD: &str = "/dashboard";

/// What the log knows of a request: neither its query nor its headers, which may hold secrets.
fn span(request: &Request) -> Span {
    let (method, uri): (&Method, &Uri) = (request.method(), request.uri());
    let id = request
        .headers()
        .get(X_REQUEST_ID)
        .and_then(|id| id.to_str().ok());
    info_span!("request", %method, path = uri.path(), id)
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
