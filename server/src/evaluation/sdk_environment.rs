//! The environment to which an SDK key gives access.

use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts, OptionalFromRequestParts};
use http::header::AUTHORIZATION;
use http::request::Parts;
use pennon_model::environment::ClientRules;
use pennon_model::secret::SecretHash;

use super::Serving;
use crate::auth::{PresentedCredential, presented};
use crate::error::Error;
use crate::snapshot::{EnvironmentSnapshot, Follower, RateLimiter};

/// A valid SDK key and its environment, before the rate limit is checked.
pub(crate) struct SdkKey {
    hash: SecretHash,
    snapshot: Arc<EnvironmentSnapshot>,
    serving: Serving,
}

/// The current snapshot of an environment, for a caller with its SDK key whose request is within the rate limit.
pub(crate) struct SdkEnvironment(Arc<EnvironmentSnapshot>);

/// An environment whose SDK key gives access to rules and rollouts.
pub(crate) struct RevealedEnvironment(SdkEnvironment);

impl RevealedEnvironment {
    /// Returns the environment's snapshot.
    pub(crate) fn snapshot(&self) -> &Arc<EnvironmentSnapshot> {
        self.0.snapshot()
    }
}

impl SdkEnvironment {
    /// Fails if the SDK key gives access only to results.
    pub(crate) fn revealed(self) -> Result<RevealedEnvironment, Error> {
        match self.0.client_rules() {
            ClientRules::Full => Ok(RevealedEnvironment(self)),
            ClientRules::Answers => Err(Error::ConfigNotPublic),
        }
    }

    /// Returns the environment's snapshot. It is always the same for one `SdkEnvironment`.
    pub(crate) fn snapshot(&self) -> &Arc<EnvironmentSnapshot> {
        &self.0
    }
}

impl SdkKey {
    /// Returns the key and its environment; fails if the key does not work.
    pub(crate) fn find(serving: Serving, key: &str) -> Result<Self, Error> {
        let hash = SecretHash::of(key);
        let snapshot = known(&serving, serving.snapshots.by_key(hash))?;
        Ok(Self {
            hash,
            snapshot,
            serving,
        })
    }

    /// Returns the environment to a caller that lets the server evaluate.
    pub(crate) fn for_evaluation(self) -> Result<SdkEnvironment, Error> {
        self.check_rate(&self.snapshot.usage().rate_limiters.evaluation)?;
        Ok(SdkEnvironment(self.snapshot))
    }

    /// Returns the environment to a caller that evaluates locally.
    pub(crate) fn for_client(self) -> Result<SdkEnvironment, Error> {
        self.check_rate(&self.snapshot.usage().rate_limiters.configuration)?;
        Ok(SdkEnvironment(self.snapshot))
    }

    /// Follows the environment until the key is refused.
    pub(crate) fn follow(self) -> Result<Follower, Error> {
        self.check_rate(&self.snapshot.usage().rate_limiters.configuration)?;
        known(&self.serving, self.serving.snapshots.follow(self.hash))
    }

    /// Refuses a request that exceeds the rate limit, if the settings have one.
    fn check_rate(&self, limiter: &RateLimiter) -> Result<(), Error> {
        match self.serving.rate_limit {
            Some(per_second) if !limiter.check(self.serving.clock.now(), per_second) => {
                Err(Error::TooManyRequests)
            }
            _ => Ok(()),
        }
    }
}

/// Returns the environment of a key. All keys that do not work are refused in the same way, so that the response never
/// reveals whether a key exists or existed. While the database is unavailable, an unknown key may be a new one, so the
/// error is a different one.
fn known<T>(serving: &Serving, found: Option<T>) -> Result<T, Error> {
    match found {
        Some(found) => Ok(found),
        None if serving.is_current() => Err(Error::Unauthenticated),
        None => Err(Error::Unavailable(None)),
    }
}

impl<S> FromRequestParts<S> for SdkKey
where
    Serving: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        match presented(&parts.headers) {
            PresentedCredential::Bearer(key) => Self::find(Serving::from_ref(state), key),
            PresentedCredential::Nothing | PresentedCredential::Unusable => {
                Err(Error::Unauthenticated)
            }
        }
    }
}

/// Extracts the key from the `Authorization` header, if the header exists. The header takes precedence even if it is
/// invalid.
impl<S> OptionalFromRequestParts<S> for SdkKey
where
    Serving: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Option<Self>, Error> {
        if !parts.headers.contains_key(AUTHORIZATION) {
            return Ok(None);
        }
        let key = <Self as FromRequestParts<S>>::from_request_parts(parts, state);
        key.await.map(Some)
    }
}
