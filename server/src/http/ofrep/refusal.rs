//! Errors that are not about an evaluation, for providers.

use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::Error;
use crate::http::error::extended;

/// An error as everywhere in the API, which says the same once more in the words of the protocol.
pub(super) struct Refusal {
    error: Error,
    /// The flag that was asked for, where one was.
    key: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Words {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    error_code: &'static str,
    error_details: String,
}

impl Refusal {
    /// The refusal to evaluate this flag.
    pub(super) fn about(self, key: &str) -> Self {
        Self {
            key: Some(key.to_owned()),
            ..self
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { error, key: None }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self.error {
            // All keys that do not work are refused with the same bytes, and nothing more is said of internal errors.
            error @ (Error::Unauthenticated | Error::Internal(_)) => error.into_response(),
            error => {
                let words = Words {
                    key: self.key,
                    error_code: "GENERAL",
                    error_details: error.to_string(),
                };
                extended(&error, words)
            }
        }
    }
}
