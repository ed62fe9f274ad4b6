//! Successful responses.

use axum::body::Body;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::{CONTENT_TYPE, ETAG, LOCATION};
use http::{HeaderName, HeaderValue, StatusCode};
use pennon_model::configuration::Configuration;
use pennon_model::environment::Environment;
use pennon_model::flag::Flag;
use pennon_model::targeting::{FlagRollout, TargetingRule};
use pennon_model::user::User;
use serde::Serialize;

use crate::error::Error;

/// The number of headers that a response has in the end. With the space reserved, they need not be moved.
const HEADERS: usize = 8;

/// 200 with a JSON body.
pub(crate) struct Json<T>(pub(crate) T);

/// 200 with a JSON body, and the revision of its object as `ETag` for `If-Match`.
pub(crate) struct Tagged<T>(pub(crate) T);

/// 200 with a JSON body, and a separate revision as `ETag`.
pub(crate) struct TaggedAs<T> {
    pub(crate) revision: i64,
    pub(crate) body: T,
}

/// 201 with the created object and its path.
pub(crate) struct Created<T> {
    pub(crate) location: String,
    pub(crate) body: T,
}

/// 204.
pub(crate) struct NoContent;

/// 204 with the new revision of the changed object as `ETag`.
pub(crate) struct Changed {
    pub(crate) revision: i64,
}

/// The response to a `PUT`: 201 or 200.
pub(crate) enum Put<T> {
    Inserted(Created<T>),
    Updated(T),
}

/// A response, or for a browser a redirect (303) to a dashboard page.
pub(crate) enum OrDashboard<T> {
    Here(T),
    Dashboard(String),
}

/// An object with a revision.
pub(crate) trait Revised {
    fn revision(&self) -> i64;
}

/// Returns the `ETag` header of a revision.
pub(crate) fn etag(revision: i64) -> [(HeaderName, String); 1] {
    [(ETAG, format!("\"{revision}\""))]
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(body) => {
                let mut response = Response::new(Body::from(body));
                let headers = response.headers_mut();
                headers.reserve(HEADERS);
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                response
            }
            Err(error) => Error::Internal(format!("the answer cannot be written as JSON: {error}"))
                .into_response(),
        }
    }
}

impl<T: Serialize + Revised> IntoResponse for Tagged<T> {
    fn into_response(self) -> Response {
        (etag(self.0.revision()), Json(self.0)).into_response()
    }
}

impl<T: Serialize> IntoResponse for TaggedAs<T> {
    fn into_response(self) -> Response {
        (etag(self.revision), Json(self.body)).into_response()
    }
}

impl<T: IntoResponse> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, [(LOCATION, self.location)], self.body).into_response()
    }
}

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

impl IntoResponse for Changed {
    fn into_response(self) -> Response {
        (etag(self.revision), NoContent).into_response()
    }
}

impl<T: IntoResponse> IntoResponse for Put<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Inserted(created) => created.into_response(),
            Self::Updated(body) => body.into_response(),
        }
    }
}

impl<T: IntoResponse> IntoResponse for OrDashboard<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Here(answer) => answer.into_response(),
            Self::Dashboard(page) => Redirect::to(&page).into_response(),
        }
    }
}

macro_rules! revised {
    ($($object:ty),+ $(,)?) => {$(
        impl Revised for $object {
            fn revision(&self) -> i64 {
                self.revision
            }
        }
    )+};
}

revised!(
    Configuration,
    Environment,
    Flag,
    FlagRollout,
    TargetingRule,
    User
);
