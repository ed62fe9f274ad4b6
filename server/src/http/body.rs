//! Request bodies. They are read after the permission check, so that callers without permission get no information
//! about their content.

use std::marker::PhantomData;
use std::time::Duration;

use axum::body::{Body as Stream, HttpBody};
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::HeaderValue;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::BodyExt;
use pennon_model::json::Json;

use super::admission::InFlightLimitReached;
use super::fields::{Fields, FromFields};
use super::time_limit::within;
use crate::auth::intent::GivenReason;
use crate::error::Error;
use crate::in_flight::{Budget, Held};

/// The maximum size of a body of the Admin API, in bytes. The largest rule has 0.7 MiB if its sender escapes all
/// characters.
pub(super) const ADMIN_LIMIT: usize = 1024 * 1024;

/// The maximum size of the body of a sign-in, in bytes.
const SIGN_IN_LIMIT: usize = 8 * 1024;

/// The member with the reason of a change.
pub(super) const REASON: &str = "reason";

/// The time limit for receiving a body.
const TIME: Duration = Duration::from_secs(10);

/// A body that has not been read yet, so that permission and the existence of the target can be checked first.
pub(crate) struct Body<T>(Request, PhantomData<fn() -> T>);

impl<S: Sync, T> FromRequest<S> for Body<T> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self, Error> {
        Ok(Self(request, PhantomData))
    }
}

impl<T: FromFields> Body<T> {
    /// Reads the body as a JSON object, which may also have the reason of a change.
    pub(crate) async fn read(self) -> Result<T, Error> {
        let given = self.0.extensions().get().cloned();
        parsed(&self.bytes(ADMIN_LIMIT).await?, given.as_ref())
    }

    /// Reads the body of an unauthenticated caller as a JSON object.
    pub(crate) async fn read_sign_in(self, budget: &Budget) -> Result<T, Error> {
        let mut held = budget.hold();
        parsed(
            &self.held_bytes(SIGN_IN_LIMIT, Some(&mut held)).await?,
            None,
        )
    }
}

impl<T> Body<T> {
    /// Returns true if the request has no body.
    pub(crate) fn is_absent(&self) -> bool {
        self.0.body().is_end_stream()
    }

    /// Returns the bytes of a JSON body of at most `limit` bytes.
    pub(crate) async fn bytes(self, limit: usize) -> Result<Bytes, Error> {
        self.held_bytes(limit, None).await
    }

    /// Like [`Self::bytes`], but the body may also be declared as text. Browsers then send it to another origin without
    /// a preflight request.
    pub(crate) async fn bytes_of_json_or_text(self, limit: usize) -> Result<Bytes, Error> {
        if is_of_type(&self.0, "text/plain") {
            ensure_not_encoded(&self.0)?;
            return received(self.0.into_body(), limit, None).await;
        }
        self.bytes(limit).await
    }

    /// Like [`Self::bytes`], but counts the bytes against the limit for unauthenticated callers.
    pub(crate) async fn held_bytes(
        self,
        limit: usize,
        held: Option<&mut Held>,
    ) -> Result<Bytes, Error> {
        if !is_json(&self.0) {
            return Err(Error::UnsupportedMediaType);
        }
        ensure_not_encoded(&self.0)?;
        received(self.0.into_body(), limit, held).await
    }
}

/// An empty body, or a JSON object without members, which some clients send instead, or only with the reason of a
/// change. Any other body is refused, because its sender expects an effect.
pub(crate) struct NoBody(Request);

impl<S: Sync> FromRequest<S> for NoBody {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self, Error> {
        Ok(Self(request))
    }
}

impl NoBody {
    /// Checks that the body is empty.
    pub(crate) async fn read(self) -> Result<(), Error> {
        let given = self.0.extensions().get().cloned();
        let bytes = received(self.0.into_body(), ADMIN_LIMIT, None).await?;
        if bytes.is_empty() {
            return Ok(());
        }
        let json = object(&bytes)
            .map_err(|_| Error::Malformed("this request must not have a body".to_owned()))?;
        let read = |fields: &mut Fields<'_>| reason(fields, given.as_ref());
        Fields::read(json, read).map_err(Error::Invalid)
    }
}

