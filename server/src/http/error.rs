//! Converts errors to problem documents (RFC 9457). This is the only module that assigns error codes, which determine
//! the status.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

use super::code::Code;
use super::respond::etag;
use crate::error::{
    Conflict, Entity, Error, Fault, FaultLocation, MAX_FAULT_BYTES, MAX_FAULTS, RefusedFlag,
};

/// The media type of errors.
pub(super) const PROBLEM: &str = "application/problem+json";

/// The time that a client should wait while the database is unavailable, in seconds.
pub(super) const RETRY_WHEN_UNAVAILABLE: u64 = 5;

/// The time that a client should wait while the server is overloaded, in seconds.
pub(super) const RETRY_WHEN_BUSY: u64 = 1;

/// An error response.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(super) struct Problem<'a> {
    /// The code as a URN.
    r#type: String,
    /// A summary of the error, for people.
    title: &'static str,
    /// The status of the response.
    status: u16,
    /// A description of this occurrence, for people.
    #[schema(value_type = String)]
    detail: Cow<'a, str>,
    /// The error code, for scripts.
    code: Code,
    /// The faults of the input, at most 100 and 64 KiB, or all flags that cannot be changed; absent if neither is the
    /// cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<InvalidMember<'a>>,
}

/// One invalid member or parameter.
#[derive(Serialize, ToSchema)]
#[schema(as = InvalidInput)]
struct InvalidMember<'a> {
    /// The location in the body, as a JSON pointer (RFC 6901).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    #[schema(value_type = Option<String>)]
    pointer: Option<Cow<'a, str>>,
    /// The name of the parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    parameter: Option<&'a str>,
    /// A description of the fault, for people.
    #[schema(value_type = String)]
    detail: Cow<'a, str>,
}

impl<'a> Problem<'a> {
    fn new(code: Code, detail: Cow<'a, str>, errors: Vec<InvalidMember<'a>>) -> Self {
        let kind = code.as_str().to_ascii_lowercase().replace('_', "-");
        Self {
            r#type: format!("urn:pennon:problem:{kind}"),
            title: code.title(),
            status: code.status().as_u16(),
            detail,
            code,
            errors,
        }
    }

    /// Returns an example of an error response with this code.
    pub(super) fn example(code: Code) -> serde_json::Value {
        let errors = match code {
            Code::InvalidInput => vec![InvalidMember {
                pointer: Some("/name".into()),
                parameter: None,
                detail: "must not be blank".into(),
            }],
            _ => Vec::new(),
        };
        serde_json::json!(Self::new(code, "…".into(), errors))
    }
}

/// A problem document with members of another protocol (RFC 9457, section 3.2).
#[derive(Serialize)]
struct Extended<'a, M> {
    #[serde(flatten)]
    problem: &'a Problem<'a>,
    #[serde(flatten)]
    more: M,
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        respond(&self, |problem| serde_json::to_vec(problem))
    }
}

/// Returns the response to an error, with additional members.
pub(super) fn extended(error: &Error, more: impl Serialize) -> Response {
    respond(error, |problem| {
        serde_json::to_vec(&Extended { problem, more })
    })
}

/// Returns the status and body of the response to an error.
pub(super) fn document(error: &Error) -> (StatusCode, Vec<u8>) {
    let code = Code::from(error);
    let problem = Problem::new(code, error.to_string().into(), Vec::new());
    (
        code.status(),
        serde_json::to_vec(&problem).unwrap_or_default(),
    )
}

