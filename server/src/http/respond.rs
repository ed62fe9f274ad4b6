//! Successful answers.

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::error::Error;

/// 200 with a JSON body.
pub(crate) struct Json<T>(pub(crate) T);

/// 201 with a JSON body and the place of what was created.
pub(crate) struct Created<T> {
    pub(crate) location: String,
    pub(crate) body: T,
}

/// 204.
pub(crate) struct NoContent;

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(body) => {
                let json = HeaderValue::from_static("application/json");
                ([(CONTENT_TYPE, json)], body).into_response()
            }
            Err(error) => Error::Internal(format!("an answer is no JSON: {error}")).into_response(),
        }
    }
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        (
            StatusCode::CREATED,
            [(LOCATION, self.location)],
            Json(self.body),
        )
            .into_response()
    }
}

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}
