//! Request identifiers, which connect responses with the log.

use http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

use crate::state::AppState;

pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of an identifier sent by a caller, in bytes.
const MAX_LENGTH: usize = 128;

/// Returns the caller's identifier if it is valid, or else a generated one.
pub(super) fn identify(state: &AppState, headers: &HeaderMap) -> Option<HeaderValue> {
    let given = headers.get(X_REQUEST_ID).filter(|id| is_valid(id));
    given.cloned().or_else(|| generate(state))
}

/// Returns true if an identifier contains only characters that are safe in logs.
fn is_valid(id: &HeaderValue) -> bool {
    let decent = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(byte);
    (1..=MAX_LENGTH).contains(&id.len()) && id.as_bytes().iter().all(decent)
}

fn generate(state: &AppState) -> Option<HeaderValue> {
    let id = state.admin.entropy.id(state.admin.clock.now());
    let mut text = Uuid::encode_buffer();
    HeaderValue::from_str(id.hyphenated().encode_lower(&mut text)).ok()
}
