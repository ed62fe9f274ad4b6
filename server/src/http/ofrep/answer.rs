//! What providers are answered.

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, ETAG, VARY};
use http::{HeaderName, HeaderValue, StatusCode};
use pennon_core::{Reason, StandardReason};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::openapi::{self, Answer, Schemas};
use crate::http::respond::Json;
use crate::snapshot::Decision;

/// An evaluation, or why there is none.
pub(super) enum Answered<T> {
    Decided(T),
    /// What the client has, by this tag, is what there is.
    Unchanged(String),
    Refused(Failure),
}

/// An evaluated flag.
#[derive(Serialize, ToSchema)]
#[schema(as = OfrepFlag)]
pub(super) struct Flag {
    /// The flag's key.
    key: String,
    /// Whether the flag is on for the subject.
    value: bool,
    /// The same as a word.
    variant: Variant,
    /// OpenFeature's word for what decided. No context can change an answer that is `STATIC` or `DISABLED`.
    reason: StandardReason,
    metadata: Metadata,
}

/// `on` or `off`.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Variant {
    On,
    Off,
}

/// The metadata of an evaluation: the same as a client has, which evaluates on the spot.
#[derive(Serialize, ToSchema)]
#[schema(as = OfrepMetadata)]
struct Metadata {
    /// Pennon's own reason.
    reason: Reason,
}

/// All active flags, by key.
#[derive(Serialize, ToSchema)]
#[schema(as = OfrepFlags)]
pub(super) struct Flags {
    flags: Vec<Flag>,
    #[serde(skip)]
    #[schema(ignore)]
    etag: String,
}

/// Why there is no evaluation.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OfrepFailure)]
pub(super) struct Failure {
    /// The flag that was asked for, where one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    error_code: ErrorCode,
    /// What is wrong, for people.
    error_details: String,
}

/// OpenFeature's words for what can go wrong.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum ErrorCode {
    /// The body is no JSON object.
    ParseError,
    /// The context has members that cannot be.
    InvalidContext,
    /// The environment has no such flag.
    FlagNotFound,
}

impl Flag {
    pub(super) fn new(key: &str, decision: Decision) -> Self {
        let evaluation = decision.evaluation;
        Self {
            key: key.to_owned(),
            value: evaluation.enabled,
            variant: if evaluation.enabled {
                Variant::On
            } else {
                Variant::Off
            },
            reason: decision.standard_reason,
            metadata: Metadata {
                reason: evaluation.reason,
            },
        }
    }
}

impl Flags {
    pub(super) fn new(flags: Vec<Flag>, etag: String) -> Self {
        Self { flags, etag }
    }
}

impl Failure {
    pub(super) fn parse_error(details: String) -> Self {
        Self::new(ErrorCode::ParseError, details)
    }

    pub(super) fn invalid_context(details: String) -> Self {
        Self::new(ErrorCode::InvalidContext, details)
    }

    pub(super) fn flag_not_found() -> Self {
        Self::new(ErrorCode::FlagNotFound, "there is no such flag".to_owned())
    }

    fn new(error_code: ErrorCode, error_details: String) -> Self {
        Self {
            key: None,
            error_code,
            error_details,
        }
    }

    /// The failure to evaluate this flag.
    pub(super) fn about(self, key: String) -> Self {
        Self {
            key: Some(key),
            ..self
        }
    }

    fn status(&self) -> StatusCode {
        match self.error_code {
            ErrorCode::ParseError | ErrorCode::InvalidContext => StatusCode::BAD_REQUEST,
            ErrorCode::FlagNotFound => StatusCode::NOT_FOUND,
        }
    }
}

impl<T: IntoResponse> IntoResponse for Answered<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Decided(decided) => decided.into_response(),
            Self::Unchanged(etag) => (StatusCode::NOT_MODIFIED, caching(etag)).into_response(),
            Self::Refused(failure) => (failure.status(), Json(failure)).into_response(),
        }
    }
}

impl IntoResponse for Flag {
    fn into_response(self) -> Response {
        Json(self).into_response()
    }
}

impl IntoResponse for Flags {
    fn into_response(mut self) -> Response {
        let etag = std::mem::take(&mut self.etag);
        (caching(etag), Json(self)).into_response()
    }
}

fn caching(etag: String) -> [(HeaderName, HeaderValue); 3] {
    [
        // It has no other characters than a header may have.
        (
            ETAG,
            HeaderValue::try_from(etag).unwrap_or_else(|_| HeaderValue::from_static("*")),
        ),
        (CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (
            VARY,
            HeaderValue::from_static("Authorization, X-API-Key, Origin"),
        ),
    ]
}

impl Answer for Answered<Flag> {
    fn answers(schemas: &mut Schemas) -> Vec<openapi::Answered> {
        let mut answers = Json::<Flag>::answers(schemas);
        answers.push(refused(StatusCode::BAD_REQUEST, schemas));
        answers.push(refused(StatusCode::NOT_FOUND, schemas));
        answers
    }
}

impl Answer for Answered<Flags> {
    fn answers(schemas: &mut Schemas) -> Vec<openapi::Answered> {
        let mut answers = Json::<Flags>::answers(schemas);
        answers.push(openapi::Answered {
            status: StatusCode::NOT_MODIFIED,
            about: "Flags and context are what `If-None-Match` names.",
            media_type: openapi::JSON,
            schema: None,
            headers: Vec::new(),
        });
        for answered in &mut answers {
            answered.headers.push((
                "ETag",
                "What identifies flags and context, for `If-None-Match`.",
            ));
        }
        answers.push(refused(StatusCode::BAD_REQUEST, schemas));
        answers
    }
}

fn refused(status: StatusCode, schemas: &mut Schemas) -> openapi::Answered {
    openapi::Answered {
        status,
        about: "There is no evaluation, and `errorCode` says why.",
        media_type: openapi::JSON,
        schema: Some(schemas.refer::<Failure>()),
        headers: Vec::new(),
    }
}
