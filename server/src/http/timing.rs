//! Measured response times by route.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode};
use prometheus::Histogram;
use tower::{Layer, Service};

use super::time_limit::guarded;
use crate::metrics::Metrics;

/// Measures each route.
#[derive(Clone)]
pub(super) struct Timing(pub(super) Arc<Metrics>);

impl<S> Layer<S> for Timing {
    type Service = Timed<S>;

    fn layer(&self, inner: S) -> Timed<S> {
        Timed {
            inner,
            metrics: Arc::clone(&self.0),
            route: Arc::default(),
        }
    }
}

/// One route. Each of its histograms is looked up once, so that measuring a request costs a few atomic additions.
#[derive(Clone)]
pub(super) struct Timed<S> {
    inner: S,
    metrics: Arc<Metrics>,
    route: Arc<OnceLock<Route>>,
}

impl<S> Timed<S> {
    /// Starts to measure the time until the response's status is known.
    fn stopwatch(&self, request: &Request) -> impl FnOnce(StatusCode) + Send + use<S> {
        let (metrics, route) = (Arc::clone(&self.metrics), Arc::clone(&self.route));
        let path = request.extensions().get::<MatchedPath>().cloned();
        let method = known(request.method());
        let since = Instant::now();
        move |status: StatusCode| {
            let path = path.as_ref().map_or("none", MatchedPath::as_str);
            route
                .get_or_init(|| Route::new(path))
                .histogram(&metrics, path, method, status)
                .observe(since.elapsed().as_secs_f64());
        }
    }
}

impl<S> Service<Request> for Timed<S>
where
    S: Service<Request, Error = Infallible> + 'static,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let stop = self.stopwatch(&request);
        let answer = self.inner.call(request);
        Box::pin(async move {
            // `Edge` does this for every route. Here, it lets requests that exceed the time limit or panic be measured.
            let response = guarded(async { Ok(answer.await?.into_response()) }).await;
            stop(response.status());
            Ok(response)
        })
    }
}

/// The labels of methods. Unknown methods share the last label.
const METHODS: [&str; 8] = [
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "other",
];

fn known(method: &Method) -> usize {
    let position = METHODS.iter().position(|known| method == known);
    position.unwrap_or(METHODS.len() - 1)
}

/// The histograms of one route: one for each method and status, created on first use.
struct Route {
    path: Box<str>,
    histograms: Vec<OnceLock<Histogram>>,
}

/// The statuses whose histograms are cached. Other statuses cost a lookup.
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
            // Prevents counting a request for another route, however the router applies layers.
            .filter(|_| *self.path == *path)
            .and_then(|position| self.histograms.get(method * STATUSES.len() + position));
        let look_up = || {
            let method = METHODS.get(method).copied().unwrap_or_default();
            metrics.durations(method, path, status.as_str())
        };
        own.map_or_else(look_up, |own| own.get_or_init(look_up).clone())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use tokio::time::timeout;
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_that_exceed_the_time_limit_or_panic_are_measured() {
        let metrics = Arc::new(Metrics::new().unwrap());
        let panics = async || -> &'static str { panic!("a bug") };
        let app = Router::new()
            .route("/hangs", get(std::future::pending::<()>))
            .route("/panics", get(panics))
            .layer(Timing(Arc::clone(&metrics)));
        for path in ["/hangs", "/panics"] {
            let request = Request::builder().uri(path).body(Body::empty());
            let answer = app.clone().oneshot(request.unwrap());
            _ = timeout(Duration::from_hours(1), answer).await.unwrap();
        }
        let text = metrics.text(&[]).unwrap();
        let count = "pennon_http_request_duration_seconds_count";
        for labels in [
            r#"method="GET",route="/hangs",status="503""#,
            r#"method="GET",route="/panics",status="500""#,
        ] {
            assert!(text.contains(&format!("{count}{{{labels}}} 1")), "{text}");
        }
    }
}
