//! The HTTP status of the dashboard's pages and server functions.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::header::{CONTENT_LENGTH, RETRY_AFTER};
use http::{HeaderName, StatusCode};
use pennon_dashboard::error::AdminError;
use serde::Serialize;

use super::super::error::{RETRY_WHEN_BUSY, RETRY_WHEN_UNAVAILABLE};
use super::FORM_LIMIT;

/// The header that marks the failure of a server function for Leptos's client.
const FAILED: HeaderName = HeaderName::from_static("serverfnerror");

/// The error of a server function, with its text for scripts, which contain no error texts.
#[derive(Serialize)]
struct Failure {
    #[serde(flatten)]
    error: AdminError,
    message: String,
}

/// Sets the status of a server function's error. Leptos sends 500 for every error, or redirects a plain form to its
/// page.
pub(super) async fn of_failure(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    if !response.headers().contains_key(FAILED)
        || response.status() != StatusCode::INTERNAL_SERVER_ERROR
    {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, FORM_LIMIT).await.unwrap_or_default();
    let Ok(error) = serde_json::from_slice::<AdminError>(&body) else {
        return Response::from_parts(parts, Body::from(body));
    };
    parts.status = StatusCode::from_u16(error.status()).unwrap_or(parts.status);
    parts.headers.remove(CONTENT_LENGTH);
    let failure = Failure {
        message: error.to_string(),
        error,
    };
    let body = serde_json::to_vec(&failure).unwrap_or_else(|_| body.into());
    Response::from_parts(parts, Body::from(body))
}

/// Adds `Retry-After` to the responses that tell no time of their own.
pub(super) async fn add_retry_after(mut response: Response) -> Response {
    let seconds = match response.status() {
        StatusCode::SERVICE_UNAVAILABLE => RETRY_WHEN_UNAVAILABLE,
        StatusCode::TOO_MANY_REQUESTS => RETRY_WHEN_BUSY,
        _ => return response,
    };
    let headers = response.headers_mut();
    headers.entry(RETRY_AFTER).or_insert(seconds.into());
    response
}
