//! The results of all flags for a context, for OpenFeature providers and for clients that do not evaluate locally.

use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::StatusCode;
use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::if_none_match::{Caching, IfNoneMatch};
use super::openapi::{Answer, Answered, Schemas, unless_known};
use super::respond::Json;
use crate::error::Error;
use crate::evaluation::sdk_environment::SdkEnvironment;
use crate::snapshot::Document;

/// The results of all active flags, or 304 if the client already has them.
pub(super) enum AllResults<T> {
    Evaluated(Caching, T),
    Unchanged(Caching),
}

impl<T> AllResults<T> {
    /// Returns what `evaluate` returns, unless the client has these results. `question` is the body of the request, and
    /// `caching` returns the headers for their tag.
    pub(super) async fn of(
        environment: &SdkEnvironment,
        known: &IfNoneMatch,
        question: &[u8],
        caching: impl FnOnce(&str) -> Result<Caching, Error>,
        evaluate: impl FnOnce() -> T,
    ) -> Result<Self, Error> {
        let document = environment.snapshot().document().await;
        let etag = etag(&document, question);
        let caching = caching(&etag)?;
        if known.has(&etag) {
            return Ok(Self::Unchanged(caching));
        }
        Ok(Self::Evaluated(caching, evaluate()))
    }

    /// Returns true if the client already has the results.
    pub(super) fn is_unchanged(&self) -> bool {
        matches!(self, Self::Unchanged(_))
    }
}

/// Returns the tag of the results: the ID of the config document, which is also the ID of events of the stream, and a
/// hash of the request's body.
fn etag(document: &Document, question: &[u8]) -> String {
    let hash = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(question));
    format!("W/\"{}.{hash}\"", document.id())
}

impl<T: Serialize> IntoResponse for AllResults<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Evaluated(caching, results) => (caching, Json(results)).into_response(),
            Self::Unchanged(caching) => (StatusCode::NOT_MODIFIED, caching).into_response(),
        }
    }
}

impl<T: ToSchema> Answer for AllResults<T> {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        unless_known(
            Json::<T>::answers(schemas),
            "Flags and context are unchanged since the response in `If-None-Match`.",
            "An identifier of flags and context, for `If-None-Match`.",
        )
    }
}
