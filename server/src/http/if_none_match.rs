//! Conditional requests for reading: `If-None-Match` (RFC 9110, section 13.1.2).

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY};
use http::request::Parts;
use http::{HeaderName, HeaderValue};
use pennon_model::usage::PollKind;

use super::openapi::shape::header;
use super::openapi::{Input, OperationBuilder};
use crate::error::Error;

/// The entity tags of the versions that the client already has.
pub(crate) struct IfNoneMatch(Vec<String>);

impl IfNoneMatch {
    /// Returns the kind of a fetch of flags. `is_current` is true if the client has the newest.
    pub(crate) fn poll_kind(&self, is_current: bool) -> PollKind {
        match is_current {
            true => PollKind::Current,
            false if self.0.is_empty() => PollKind::First,
            false => PollKind::Outdated,
        }
    }

    /// Returns true if the client has the version with this tag, by weak comparison (RFC 9110, section 8.8.3.2).
    pub(crate) fn has(&self, etag: &str) -> bool {
        let current = opaque(etag);
        self.0
            .iter()
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .any(|tag| tag == "*" || opaque(tag) == current)
    }
}

/// Returns a tag without the prefix of a weak tag.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// The headers of content that clients may cache but must revalidate.
pub(crate) type Caching = [(HeaderName, HeaderValue); 3];

/// Returns the caching headers for content with this tag that varies with these request headers.
pub(crate) fn caching(etag: &str, vary: &'static str) -> Result<Caching, Error> {
    let control = HeaderValue::from_static("private, no-cache");
    caching_by(control, etag, vary)
}

/// Like [`caching`], with this `Cache-Control`.
pub(crate) fn caching_by(
    control: HeaderValue,
    etag: &str,
    vary: &'static str,
) -> Result<Caching, Error> {
    let etag = HeaderValue::from_str(etag)
        .map_err(|error| Error::Internal(format!("invalid `ETag` value: {error}")))?;
    Ok([
        (ETAG, etag),
        (CACHE_CONTROL, control),
        (VARY, HeaderValue::from_static(vary)),
    ])
}

impl<S: Sync> FromRequestParts<S> for IfNoneMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let values = parts.headers.get_all(IF_NONE_MATCH).iter();
        let values = values.filter_map(|value| value.to_str().ok());
        Ok(Self(values.map(str::to_owned).collect()))
    }
}

impl Input for IfNoneMatch {
    fn describe(builder: &mut OperationBuilder<'_>) {
        let about = "The `ETag` of the last response. If nothing has changed, the response is 304.";
        builder.parameter(header("If-None-Match", about));
    }
}
