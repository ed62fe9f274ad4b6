//! Errors of the use cases, independent of HTTP.

use pennon_core::rule::MAX_RULES;
use pennon_model::environment::EnvironmentPath;
use pennon_model::flag::FlagKey;
use pennon_model::grant::Resource;
use pennon_model::user::Role;

use crate::database_error::{Failure, classify};

/// An error of a use case or an extractor.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request has no valid credential.
    #[error("a valid credential is required")]
    Unauthenticated,
    /// The e-mail address and password do not match an account.
    #[error("the e-mail address or the password is wrong")]
    WrongPassword,
    /// Too many sign-ins failed.
    #[error("too many failed sign-ins")]
    TooManyAttempts {
        /// The wait before the next attempt.
        retry_after_seconds: u64,
    },
    /// The environment receives too many requests.
    #[error("too many requests for this environment; try again later")]
    TooManyRequests,
    /// A credential of another kind, such as an SDK key for administration.
    #[error(
        "this kind of credential is not accepted here: the Admin API accepts an access token and, except for the caller's own \
         sessions and tokens, a personal access token; `/sdk/v1` accepts an SDK key"
    )]
    WrongCredential,
    /// The SDK key does not give access to rules and rollouts.
    #[error(
        "this SDK key gives access only to results, not to rules; use `POST /sdk/v1/evaluate/all`, or `mode: \"remote\"` of the JavaScript clients"
    )]
    ConfigNotPublic,
    /// A personal access token was sent where a session is required.
    #[error("a personal access token cannot set passwords; sign in and use the access token")]
    SessionRequired,
    /// The caller's role is insufficient.
    #[error("the role {0} is required")]
    Forbidden(Role),
    /// The caller's role for this resource is insufficient.
    #[error("the role {0} is required for {1}")]
    ForbiddenFor(Role, Resource),
    /// Environments that would change require a reason, and the request gives none.
    #[error(
        "changes in {} require a reason; give it in the header `X-Change-Reason` or in the member `reason`", join_paths(.0)
    )]
    ReasonRequired(Vec<EnvironmentPath>),
    /// Protected environments would change, and the user of the dashboard has not confirmed it.
    #[error("changes in {} require confirmation", join_paths(environments))]
    ConfirmationRequired {
        /// The protected environments.
        environments: Vec<EnvironmentPath>,
        /// True if a reason is required and missing, too.
        lacks_reason: bool,
    },
    /// The object does not exist.
    #[error("the {0} does not exist")]
    NotFound(Entity),
    /// The path does not belong to the server.
    #[error("this path does not exist")]
    NoSuchPath,
    /// The path does not support the method.
    #[error("this path does not support the method")]
    MethodNotAllowed,
    /// The change contradicts the current state.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// The object has changed since the caller read it, or no longer exists.
    #[error("{}", stale(*.current))]
    Stale {
        /// The current revision; none if the object does not exist.
        current: Option<i64>,
    },
    /// The state has changed since the caller previewed a change.
    #[error("the state has changed since the dry run with this fingerprint; run another one")]
    StalePreview,
    /// A change of several flags is refused because of some of them.
    #[error("nothing was changed: {}", summary(flags))]
    OfFlags {
        /// The most important of the errors, which determines the code.
        cause: Box<Self>,
        /// Each flag that cannot be changed. The list is complete.
        flags: Vec<RefusedFlag>,
    },
    /// Members of the body or parameters of the query are invalid. The list is complete.
    #[error("the input is invalid")]
    Invalid(Vec<Fault>),
    /// The body is not JSON or not a JSON object.
    #[error("{0}")]
    Malformed(String),
    /// The `Content-Type` of the body is not JSON.
    #[error("the body must have the `Content-Type` `application/json`")]
    UnsupportedMediaType,
    /// The body is compressed.
    #[error("the body must not be compressed; send it without `Content-Encoding`")]
    UnsupportedCoding,
    /// The request's head cannot be read.
    #[error("the request line or a header is not valid HTTP/1.1")]
    MalformedRequest,
    /// The request's head is larger than allowed.
    #[error("the request line and the headers must have at most {0} bytes and 100 headers")]
    HeadTooLarge(usize),
    /// The body is larger than allowed.
    #[error("the body must have at most {0} bytes")]
    TooLarge(usize),
    /// The body did not arrive in time.
    #[error("the body did not arrive within {0} seconds")]
    TooSlow(u64),
    /// Too many requests are in progress.
    #[error("too many requests are in progress; try again in a moment")]
    Overloaded,
    /// The response took too long.
    #[error("the request took too long; its changes may not have been saved")]
    TimedOut,
    /// The database is unavailable.
    #[error("{}", unavailable(.0.as_ref()))]
    Unavailable(#[source] Option<sqlx::Error>),
    /// The database accepts no writes.
    #[error(
        "the database is read-only, so the change was not saved; let the server write to its database"
    )]
    ReadOnly(#[source] sqlx::Error),
    /// The disk of the database is full.
    #[error(
        "the disk that holds the database is full, so the change was not saved; free some space and try again"
    )]
    StorageFull(#[source] sqlx::Error),
    /// The connection to the database was lost during a commit.
    #[error(
        "the database connection was lost during the commit; the change may or may not have been saved"
    )]
    Unconfirmed(#[source] sqlx::Error),
    /// A bug or an unexpected failure. The text is only for the log.
    #[error("{0}")]
    Internal(String),
}

