//! Responses to OpenFeature providers.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use pennon_core::{Reason, StandardReason};
use serde::Serialize;
use utoipa::ToSchema;

use super::refusal::Failure;
use crate::http::if_none_match::Caching;
use crate::http::openapi::{Answer, Answered, Schemas, unless_known};
use crate::http::respond::Json;
use crate::snapshot::Decision;

/// An evaluated flag.
#[derive(Serialize, ToSchema)]
#[schema(as = OfrepFlag)]
pub(super) struct Flag {
    /// The flag's key.
    key: String,
    /// True if the flag is on for the context.
    value: bool,
    /// The value as a variant name.
    variant: Variant,
    /// OpenFeature's reason. `STATIC` and `DISABLED` results are the same for every context.
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

/// The metadata of an evaluation, the same as in local evaluations.
#[derive(Serialize, ToSchema)]
#[schema(as = OfrepMetadata)]
struct Metadata {
    /// Pennon's reason.
    reason: Reason,
}

/// All active flags, by key.
#[derive(Serialize, ToSchema)]
#[schema(as = OfrepFlags)]
pub(super) struct Flags {
    pub(super) flags: Vec<Flag>,
}

/// All active flags, or 304 if the client already has this response.
pub(super) enum AllFlags {
    Evaluated(Caching, Flags),
    Unchanged(Caching),
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

impl IntoResponse for Flag {
    fn into_response(self) -> Response {
        Json(self).into_response()
    }
}

impl IntoResponse for AllFlags {
    fn into_response(self) -> Response {
        match self {
            Self::Evaluated(caching, flags) => (caching, Json(flags)).into_response(),
            Self::Unchanged(caching) => (StatusCode::NOT_MODIFIED, caching).into_response(),
        }
    }
}

impl Answer for Flag {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let mut answers = Json::<Self>::answers(schemas);
        answers.push(refused(StatusCode::BAD_REQUEST, schemas));
        answers.push(refused(StatusCode::NOT_FOUND, schemas));
        answers
    }
}

impl Answer for AllFlags {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let mut answers = unless_known(
            Json::<Flags>::answers(schemas),
            "Flags and context are unchanged since the response in `If-None-Match`.",
            "An identifier of flags and context, for `If-None-Match`.",
        );
        answers.push(refused(StatusCode::BAD_REQUEST, schemas));
        answers
    }
}

fn refused(status: StatusCode, schemas: &mut Schemas) -> Answered {
    let about = "The evaluation failed. `errorCode` is the reason.";
    Answered::new(status, about, Some(schemas.refer::<Failure>()))
}
