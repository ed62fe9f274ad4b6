//! The response to a request with an unreadable head.

use http::HeaderMap;

use super::error::document;
use super::request_id::identify;
use crate::error::Error;
use crate::state::Service;

/// Returns a complete response, as bytes, that replaces hyper's own response with this status. It is the last response
/// on its connection. `date` is a complete header line or empty.
pub(crate) fn refusal_of_head(
    service: &Service,
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
    let id = identify(service, &HeaderMap::new());
    let id = id.as_ref().and_then(|id| id.to_str().ok()).unwrap_or("-");
    tracing::debug!(
        status = status.as_u16(),
        id,
        "refused a request whose head cannot be read"
    );
    // Pages of other origins can read it, because the path may be one that is open to them.
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\n\
         connection: close\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n\
         access-control-allow-origin: *\r\naccess-control-expose-headers: x-request-id\r\nx-request-id: {id}\r\n{date}\r\n",
        body.len()
    );
    Some([head.into_bytes(), body].concat())
}
