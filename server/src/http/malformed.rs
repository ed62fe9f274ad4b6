//! The response to a request with an unreadable head.

use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};

use super::edge::finish;
use super::error::{PROBLEM, document};
use super::request_id::identify;
use crate::error::Error;
use crate::state::AppState;

/// Returns a complete response, as bytes, that replaces hyper's own response with this status. It is the last response
/// on its connection. `date` is a complete header line or empty.
pub(crate) fn refusal_of_head(
    state: &AppState,
    status: u16,
    head_limit: usize,
    date: &str,
) -> Option<Vec<u8>> {
    let error = match status {
        400 => Error::MalformedRequest,
        // hyper reports a URI that is too long with a separate status, 414.
        414 | 431 => Error::HeadTooLarge(head_limit),
        _ => return None,
    };
    let (status, body) = document(&error);
    let id = identify(state, &HeaderMap::new());
    tracing::debug!(
        status = status.as_u16(),
        id = id.as_ref().and_then(|id| id.to_str().ok()),
        "refused a request whose head cannot be read"
    );
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    // Pages of other origins can read it, because the path may be one that is open to them.
    finish(state, &mut headers, true, id);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    let mut response = format!("HTTP/1.1 {status}\r\n").into_bytes();
    for (name, value) in &headers {
        response.extend_from_slice(name.as_str().as_bytes());
        response.extend_from_slice(b": ");
        response.extend_from_slice(value.as_bytes());
        response.extend_from_slice(b"\r\n");
    }
    response.extend([date.as_bytes(), b"\r\n", &body].concat());
    Some(response)
}
