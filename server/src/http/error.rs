//! Errors as problem documents (RFC 9457): the one place that gives them status and code.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use super::respond::etag;
use crate::error::{Conflict, Entity, Error, Fault, Place};

/// How long a client should wait while the database is away, in seconds.
const RETRY_WHEN_UNAVAILABLE: u64 = 5;

/// The body of an error.
#[derive(Serialize)]
struct Problem<'a> {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: Cow<'a, str>,
    code: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<InvalidMember<'a>>,
}

/// One bad member or parameter.
#[derive(Serialize)]
struct InvalidMember<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<&'a str>,
    detail: &'a str,
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        match &self {
            Self::Internal(detail) => tracing::error!(detail, "internal error"),
            Self::Unavailable(Some(reason)) => {
                tracing::warn!(%reason, "the database cannot be asked");
            }
            _ => {}
        }
        let (status, code, title) = describe(&self);
        let detail = match &self {
            Self::Internal(_) => {
                Cow::Borrowed("something went wrong on our side; it is in the log")
            }
            other => Cow::Owned(other.to_string()),
        };
        let errors = match &self {
            Self::Invalid(faults) => faults.iter().map(InvalidMember::from).collect(),
            _ => Vec::new(),
        };
        let kind = format!(
            "urn:pennon:problem:{}",
            code.to_ascii_lowercase().replace('_', "-")
        );
        let problem = Problem {
            r#type: kind,
            title,
            status: status.as_u16(),
            detail,
            code,
            errors,
        };
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = retry_after(&self) {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if let Self::Stale {
            current: Some(current),
        } = self
        {
            return (etag(current), response).into_response();
        }
        response
    }
}

fn describe(error: &Error) -> (StatusCode, &'static str, &'static str) {
    match error {
        Error::Unauthenticated => (
            StatusCode::UNAUTHORIZED,
            "UNAUTHENTICATED",
            "Unauthenticated",
        ),
        Error::WrongPassword => (
            StatusCode::UNAUTHORIZED,
            "WRONG_PASSWORD",
            "Sign-in refused",
        ),
        Error::TooManyAttempts { .. } => (
            StatusCode::TOO_MANY_REQUESTS,
            "TOO_MANY_ATTEMPTS",
            "Too many attempts",
        ),
        Error::WrongCredential => (
            StatusCode::FORBIDDEN,
            "WRONG_CREDENTIAL",
            "Wrong kind of credential",
        ),
        Error::Forbidden(_) => (StatusCode::FORBIDDEN, "FORBIDDEN", "Forbidden"),
        Error::NotFound(entity) => (StatusCode::NOT_FOUND, not_found(*entity), "Not found"),
        Error::NoSuchPath => (StatusCode::NOT_FOUND, "NO_SUCH_PATH", "No such path"),
        Error::MethodNotAllowed => (
            StatusCode::METHOD_NOT_ALLOWED,
            "METHOD_NOT_ALLOWED",
            "Method not allowed",
        ),
        Error::Stale { .. } => (StatusCode::PRECONDITION_FAILED, "STALE", "Stale"),
        Error::Conflict(conflict) => (StatusCode::CONFLICT, conflict_code(conflict), "Conflict"),
        Error::Invalid(_) => (StatusCode::BAD_REQUEST, "INVALID_INPUT", "Invalid input"),
        Error::Malformed(_) => (StatusCode::BAD_REQUEST, "MALFORMED_BODY", "Malformed body"),
        Error::UnsupportedMediaType => (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "UNSUPPORTED_MEDIA_TYPE",
            "Unsupported media type",
        ),
        Error::TooLarge(_) => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "BODY_TOO_LARGE",
            "Body too large",
        ),
        Error::Unavailable(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "DATABASE_UNAVAILABLE",
            "Database unavailable",
        ),
        Error::Internal(_) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            "INTERNAL_ERROR",
            "Internal error",
        ),
    }
}

fn not_found(entity: Entity) -> &'static str {
    match entity {
        Entity::Flag => "FLAG_NOT_FOUND",
        Entity::Environment => "ENVIRONMENT_NOT_FOUND",
        Entity::Configuration => "CONFIGURATION_NOT_FOUND",
        Entity::Rule => "RULE_NOT_FOUND",
        Entity::Rollout => "ROLLOUT_NOT_FOUND",
    }
}

fn conflict_code(conflict: &Conflict) -> &'static str {
    match conflict {
        Conflict::FlagKeyTaken => "FLAG_KEY_TAKEN",
        Conflict::PriorityTaken => "PRIORITY_TAKEN",
        Conflict::EnvironmentNameTaken => "ENVIRONMENT_NAME_TAKEN",
        Conflict::FlagEnabled(_) => "FLAG_ENABLED",
        Conflict::FlagArchived => "FLAG_ARCHIVED",
        Conflict::FlagNotArchived => "FLAG_NOT_ARCHIVED",
        Conflict::EnvironmentRevoked => "ENVIRONMENT_REVOKED",
        Conflict::TooManyRules => "TOO_MANY_RULES",
        Conflict::RulesDiffer => "RULES_DIFFER",
    }
}

fn retry_after(error: &Error) -> Option<u64> {
    match error {
        Error::Unavailable(_) => Some(RETRY_WHEN_UNAVAILABLE),
        Error::TooManyAttempts {
            retry_after_seconds,
        } => Some(*retry_after_seconds),
        _ => None,
    }
}

impl<'a> From<&'a Fault> for InvalidMember<'a> {
    fn from(fault: &'a Fault) -> Self {
        let (pointer, parameter) = match &fault.place {
            Place::Pointer(pointer) => (Some(pointer.as_str()), None),
            Place::Parameter(name) => (None, Some(name.as_str())),
        };
        Self {
            pointer,
            parameter,
            detail: &fault.detail,
        }
    }
}
