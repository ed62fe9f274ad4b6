//! Errors of the server, as users see them.

use leptos::server_fn::{
    codec::JsonEncoding,
    error::{FromServerFnError, ServerFnErrorErr},
};
use pennon_model::environment::EnvironmentPath;
use serde::{Deserialize, Serialize};

/// A refusal or failure, as pages show it and as islands receive it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "code", content = "detail")]
pub enum AdminError {
    /// 401: the request has no valid session.
    #[error("Your session has ended.")]
    SignedOut,
    /// 401: e-mail and password do not match.
    #[error("The e-mail and password do not match.")]
    WrongCredentials,
    /// 403: the user's role does not allow it.
    #[error("Your role does not allow this. Nothing was changed; ask an admin.")]
    Forbidden,
    /// 404: the object does not exist, or has been deleted.
    #[error("This does not exist, or has been deleted.")]
    NotFound,
    /// 409: the change conflicts with the current state; the detail explains how.
    #[error("{0}")]
    Conflict(String),
    /// 409: some of several flags cannot be changed.
    #[error("Nothing was changed, because some of the flags cannot be changed.")]
    UnchangeableFlags(Vec<UnchangeableFlag>),
    /// 409: environments are protected or require a reason, and the user has not confirmed the change or given a
    /// reason.
    #[error(
        "This change needs your confirmation or a reason. Nothing was changed; reload the page, then try again."
    )]
    Unconfirmed(UnconfirmedChange),
    /// 409: the object has changed since the page was rendered.
    #[error("Somebody else changed this first. Nothing was saved: review it, then try again.")]
    Stale,
    /// 400: the input is invalid; each field has its error.
    #[error("Some fields are invalid. Correct them, then try again.")]
    Invalid(Vec<FieldError>),
    /// 429: too many failed attempts; the detail is the number of seconds to wait.
    #[error("Too many attempts. Try again in {0} s.")]
    TooManyAttempts(u64),
    /// 429: too many pages show live evaluations.
    #[error(
        "Eight pages show live evaluations of this instance, and no more are possible. Stop one of them, then try again."
    )]
    TooManyWatchers,
    /// 503: the server cannot reach its database.
    #[error(
        "Pennon cannot reach its database. It still serves the last known flags; try again in a moment."
    )]
    Unavailable,
    /// 503: the connection to the database was lost while the change was being saved, or afterwards.
    #[error("The connection to the database was lost. The change may or may not have been saved.")]
    OutcomeUnknown,
    /// 503: the database accepts no writes.
    #[error("The database is read-only. Nothing was changed; Pennon's log has the cause.")]
    ReadOnly,
    /// 503: the disk of the database is full.
    #[error(
        "The disk of the database is full. Nothing was changed; free some space, then try again."
    )]
    StorageFull,
    /// 503: the server is overloaded.
    #[error("Pennon is too busy right now. Nothing was changed; try again in a moment.")]
    Overloaded,
    /// 500: the server failed; the details are in its log only.
    #[error("An error occurred in Pennon. Nothing was changed; try again.")]
    Internal,
    /// 400: the request, or its response, could not be read.
    #[error("Pennon responded unexpectedly. Reload the page to see the current state.")]
    Transport(String),
}

/// The error of one field of a form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    /// The name of the field in the form, usually as in the API: `clientRules`, `conditions/0/operator`.
    pub field: String,
    /// The rule that it breaks: `must have at most 64 characters`.
    pub detail: String,
}

impl FieldError {
    /// Creates the error of a field, from the rule that it breaks.
    pub fn new(field: &str, detail: impl Into<String>) -> Self {
        Self {
            field: field.to_owned(),
            detail: detail.into(),
        }
    }
}

/// Collects the errors of all fields of a form while they are parsed.
#[derive(Debug, Default)]
pub struct FieldErrors(Vec<FieldError>);

impl FieldErrors {
    /// Returns the parsed value of a field. Returns `None` after adding an error.
    pub fn keep<T>(&mut self, field: &str, parsed: Result<T, impl Into<String>>) -> Option<T> {
        parsed.map_err(|detail| self.add(field, detail)).ok()
    }

    /// Adds an error, from the rule that the field breaks.
    pub fn add(&mut self, field: &str, detail: impl Into<String>) {
        self.0.push(FieldError::new(field, detail));
    }

    /// Returns `true` if no field has an error.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<FieldErrors> for Vec<FieldError> {
    fn from(errors: FieldErrors) -> Self {
        errors.0
    }
}

impl From<FieldErrors> for AdminError {
    fn from(errors: FieldErrors) -> Self {
        Self::Invalid(errors.0)
    }
}

/// One of several flags, and the reason that it cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnchangeableFlag {
    /// The position of the flag in the request, from 0.
    pub index: usize,
    /// The reason, as a sentence.
    pub detail: String,
}

/// A change that the user has to confirm, or to give a reason for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnconfirmedChange {
    /// The change in the imperative, such as `Archive checkout`, and the preposition before the environments, if the
    /// page knows them.
    pub action: Option<(String, String)>,
    /// The environments that it changes.
    pub environments: Vec<EnvironmentPath>,
    /// True if they are protected.
    pub is_protected: bool,
    /// True if a reason is required.
    pub needs_reason: bool,
}

impl AdminError {
    /// Returns the error of one invalid field, from the rule that it breaks.
    pub fn invalid(field: &str, detail: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError::new(field, detail)])
    }

    /// Adds the change to a question about it: the action in the imperative, and the preposition before its
    /// environments, which may be empty.
    #[must_use]
    pub fn about(self, preposition: &str, action: impl FnOnce() -> String) -> Self {
        match self {
            Self::Unconfirmed(change) => Self::Unconfirmed(UnconfirmedChange {
                action: Some((action(), preposition.to_owned())),
                ..change
            }),
            other => other,
        }
    }

    /// Returns the status code of a response with this error.
    pub fn status(&self) -> u16 {
        match self {
            Self::Invalid(_) | Self::Transport(_) => 400,
            Self::SignedOut | Self::WrongCredentials => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Conflict(_) | Self::UnchangeableFlags(_) | Self::Stale | Self::Unconfirmed(_) => {
                409
            }
            Self::TooManyAttempts(_) | Self::TooManyWatchers => 429,
            Self::Internal => 500,
            Self::Unavailable
            | Self::OutcomeUnknown
            | Self::ReadOnly
            | Self::StorageFull
            | Self::Overloaded => 503,
        }
    }

    /// Returns the time after which another attempt is possible, in seconds, if the error has one of its own.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::TooManyAttempts(seconds) => Some(*seconds),
            _ => None,
        }
    }
}

impl FromServerFnError for AdminError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        Self::Transport(error.to_string())
    }
}
