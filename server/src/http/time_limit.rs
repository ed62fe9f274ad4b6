//! Time limits, and a response for a request that panics.

use std::any::Any;
use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use futures_util::FutureExt as _;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::error::Error;

/// The time limit for a request. At the limit, its writes are rolled back unless they are being committed.
const REQUEST_TIME: Duration = Duration::from_secs(30);

/// Waits for the response to a request, until the time limit. A response that has begun is not canceled, so streams
/// continue. A panic fails only this request.
pub(super) async fn guarded(
    answer: impl Future<Output = Result<Response, Infallible>>,
) -> Response {
    match within(REQUEST_TIME, AssertUnwindSafe(answer).catch_unwind()).await {
        Ok(Ok(Ok(response))) => response,
        Ok(Err(panic)) => panicked(&*panic),
        Err(_) => Error::TimedOut.into_response(),
    }
}

/// Waits for a future for at most this long. Unlike `tokio::time::timeout`, sets up no timer for a future that is
/// ready at once, like that of most evaluations.
pub(super) async fn within<F: Future>(limit: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    match poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => timeout(limit, future).await,
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Response {
    let message = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    Error::Internal(format!("panic: {}", message.unwrap_or_default())).into_response()
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use http::header::RETRY_AFTER;
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_response_that_takes_too_long_is_given_up() {
        let given_up = timeout(REQUEST_TIME * 2, guarded(std::future::pending())).await;
        let given_up = given_up.unwrap();
        assert_eq!(given_up.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(given_up.headers()[RETRY_AFTER], "1");
        let in_time = guarded(async {
            sleep(REQUEST_TIME / 2).await;
            Ok(StatusCode::OK.into_response())
        });
        assert_eq!(in_time.await.status(), StatusCode::OK);
    }
}