/// Formats the first of several flags on one line, and the number of the others.
fn summary(flags: &[RefusedFlag]) -> String {
    const SHOWN: usize = 3;
    let shown = flags.iter().take(SHOWN).map(ToString::to_string);
    let shown = shown.collect::<Vec<_>>().join("; ");
    match flags.len().saturating_sub(SHOWN) {
        0 => shown,
        1 => format!("{shown}; and 1 more flag"),
        more => format!("{shown}; and {more} more flags"),
    }
}

/// Lists environments in a sentence.
pub(crate) fn join_paths(environments: &[EnvironmentPath]) -> String {
    let environments: Vec<_> = environments.iter().map(ToString::to_string).collect();
    environments.join(", ")
}

impl From<sqlx::Error> for Error {
    /// Distinguishes an unavailable, full or read-only database from an incorrect query.
    fn from(error: sqlx::Error) -> Self {
        match classify(&error) {
            Failure::Full => Self::StorageFull(error),
            Failure::ReadOnly => Self::ReadOnly(error),
            // The code that closed the pool has logged the reason. Logging it here would repeat it for every request.
            Failure::Unavailable if matches!(error, sqlx::Error::PoolClosed) => {
                Self::Unavailable(None)
            }
            Failure::Busy | Failure::Canceled | Failure::Unavailable => {
                Self::Unavailable(Some(error))
            }
            Failure::Other => Self::Internal(format!("database: {error}")),
        }
    }
}

fn unavailable(error: Option<&sqlx::Error>) -> &'static str {
    if let Some(sqlx::Error::PoolTimedOut) = error {
        return "the database is busy: no connection became free in time";
    }
    match error.map(classify) {
        Some(Failure::Busy) => "the database is busy: another change or session holds a lock",
        Some(Failure::Canceled) => {
            "the database canceled a statement, as it does when one takes longer than its `statement_timeout`"
        }
        _ => "the database cannot be reached",
    }
}

fn stale(current: Option<i64>) -> String {
    match current {
        Some(current) => format!(
            "the resource has changed since you read it; its `ETag` is now \"{current}\", which `If-Match` does not contain"
        ),
        None => "`If-Match` was sent, but the resource does not exist".to_owned(),
    }
}

/// One of several flags, and the reason that it cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedFlag {
    /// The position of the flag in the request, from 0.
    pub index: usize,
    /// The key; none if the flag does not exist.
    pub key: Option<FlagKey>,
    /// The reason, for people.
    pub detail: String,
}

impl std::fmt::Display for RefusedFlag {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.key {
            Some(key) => write!(formatter, "`{key}`: {}", self.detail),
            None => formatter.write_str(&self.detail),
        }
    }
}

/// The kind of object that was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A flag, by ID or key.
    Flag,
    /// An environment.
    Environment,
    /// The previous SDK key of an environment.
    PreviousKey,
    /// A flag's configuration in an environment.
    Configuration,
    /// A targeting rule.
    Rule,
    /// A flag's rollout in an environment.
    Rollout,
    /// A user.
    User,
    /// A personal access token.
    Token,
    /// An audit entry.
    AuditEntry,
}

impl std::fmt::Display for Entity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Flag => "flag",
            Self::Environment => "environment",
            Self::PreviousKey => "previous key of this environment",
            Self::Configuration => "flag in this environment",
            Self::Rule => "rule",
            Self::Rollout => "rollout",
            Self::User => "user",
            Self::Token => "token",
            Self::AuditEntry => "audit entry",
        })
    }
}

