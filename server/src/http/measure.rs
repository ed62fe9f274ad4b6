//! How long requests take, by route.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, http::Method};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use prometheus::Histogram;
use tower::{Layer, Service as Tower};

use crate::error::Error;
use crate::metrics::{Levels, Metrics};
use crate::state::Service;

/// What the service answers to Prometheus, on a port of its own.
pub(crate) fn metrics_router(service: Service) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .fallback(async || Error::NoSuchPath)
        .with_state(service)
}

async fn metrics(State(service): State<Service>) -> Result<Response, Error> {
    let metrics = service.runtime.metrics.as_ref().ok_or(Error::NoSuchPath)?;
    let text = metrics.text(&levels(&service))?;
    Ok(([(CONTENT_TYPE, prometheus::TEXT_FORMAT)], text).into_response())
}

/// The levels of this moment.
fn levels(service: &Service) -> Levels {
    let (environments, flags) = service.serving.snapshots.size();
    Levels {
        environments,
        flags,
        requests: service.runtime.in_flight.requests.count(),
        connections: service.runtime.in_flight.connections.count(),
        database_answers: service.serving.database_answers(),
        storage_full: service.serving.storage_is_full(),
        snapshot_age: service.serving.age(),
    }
}

/// Measures each route, if there is anybody to tell.
#[derive(Clone)]
pub(super) struct Measure(pub(super) Option<Arc<Metrics>>);

impl<S> Layer<S> for Measure {
    type Service = Measured<S>;

    fn layer(&self, inner: S) -> Measured<S> {
        Measured {
            inner,
            metrics: self.0.clone(),
            route: Arc::default(),
        }
    }
}

/// One route. Its histograms are looked up once each, so that a request costs a few atomic additions.
#[derive(Clone)]
pub(super) struct Measured<S> {
    inner: S,
    metrics: Option<Arc<Metrics>>,
    route: Arc<OnceLock<Route>>,
}

type Answer = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

impl<S> Tower<Request> for Measured<S>
where
    S: Tower<Request, Response = Response, Error = Infallible, Future = Answer>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Answer {
        let Some(metrics) = self.metrics.clone() else {
            return self.inner.call(request);
        };
        let route = Arc::clone(&self.route);
        let path = request.extensions().get::<MatchedPath>().cloned();
        let method = known(request.method());
        let since = Instant::now();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let response = answer.await?;
            let seconds = since.elapsed().as_secs_f64();
            let path = path.as_ref().map_or("none", MatchedPath::as_str);
            route
                .get_or_init(|| Route::new(path))
                .histogram(&metrics, path, method, response.status())
                .observe(seconds);
            Ok(response)
        })
    }
}

/// The methods that there are; whatever else somebody thinks up is one of its own.
const METHODS: [&str; 8] = [
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "other",
];

fn known(method: &Method) -> usize {
    let position = METHODS.iter().position(|known| method == known);
    position.unwrap_or(METHODS.len() - 1)
}

/// The histograms of one route: one for each method and status, made when it is first needed.
struct Route {
    path: Box<str>,
    histograms: Vec<OnceLock<Histogram>>,
}

/// The statuses that the service answers with; another one costs a look-up.
const STATUSES: [u16; 20] = [
    200, 201, 204, 303, 304, 307, 400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 422, 429, 500,
    503,
];

impl Route {
    fn new(path: &str) -> Self {
        let histograms = METHODS.len() * STATUSES.len();
        Self {
            path: path.into(),
            histograms: (0..histograms).map(|_| OnceLock::new()).collect(),
        }
    }

    fn histogram(
        &self,
        metrics: &Metrics,
        path: &str,
        method: usize,
        status: StatusCode,
    ) -> Histogram {
        let position = STATUSES.iter().position(|known| status == *known);
        let own = position
            // Whatever the router makes of layers, nothing is counted in another route's place.
            .filter(|_| *self.path == *path)
            .and_then(|position| self.histograms.get(method * STATUSES.len() + position));
        let look_up = || {
            let method = METHODS.get(method).copied().unwrap_or_default();
            metrics.durations(method, path, status.as_str())
        };
        own.map_or_else(look_up, |own| own.get_or_init(look_up).clone())
    }
}
