//! Responses to OpenFeature providers.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use pennon_core::{Context, Reason, StandardReason};
use serde::Serialize;
use utoipa::ToSchema;

use super::refusal::Failure;
use crate::http::all_results::{AllResults, FlagList, FlagLists};
use crate::http::openapi::{Answer, Answered, Schemas};
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
    /// OpenFeature's reason. `STATIC` results are the same for every context. A flag that is off or archived is
    /// `STATIC`, never `DISABLED`.
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
#[derive(ToSchema)]
#[schema(as = OfrepFlags)]
#[expect(
    dead_code,
    reason = "the flags are written one by one; this type describes the whole"
)]
pub(super) struct Flags {
    flags: Vec<Flag>,
}

impl FlagLists for Flags {
    const END: &'static str = "]}";

    fn lists(_: &Context<'_>) -> Vec<FlagList> {
        vec![FlagList {
            start: r#"{"flags":["#.to_owned(),
            add: |evaluator, key, flag, items| {
                items.push(&Flag::new(key, evaluator.decide(key, flag)));
            },
        }]
    }
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
            reason: match decision.standard_reason {
                // The Go provider returns the caller's default if the reason is `DISABLED`.
                StandardReason::Disabled => StandardReason::Static,
                reason => reason,
            },
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

impl Answer for Flag {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let mut answers = Json::<Self>::answers(schemas);
        answers.push(refused(StatusCode::BAD_REQUEST, schemas));
        answers.push(refused(StatusCode::NOT_FOUND, schemas));
        answers
    }
}

/// The response with all flags, or 304 if the client already has it.
pub(super) struct AllFlags(pub(super) AllResults<Flags>);

impl IntoResponse for AllFlags {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

impl Answer for AllFlags {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let mut answers = AllResults::<Flags>::answers(schemas);
        answers.push(refused(StatusCode::BAD_REQUEST, schemas));
        answers
    }
}

fn refused(status: StatusCode, schemas: &mut Schemas) -> Answered {
    let about = "The evaluation failed. `errorCode` is the reason.";
    Answered::new(status, about, Some(schemas.refer::<Failure>()))
}