fn respond(
    error: &Error,
    write: impl FnOnce(&Problem<'_>) -> serde_json::Result<Vec<u8>>,
) -> Response {
    match error {
        Error::Internal(detail) => tracing::error!(detail, "internal error"),
        Error::Unavailable(Some(reason)) | Error::Unconfirmed(reason) => {
            tracing::warn!(%reason, "database unavailable");
        }
        _ => {}
    }
    let code = Code::from(error);
    let status = code.status();
    let detail = match error {
        Error::Internal(_) => {
            Cow::Borrowed("an internal error occurred; the server's log has the details")
        }
        other => Cow::Owned(other.to_string()),
    };
    let errors = match error {
        Error::OfFlags { flags, .. } => flags.iter().map(InvalidMember::from).collect(),
        Error::Invalid(faults) => limited(faults.iter().map(InvalidMember::from)),
        _ => Vec::new(),
    };
    let problem = Problem::new(code, detail, errors);
    let body = write(&problem).unwrap_or_default();
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if status == StatusCode::REQUEST_TIMEOUT {
        // Close the connection: the rest of the body could otherwise be parsed as the next request.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if matches!(error, Error::UnsupportedCoding) {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
    if let Some(seconds) = retry_after(error) {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    if let Error::Stale {
        current: Some(current),
    } = error
    {
        return (etag(*current), response).into_response();
    }
    response
}

/// Returns the first items, up to both limits, but at least one. A body can have a fault in each of its bytes, so that
/// the complete list would be many times as large.
fn limited<'a>(items: impl Iterator<Item = InvalidMember<'a>>) -> Vec<InvalidMember<'a>> {
    let mut bytes = 0_usize;
    let first = items
        .enumerate()
        .take(MAX_FAULTS)
        .take_while(|(index, item)| {
            let pointer = item.pointer.as_deref().map_or(0, str::len);
            bytes = bytes.saturating_add(pointer + item.detail.len());
            *index == 0 || bytes <= MAX_FAULT_BYTES
        });
    first.map(|(_, item)| item).collect()
}

impl From<&Error> for Code {
    fn from(error: &Error) -> Self {
        match error {
            Error::Unauthenticated => Self::Unauthenticated,
            Error::WrongPassword => Self::WrongPassword,
            Error::TooManyAttempts { .. } => Self::TooManyAttempts,
            Error::TooManyRequests => Self::TooManyRequests,
            Error::WrongCredential => Self::WrongCredential,
            Error::ConfigNotPublic => Self::ConfigNotPublic,
            Error::SessionRequired => Self::SessionRequired,
            Error::Forbidden(_) | Error::ForbiddenFor(..) => Self::Forbidden,
            // The API asks for no confirmation.
            Error::ReasonRequired(_) | Error::ConfirmationRequired { .. } => Self::ReasonRequired,
            Error::NotFound(entity) => Self::from(*entity),
            Error::NoSuchPath => Self::NoSuchPath,
            Error::MethodNotAllowed => Self::MethodNotAllowed,
            Error::Stale { .. } | Error::StalePreview => Self::Stale,
            Error::Conflict(conflict) => Self::from(conflict),
            Error::OfFlags { cause, .. } => Self::from(&**cause),
            Error::Invalid(_) => Self::InvalidInput,
            Error::Malformed(_) => Self::MalformedBody,
            Error::UnsupportedMediaType | Error::UnsupportedCoding => Self::UnsupportedMediaType,
            Error::MalformedRequest => Self::MalformedRequest,
            Error::HeadTooLarge(_) => Self::HeadTooLarge,
            Error::TooLarge(_) => Self::BodyTooLarge,
            Error::TooSlow(_) => Self::RequestTimeout,
            Error::Overloaded => Self::Overloaded,
            Error::TimedOut => Self::TimedOut,
            Error::Unavailable(_) | Error::Unconfirmed(_) | Error::ReadOnly(_) => {
                Self::DatabaseUnavailable
            }
            Error::StorageFull(_) => Self::StorageFull,
            Error::Internal(_) => Self::InternalError,
        }
    }
}

impl From<Entity> for Code {
    fn from(entity: Entity) -> Self {
        match entity {
            Entity::Flag => Self::FlagNotFound,
            Entity::Environment => Self::EnvironmentNotFound,
            Entity::PreviousKey => Self::PreviousKeyNotFound,
            Entity::Configuration => Self::ConfigurationNotFound,
            Entity::Rule => Self::RuleNotFound,
            Entity::Rollout => Self::RolloutNotFound,
            Entity::User => Self::UserNotFound,
            Entity::Token => Self::TokenNotFound,
            Entity::AuditEntry => Self::AuditEntryNotFound,
        }
    }
}

impl From<&Conflict> for Code {
    fn from(conflict: &Conflict) -> Self {
        match conflict {
            Conflict::FlagKeyTaken => Self::FlagKeyTaken,
            Conflict::PriorityTaken => Self::PriorityTaken,
            Conflict::EnvironmentNameTaken => Self::EnvironmentNameTaken,
            Conflict::FlagEnabled(_) | Conflict::FlagEnabledElsewhere(_) => Self::FlagEnabled,
            Conflict::FlagArchived => Self::FlagArchived,
            Conflict::FlagNotArchived => Self::FlagNotArchived,
            Conflict::VisibilityFixed => Self::VisibilityFixed,
            Conflict::EnvironmentRevoked => Self::EnvironmentRevoked,
            Conflict::TooManyRules => Self::TooManyRules,
            Conflict::RulesDiffer => Self::RulesDiffer,
            Conflict::AlreadyReverted => Self::AlreadyReverted,
            Conflict::NotRevertible(_) => Self::NotRevertible,
            Conflict::EmailTaken => Self::EmailTaken,
            Conflict::LastAdmin => Self::LastAdmin,
            Conflict::TokenNameTaken => Self::TokenNameTaken,
            Conflict::TooManyTokens => Self::TooManyTokens,
        }
    }
}

fn retry_after(error: &Error) -> Option<u64> {
    match error {
        Error::Unavailable(_)
        | Error::Unconfirmed(_)
        | Error::ReadOnly(_)
        | Error::StorageFull(_) => Some(RETRY_WHEN_UNAVAILABLE),
        Error::Overloaded | Error::TimedOut | Error::TooManyRequests => Some(RETRY_WHEN_BUSY),
        Error::TooManyAttempts {
            retry_after_seconds,
        } => Some(*retry_after_seconds),
        _ => None,
    }
}

impl<'a> From<&'a Fault> for InvalidMember<'a> {
    fn from(fault: &'a Fault) -> Self {
        let (pointer, parameter) = match &fault.location {
            FaultLocation::Pointer(pointer) => (Some(pointer.into()), None),
            FaultLocation::Parameter(name) => (None, Some(name.as_str())),
        };
        Self {
            pointer,
            parameter,
            detail: (&fault.detail).into(),
        }
    }
}

impl From<&RefusedFlag> for InvalidMember<'_> {
    fn from(flag: &RefusedFlag) -> Self {
        Self {
            pointer: Some(format!("/flagIds/{}", flag.index).into()),
            parameter: None,
            detail: flag.to_string().into(),
        }
    }
}