/// The contradiction between a change and the current state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// Another flag has the key, or had it before it was archived.
    #[error("a flag with this key already exists; keys stay taken after archiving")]
    FlagKeyTaken,
    /// Another rule of the flag in this environment has the priority.
    #[error("another rule of this flag and environment already has this priority")]
    PriorityTaken,
    /// Another active environment has the product and name.
    #[error("an active environment with this product and name already exists")]
    EnvironmentNameTaken,
    /// The flag is enabled somewhere, so it cannot be archived.
    #[error("the flag is still enabled in {}; disable it there first", join_paths(.0))]
    FlagEnabled(Vec<EnvironmentPath>),
    /// The flag is enabled in environments that it would leave.
    #[error(
        "the flag is still enabled in {}, which the change takes it out of; disable it there first, or send `\"force\": true`", join_paths(.0)
    )]
    FlagEnabledElsewhere(Vec<EnvironmentPath>),
    /// An archived flag cannot be changed.
    #[error("the flag is archived; restore it to change it")]
    FlagArchived,
    /// A flag that is not archived cannot be restored.
    #[error("the flag is not archived")]
    FlagNotArchived,
    /// The visibility of an environment cannot be changed.
    #[error(
        "the visibility of an environment cannot be changed; clone the environment with another one"
    )]
    VisibilityFixed,
    /// A revoked environment cannot be changed.
    #[error("the environment is revoked and cannot be changed")]
    EnvironmentRevoked,
    /// The flag has the maximum number of rules.
    #[error("a flag can have at most {MAX_RULES} rules in one environment")]
    TooManyRules,
    /// The new order of rules does not list exactly the existing rules.
    #[error("the order must contain every rule of this flag and environment exactly once")]
    RulesDiffer,
    /// The change that an audit entry describes is already reverted.
    #[error("this change is already reverted")]
    AlreadyReverted,
    /// The change that an audit entry describes cannot be reverted.
    #[error("{0}")]
    NotRevertible(String),
    /// Another user has the e-mail address.
    #[error("a user with this e-mail address already exists")]
    EmailTaken,
    /// The change would leave no administrator.
    #[error("this is the last administrator; make another user an administrator first")]
    LastAdmin,
    /// Another token of the user has the name.
    #[error("a token with this name already exists; revoke it first, even if it has expired")]
    TokenNameTaken,
    /// The user has the maximum number of tokens.
    #[error("a user can have at most 50 tokens; revoke one first")]
    TooManyTokens,
}

/// The maximum number of faults in a response.
pub(crate) const MAX_FAULTS: usize = 100;

/// The maximum total size of their texts, in bytes. The name of a single member can be as long as the body, and can
/// contain many faults.
pub(crate) const MAX_FAULT_BYTES: usize = 64 * 1024;

/// One fault of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The location of the fault.
    pub location: FaultLocation,
    /// A description of the fault, for people.
    pub detail: String,
}

impl Fault {
    /// Creates a fault of the body.
    pub fn pointer(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            location: FaultLocation::Pointer(pointer.into()),
            detail: detail.into(),
        }
    }

    /// Creates a fault of a member of the object at `parent`.
    pub fn member(parent: &str, name: &str, detail: impl Into<String>) -> Self {
        Self::pointer(format!("{parent}/{}", escaped(name)), detail)
    }

    /// Creates a fault of the query.
    pub fn parameter(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            location: FaultLocation::Parameter(name.into()),
            detail: detail.into(),
        }
    }
}

/// Formats all faults of an input on one line.
pub(crate) fn on_one_line(faults: &[Fault]) -> String {
    let text = |fault: &Fault| format!("{}: {}", fault.location, fault.detail);
    faults.iter().map(text).collect::<Vec<_>>().join("; ")
}

/// Escapes a member's name for a JSON pointer (RFC 6901, section 3).
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A location in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultLocation {
    /// A JSON pointer (RFC 6901) into the body.
    Pointer(String),
    /// The name of a query parameter.
    Parameter(String),
}

impl std::fmt::Display for FaultLocation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Pointer(location) | Self::Parameter(location)) = self;
        formatter.write_str(location)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Invalid(vec![fault])
    }
}

/// Fails if there are faults.
pub(crate) fn no_faults(faults: Vec<Fault>) -> Result<(), Error> {
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Error::Invalid(faults))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_refused_flags_counts_those_that_it_omits() {
        let refused = |number: usize| -> Vec<_> {
            let flags = (0..number).map(|index| RefusedFlag {
                index,
                key: None,
                detail: format!("refusal {index}"),
            });
            flags.collect()
        };
        let shown = "refusal 0; refusal 1; refusal 2";
        assert_eq!(summary(&refused(3)), shown);
        assert_eq!(summary(&refused(4)), format!("{shown}; and 1 more flag"));
        assert_eq!(summary(&refused(5)), format!("{shown}; and 2 more flags"));
    }
}
