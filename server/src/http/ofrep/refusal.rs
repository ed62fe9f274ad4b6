//! Error responses of the OpenFeature protocol.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::error::Error;
use crate::http::error::extended;
use crate::http::respond::Json;

/// A failed evaluation.
pub(super) struct Refusal {
    cause: Cause,
    /// The requested flag, if any.
    key: Option<String>,
}

enum Cause {
    /// An error of the API, converted to the protocol's terms.
    Error(Error),
    /// A failure defined by the protocol, with its details.
    Failure(ErrorCode, String),
}

/// A failed evaluation.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OfrepFailure)]
pub(super) struct Failure {
    /// The requested flag, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    error_code: ErrorCode,
    /// A description of the error, for people.
    error_details: String,
    /// Always empty. The Java provider requires it.
    #[schema(additional_properties)]
    metadata: Map<String, Value>,
}

/// OpenFeature's error codes.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum ErrorCode {
    /// The body is not a JSON object.
    ParseError,
    /// The context has invalid members.
    InvalidContext,
    /// The environment has no such flag.
    FlagNotFound,
}

/// The members that an error of the API has beside those of its problem details. They are those of a [`Failure`].
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProblemMembers {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    error_code: &'static str,
    error_details: String,
    metadata: Map<String, Value>,
}

impl Refusal {
    pub(super) fn parse_error(details: String) -> Self {
        Cause::Failure(ErrorCode::ParseError, details).into()
    }

    pub(super) fn invalid_context(details: String) -> Self {
        Cause::Failure(ErrorCode::InvalidContext, details).into()
    }

    pub(super) fn flag_not_found() -> Self {
        Cause::Failure(
            ErrorCode::FlagNotFound,
            "the flag does not exist".to_owned(),
        )
        .into()
    }

    /// Adds the key of the requested flag, if any.
    pub(super) fn about(self, key: Option<String>) -> Self {
        Self { key, ..self }
    }
}

impl From<Cause> for Refusal {
    fn from(cause: Cause) -> Self {
        Self { cause, key: None }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Cause::Error(error).into()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let key = self.key;
        match self.cause {
            // Internal errors reveal no details.
            Cause::Error(error @ Error::Internal(_)) => error.into_response(),
            Cause::Error(error) => {
                let members = ProblemMembers {
                    key,
                    error_code: "GENERAL",
                    error_details: error.to_string(),
                    metadata: Map::new(),
                };
                extended(&error, members)
            }
            Cause::Failure(error_code, error_details) => {
                let status = match error_code {
                    ErrorCode::ParseError | ErrorCode::InvalidContext => StatusCode::BAD_REQUEST,
                    ErrorCode::FlagNotFound => StatusCode::NOT_FOUND,
                };
                let failure = Failure {
                    key,
                    error_code,
                    error_details,
                    metadata: Map::new(),
                };
                (status, Json(failure)).into_response()
            }
        }
    }
}
