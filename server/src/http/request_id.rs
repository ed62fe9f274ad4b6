//! An identifier for each request, by which an answer is found in the log.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderName, HeaderValue};

use crate::service::Service;

pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// How long an identifier may be that a caller gives, in bytes.
const MAX_LENGTH: usize = 128;

/// Takes the caller's identifier if it is a decent one, makes one up otherwise, and sends it back with the answer.
pub(super) async fn identify(
    State(service): State<Service>,
    mut request: Request,
    next: Next,
) -> Response {
    let given = request
        .headers()
        .get(X_REQUEST_ID)
        .filter(|id| is_decent(id))
        .cloned();
    let id = given.or_else(|| made_up(&service));
    if let Some(id) = &id {
        request.headers_mut().insert(X_REQUEST_ID, id.clone());
    }
    let mut response = next.run(request).await;
    if let Some(id) = id {
        response.headers_mut().insert(X_REQUEST_ID, id);
    }
    response
}

/// Only what cannot confuse a log or whoever reads it.
fn is_decent(id: &HeaderValue) -> bool {
    let decent = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(byte);
    (1..=MAX_LENGTH).contains(&id.len()) && id.as_bytes().iter().all(decent)
}

fn made_up(service: &Service) -> Option<HeaderValue> {
    HeaderValue::try_from(service.entropy.id(service.clock.now()).to_string()).ok()
}
