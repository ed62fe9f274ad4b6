//! A response that counts against the limit on bytes of unauthenticated callers until it is sent.

use axum::body::{Body, Bytes, to_bytes};
use axum::response::Response;

use crate::error::Error;
use crate::in_flight::Held;

/// Bytes that are counted until they are dropped, which is after they were written to the connection.
struct HeldBytes {
    bytes: Bytes,
    _held: Held,
}

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads a response completely, and counts it together with the bytes that are already held. Fails if that exceeds the
/// limit.
pub(super) async fn held_until_sent(response: Response, mut held: Held) -> Result<Response, Error> {
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await;
    let bytes = bytes.map_err(|error| Error::Internal(format!("a page is incomplete: {error}")))?;
    if !held.grow(bytes.len()) {
        return Err(Error::Overloaded);
    }
    let bytes = Bytes::from_owner(HeldBytes { bytes, _held: held });
    Ok(Response::from_parts(parts, Body::from(bytes)))
}
