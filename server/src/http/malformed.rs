//! The answer to a request whose head cannot be read.

use http::HeaderMap;

use super::error::document;
use super::request_id::identify;
use crate::error::Error;
use crate::state::Service;

/// A whole answer as it goes over the wire, in the place of the one with the given status that hyper would send. It is
/// the last one on its connection. `date` is a header line, with its end, or empty.
pub(crate) fn refusal_of_head(
    service: &Service,
    status: u16,
    head_limit: usize,
    date: &str,
) -> Option<Vec<u8>> {
    let error = match status {
        400 => Error::MalformedRequest,
        // For hyper an address that is too long is a case of its own.
        414 | 431 => Error::HeadTooLarge(head_limit),
        _ => return None,
    };
    let (status, body) = document(&error);
    let id = identify(service, &HeaderMap::new());
    let id = id.as_ref().and_then(|id| id.to_str().ok()).unwrap_or("-");
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\n\
         connection: close\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n\
         x-request-id: {id}\r\n{date}\r\n",
        body.len()
    );
    Some([head.into_bytes(), body].concat())
}