/// Parses a body as a JSON object and reads its members. The body of a change can give its reason.
fn parsed<T: FromFields>(bytes: &[u8], given: Option<&GivenReason>) -> Result<T, Error> {
    let read = |fields: &mut Fields<'_>| {
        let reason = reason(fields, given);
        let content = T::from_fields(fields);
        reason.and(content)
    };
    Fields::read(object(bytes)?, read).map_err(Error::Invalid)
}

/// Reads the reason of a change. Returns none after reporting a fault.
fn reason(fields: &mut Fields<'_>, given: Option<&GivenReason>) -> Option<()> {
    let Some(given) = given else {
        return Some(());
    };
    match fields.optional(REASON)? {
        Some(reason) if !given.give(&reason) => fields.fault(
            REASON,
            "must be the same as in the header `X-Change-Reason`",
        ),
        _ => Some(()),
    }
}

/// Receives a body of at most `limit` bytes.
pub(super) async fn received(
    body: Stream,
    limit: usize,
    held: Option<&mut Held>,
) -> Result<Bytes, Error> {
    let declared = body.size_hint().lower();
    if usize::try_from(declared).map_or(true, |declared| declared > limit) {
        return Err(Error::TooLarge(limit));
    }
    match within(TIME, collected(body, limit, held)).await {
        Ok(received) => received,
        Err(_) => Err(Error::TooSlow(TIME.as_secs())),
    }
}

/// Copies the received data. Each frame otherwise keeps the buffer that it was read into, which has at least 8 KiB even
/// for a single byte.
async fn collected(
    mut body: Stream,
    limit: usize,
    mut held: Option<&mut Held>,
) -> Result<Bytes, Error> {
    let declared = body.size_hint().exact().unwrap_or_default();
    let mut bytes = Vec::with_capacity(usize::try_from(declared).unwrap_or_default().min(limit));
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(not_received)?.into_data() else {
            continue;
        };
        if data.len() > limit.saturating_sub(bytes.len()) {
            return Err(Error::TooLarge(limit));
        }
        if held.as_mut().is_some_and(|held| !held.grow(data.len())) {
            return Err(Error::Overloaded);
        }
        if bytes.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.into())
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the signature that `map_err` expects"
)]
fn not_received(error: axum::Error) -> Error {
    if is_caused_by::<InFlightLimitReached>(&error) {
        return Error::Overloaded;
    }
    Error::Malformed("the body could not be received".to_owned())
}

/// Parses a body as a JSON object whose strings borrow from it.
pub(super) fn object(bytes: &[u8]) -> Result<Json<'_>, Error> {
    let parsed = match std::str::from_utf8(bytes) {
        // Validating the whole text takes less time than validating each string in it.
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(bytes),
    };
    match parsed.map_err(|error| malformed(&error))? {
        object @ Json::Object(_) => Ok(object),
        _ => Err(Error::Malformed(
            "the body must be a JSON object".to_owned(),
        )),
    }
}

/// Returns the error for text that is not valid JSON.
fn malformed(error: &serde_json::Error) -> Error {
    Error::Malformed(format!("the body is not valid JSON: {error}"))
}

/// Returns true if the request's `Content-Type` is JSON, with any parameters.
fn is_json(request: &Request) -> bool {
    is_of_type(request, "application/json")
}

/// Fails if the body is compressed.
fn ensure_not_encoded(request: &Request) -> Result<(), Error> {
    let codings = request.headers().get_all(CONTENT_ENCODING).iter();
    let mut others = codings.filter(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"));
    match others.next() {
        Some(_) => Err(Error::UnsupportedCoding),
        None => Ok(()),
    }
}

/// Returns true if the request has this `Content-Type`, with any parameters.
fn is_of_type(request: &Request, media_type: &str) -> bool {
    let declared = request.headers().get(CONTENT_TYPE);
    let declared = declared.map_or(&[][..], HeaderValue::as_bytes);
    let essence = declared.split(|byte| *byte == b';').next();
    essence.is_some_and(|essence| {
        let essence = essence.trim_ascii();
        essence.eq_ignore_ascii_case(media_type.as_bytes())
    })
}

/// Returns true if an error of type `E` is the error or one of its sources.
pub(super) fn is_caused_by<E: std::error::Error + 'static>(error: &axum::Error) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = source {
        if error.is::<E>() {
            return true;
        }
        source = error.source();
    }
    false
}
