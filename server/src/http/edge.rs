//! The outermost layer, which processes every request.

use std::borrow::Cow;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONNECTION, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use pennon_model::audit::RequestId;
use percent_encoding::percent_decode_str;
use tower::{Layer, Service};
use tower_http::normalize_path::{NormalizePath, NormalizePathLayer};
use tracing::{Instrument, Level, Span, debug_span, enabled, info_span};

use super::admission::{admit, refused};
use super::cors;
use super::dashboard::PageRequest;
use super::ofrep;
use super::request_id::{X_REQUEST_ID, identify};
use super::time_limit::guarded;
use crate::auth::secret::is_credential;
use crate::state::AppState;

/// The routes with the features common to all: the in-flight limit, the time limit, a response for panics, request
/// identifiers, logging, and response headers. A slash at the end of a path is ignored, except in a flag key.
///
/// This is one service instead of several layers, because an evaluation costs less than a handful of layers.
#[derive(Clone)]
pub(crate) struct Edge {
    state: AppState,
    routes: NormalizePath<Router>,
}

impl Edge {
    pub(super) fn new(routes: Router, state: AppState) -> Self {
        let routes = NormalizePathLayer::trim_trailing_slash().layer(routes);
        Self { state, routes }
    }

    async fn answer(mut self, mut request: Request) -> Result<Response, Infallible> {
        let id = identify(&self.state, request.headers());
        let uri = request.uri().clone();
        let is_open = cors::is_open(uri.path());
        if !is_open && let Some(Ok(id)) = id.as_ref().map(HeaderValue::to_str) {
            request.extensions_mut().insert(RequestId::new(id));
        }
        let span = span(&request, id.as_ref(), is_open);
        let began = enabled!(Level::DEBUG).then(Instant::now);
        let page = PageRequest::of(&request);
        let mut response = if is_open && request.method() == Method::OPTIONS {
            cors::preflight()
        } else {
            match admit(&self.state, request) {
                Some((request, _present)) => {
                    let response = if uri.path().starts_with(ofrep::ONE_FLAG) {
                        self.routes.get_mut().call(request)
                    } else {
                        self.routes.call(request)
                    };
                    guarded(response).instrument(span.clone()).await
                }
                None => refused(&self.state),
            }
        };
        if let Some(page) = page {
            response = page.show_problem(response).await;
        }
        if let Some(began) = began {
            let status = response.status().as_u16();
            let milliseconds = rounded_millis(began.elapsed());
            span.in_scope(|| tracing::debug!(status, milliseconds, "answered"));
        }
        if is_open && response.status() == StatusCode::INTERNAL_SERVER_ERROR {
            let id = id.as_ref().and_then(|id| id.to_str().ok());
            let path = &*without_key(uri.path());
            tracing::error!(path, id, "evaluation failed");
        }
        finish(&self.state, response.headers_mut(), is_open, id);
        Ok(response)
    }
}

/// Adds the headers of every response. Pages of other origins can read it if it is open.
pub(super) fn finish(
    state: &AppState,
    headers: &mut HeaderMap,
    is_open: bool,
    id: Option<HeaderValue>,
) {
    if is_open {
        cors::open(headers);
    }
    if state.runtime.is_draining() {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(id) = id {
        headers.insert(X_REQUEST_ID, id);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if state.runtime.settings.is_https() {
        // Do not include subdomains: they may belong to other services.
        let year = HeaderValue::from_static("max-age=31536000");
        headers.insert(STRICT_TRANSPORT_SECURITY, year);
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

impl Service<Request> for Edge {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request>::poll_ready(&mut self.routes, context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        Box::pin(self.clone().answer(request))
    }
}

/// Replaces the SDK key in a path by `{key}`, for the log: the segment after `public`, and any segment that begins like
/// a credential, in paths that do not exist too.
fn without_key(path: &str) -> Cow<'_, str> {
    let mut is_changed = false;
    let mut follows_public = false;
    let mut segments: Vec<&str> = path.split('/').collect();
    // Several slashes count as one.
    for segment in segments.iter_mut().filter(|segment| !segment.is_empty()) {
        let decoded = percent_decode_str(segment).decode_utf8_lossy();
        let is_key = follows_public || is_credential(&decoded);
        follows_public = decoded.eq_ignore_ascii_case("public");
        if is_key {
            *segment = "{key}";
            is_changed = true;
        }
    }
    if is_changed {
        Cow::Owned(segments.join("/"))
    } else {
        Cow::Borrowed(path)
    }
}

/// Returns a duration in milliseconds, rounded to microseconds.
fn rounded_millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// Returns the log span of a request. It contains neither the query nor headers, because these can contain secrets.
/// Evaluations have a span only at debug level: a span costs a tenth of an evaluation, and evaluations log almost
/// nothing.
fn span(request: &Request, id: Option<&HeaderValue>, is_evaluation: bool) -> Span {
    let (method, path) = (request.method(), request.uri().path());
    let id = id.and_then(|id| id.to_str().ok());
    if is_evaluation {
        debug_span!("request", %method, path = &*without_key(path), id)
    } else {
        info_span!("request", %method, path = &*without_key(path), id)
    }
}
