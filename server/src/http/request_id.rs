//! An identifier for each request, by which an answer is found in the log.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::state::Service;

pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// How long an identifier may be that a caller gives, in bytes.
const MAX_LENGTH: usize = 128;

/// The caller's identifier if it is a decent one, and one that is made up otherwise.
pub(super) fn identify(service: &Service, headers: &HeaderMap) -> Option<HeaderValue> {
    let given = headers.get(X_REQUEST_ID).filter(|id| is_decent(id));
    given.cloned().or_else(|| made_up(service))
}

/// Only what cannot confuse a log or whoever reads it.
fn is_decent(id: &HeaderValue) -> bool {
    let decent = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(byte);
    (1..=MAX_LENGTH).contains(&id.len()) && id.as_bytes().iter().all(decent)
}

fn made_up(service: &Service) -> Option<HeaderValue> {
    HeaderValue::try_from(
        service
            .admin
            .entropy
            .id(service.admin.clock.now())
            .to_string(),
    )
    .ok()
}
