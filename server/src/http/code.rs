//! Error codes for scripts. Each code belongs to one status.

use http::StatusCode;
use serde::Serialize;

/// Declares the error codes, each with its status, title and name in responses. (The names are `tt`, because the schema
/// derive does not accept the wrapping of a `literal`.)
macro_rules! codes {
    ($($(#[$meta:meta])* $code:ident = $word:tt, $status:ident, $title:literal;)+) => {
        /// The stable error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, utoipa::ToSchema)]
        #[schema(as = Code)]
        pub(crate) enum Code {
            $($(#[$meta])* #[serde(rename = $word)] $code,)+
        }

        impl Code {
            /// Returns the name of the code in responses.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$code => $word,)+ }
            }

            /// Returns the status of all responses with this code.
            pub(crate) const fn status(self) -> StatusCode {
                match self { $(Self::$code => StatusCode::$status,)+ }
            }

            /// Returns the title, for people.
            pub(crate) const fn title(self) -> &'static str {
                match self { $(Self::$code => $title,)+ }
            }
        }
    };
}

codes! {
    InvalidInput = "INVALID_INPUT", BAD_REQUEST, "Invalid input";
    ReasonRequired = "REASON_REQUIRED", BAD_REQUEST, "Reason required";
    MalformedBody = "MALFORMED_BODY", BAD_REQUEST, "Malformed body";
    MalformedRequest = "MALFORMED_REQUEST", BAD_REQUEST, "Malformed request";
    Unauthenticated = "UNAUTHENTICATED", UNAUTHORIZED, "Unauthenticated";
    WrongPassword = "WRONG_PASSWORD", UNAUTHORIZED, "Sign-in refused";
    Forbidden = "FORBIDDEN", FORBIDDEN, "Forbidden";
    WrongCredential = "WRONG_CREDENTIAL", FORBIDDEN, "Wrong kind of credential";
    SessionRequired = "SESSION_REQUIRED", FORBIDDEN, "Session required";
    ConfigNotPublic = "CONFIG_NOT_PUBLIC", FORBIDDEN, "Config document not public";
    FlagNotFound = "FLAG_NOT_FOUND", NOT_FOUND, "Not found";
    EnvironmentNotFound = "ENVIRONMENT_NOT_FOUND", NOT_FOUND, "Not found";
    PreviousKeyNotFound = "PREVIOUS_KEY_NOT_FOUND", NOT_FOUND, "Not found";
    ConfigurationNotFound = "CONFIGURATION_NOT_FOUND", NOT_FOUND, "Not found";
    RuleNotFound = "RULE_NOT_FOUND", NOT_FOUND, "Not found";
    RolloutNotFound = "ROLLOUT_NOT_FOUND", NOT_FOUND, "Not found";
    UserNotFound = "USER_NOT_FOUND", NOT_FOUND, "Not found";
    TokenNotFound = "TOKEN_NOT_FOUND", NOT_FOUND, "Not found";
    AuditEntryNotFound = "AUDIT_ENTRY_NOT_FOUND", NOT_FOUND, "Not found";
    NoSuchPath = "NO_SUCH_PATH", NOT_FOUND, "No such path";
    MethodNotAllowed = "METHOD_NOT_ALLOWED", METHOD_NOT_ALLOWED, "Method not allowed";
    FlagKeyTaken = "FLAG_KEY_TAKEN", CONFLICT, "Conflict";
    FlagEnabled = "FLAG_ENABLED", CONFLICT, "Conflict";
    FlagArchived = "FLAG_ARCHIVED", CONFLICT, "Conflict";
    FlagNotArchived = "FLAG_NOT_ARCHIVED", CONFLICT, "Conflict";
    EnvironmentNameTaken = "ENVIRONMENT_NAME_TAKEN", CONFLICT, "Conflict";
    VisibilityFixed = "VISIBILITY_FIXED", CONFLICT, "Conflict";
    EnvironmentRevoked = "ENVIRONMENT_REVOKED", CONFLICT, "Conflict";
    PriorityTaken = "PRIORITY_TAKEN", CONFLICT, "Conflict";
    TooManyRules = "TOO_MANY_RULES", CONFLICT, "Conflict";
    RulesDiffer = "RULES_DIFFER", CONFLICT, "Conflict";
    AlreadyReverted = "ALREADY_REVERTED", CONFLICT, "Conflict";
    NotRevertible = "NOT_REVERTIBLE", CONFLICT, "Conflict";
    EmailTaken = "EMAIL_TAKEN", CONFLICT, "Conflict";
    LastAdmin = "LAST_ADMIN", CONFLICT, "Conflict";
    TokenNameTaken = "TOKEN_NAME_TAKEN", CONFLICT, "Conflict";
    TooManyTokens = "TOO_MANY_TOKENS", CONFLICT, "Conflict";
    Stale = "STALE", PRECONDITION_FAILED, "Stale";
    HeadTooLarge = "HEAD_TOO_LARGE", REQUEST_HEADER_FIELDS_TOO_LARGE, "Head too large";
    BodyTooLarge = "BODY_TOO_LARGE", PAYLOAD_TOO_LARGE, "Body too large";
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", UNSUPPORTED_MEDIA_TYPE, "Unsupported media type";
    RequestTimeout = "REQUEST_TIMEOUT", REQUEST_TIMEOUT, "Request timeout";
    TooManyAttempts = "TOO_MANY_ATTEMPTS", TOO_MANY_REQUESTS, "Too many attempts";
    TooManyRequests = "TOO_MANY_REQUESTS", TOO_MANY_REQUESTS, "Too many requests";
    InternalError = "INTERNAL_ERROR", INTERNAL_SERVER_ERROR, "Internal error";
    DatabaseUnavailable = "DATABASE_UNAVAILABLE", SERVICE_UNAVAILABLE, "Database unavailable";
    StorageFull = "STORAGE_FULL", SERVICE_UNAVAILABLE, "Storage full";
    Overloaded = "OVERLOADED", SERVICE_UNAVAILABLE, "Overloaded";
    TimedOut = "TIMED_OUT", SERVICE_UNAVAILABLE, "Timed out";
}
