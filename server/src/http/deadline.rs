//! How long an answer may take to begin.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;
use tower::{Layer, Service as Tower};

use crate::error::Error;

/// How long a request may be worked on. What it has begun to write is rolled back, unless it is being committed.
const TIME: Duration = Duration::from_secs(30);

/// Gives up on a request that is not answered in time. An answer that has begun may go on, so streams do.
#[derive(Clone)]
pub(super) struct Deadline;

impl<S> Layer<S> for Deadline {
    type Service = InTime<S>;

    fn layer(&self, inner: S) -> InTime<S> {
        InTime(inner)
    }
}

#[derive(Clone)]
pub(super) struct InTime<S>(S);

impl<S> Tower<Request> for InTime<S>
where
    S: Tower<Request, Error = Infallible>,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        // No timer is set for what is answered at once.
        let answer = timeout(TIME, self.0.call(request));
        Box::pin(async move {
            Ok(match answer.await {
                Ok(answered) => answered?.into_response(),
                Err(_) => Error::TimedOut.into_response(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use http::StatusCode;
    use http::header::RETRY_AFTER;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_is_given_up() {
        let app = Router::new()
            .route("/hangs", get(std::future::pending::<()>))
            .route("/takes_its_time", get(|| tokio::time::sleep(TIME / 2)))
            .layer(Deadline);
        let ask = async |path: &str| {
            let request = Request::builder().uri(path).body(Body::empty());
            app.clone().oneshot(request.unwrap()).await.unwrap()
        };
        let given_up = ask("/hangs").await;
        assert_eq!(given_up.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(given_up.headers()[RETRY_AFTER], "1");
        assert_eq!(ask("/takes_its_time").await.status(), StatusCode::OK);
    }
}
