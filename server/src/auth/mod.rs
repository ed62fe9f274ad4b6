//! Authentication: callers and their credentials.
//!
//! Only this module can create the types of authenticated callers, so a use case that takes one cannot be called
//! without authentication.

pub(crate) mod access_token;
pub(crate) mod actor;
pub(crate) mod authority;
mod hs256;
pub(crate) mod intent;
pub(crate) mod password;
pub(crate) mod queue;
pub(crate) mod secret;
mod sign_ins;
pub(crate) mod throttle;

use std::ops::Deref;
use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;

use self::access_token::AccessTokens;
use self::password::Passwords;
use self::throttle::Throttle;
use crate::clock::Clock;
use crate::store::Db;

/// The lifetime of a session, in days.
pub(crate) const SESSION_DAYS: i64 = 30;

/// The state of authentication. It is cheap to clone.
#[derive(Clone)]
pub(crate) struct Auth(Arc<AuthParts>);

/// The accounts, and the means to check their credentials.
pub(crate) struct AuthParts {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) access_tokens: AccessTokens,
    pub(crate) passwords: Passwords,
    pub(crate) throttle: Throttle,
}

impl Auth {
    pub(crate) fn new(parts: AuthParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Auth {
    type Target = AuthParts;

    fn deref(&self) -> &AuthParts {
        &self.0
    }
}

/// The credential of an `Authorization` header.
pub(crate) enum PresentedCredential<'a> {
    /// The header is missing.
    Nothing,
    /// A bearer credential.
    Bearer(&'a str),
    /// Something other than one bearer credential.
    Unusable,
}

/// Reads the `Authorization` header. The scheme's case does not matter (RFC 9110, 11.1).
pub(crate) fn presented(headers: &HeaderMap) -> PresentedCredential<'_> {
    let mut values = headers.get_all(AUTHORIZATION).into_iter();
    let Some(value) = values.next() else {
        return PresentedCredential::Nothing;
    };
    let credential = value.to_str().ok().and_then(|text| {
        let (scheme, credential) = text.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then(|| credential.trim_matches(' '))
    });
    match (credential, values.next()) {
        (Some(credential), None) if !credential.is_empty() => {
            PresentedCredential::Bearer(credential)
        }
        _ => PresentedCredential::Unusable,
    }
}
