//! Which requests are let in, and which are the last of their connection.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::CONNECTION;
use tower::{Layer, Service as Tower};

use super::cors;
use crate::error::Error;
use crate::service::Service;

/// Lets in as many requests as the settings say, and refuses the rest at once: whoever is refused can ask again, while
/// a queue without a bound would have everybody wait. Questions after the service's health are always let in.
///
/// What counts is the time until the head of the answer, so a stream of events counts for as long as it takes to begin.
#[derive(Clone)]
pub(super) struct Admission(pub(super) Service);

impl<S> Layer<S> for Admission {
    type Service = Admitting<S>;

    fn layer(&self, inner: S) -> Admitting<S> {
        let service = self.0.clone();
        Admitting { inner, service }
    }
}

#[derive(Clone)]
pub(super) struct Admitting<S> {
    inner: S,
    service: Service,
}

impl<S> Tower<Request> for Admitting<S>
where
    S: Tower<Request, Response = Response, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let service = self.service.clone();
        let path = request.uri().path();
        let is_open = cors::is_open(path);
        let most = if path.starts_with("/health") {
            usize::MAX
        } else {
            usize::try_from(service.settings.max_in_flight).unwrap_or(usize::MAX)
        };
        let admitted = service.load.requests.enter(most);
        let answer = admitted.map(|present| (self.inner.call(request), present));
        Box::pin(async move {
            let mut response = match answer {
                Some((answer, _present)) => answer.await?,
                None => refused(&service),
            };
            if is_open && response.status().is_server_error() {
                cors::open(&mut response);
            }
            if service.is_draining() {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            Ok(response)
        })
    }
}

fn refused(service: &Service) -> Response {
    if let Some(metrics) = &service.metrics {
        metrics.shed.inc();
    }
    Error::Overloaded.into_response()
}
