//! The environment to which an SDK key gives access.

use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts, OptionalFromRequestParts, RawPathParams};
use http::header::AUTHORIZATION;
use http::request::Parts;
use pennon_model::client::Client;
use pennon_model::environment::ClientRules;
use pennon_model::secret::SecretHash;
use pennon_model::usage::PollKind;

use super::Serving;
use crate::auth::{PresentedCredential, presented, secret};
use crate::error::Error;
use crate::snapshot::{EnvironmentCounters, EnvironmentSnapshot, Follower, Opened, RateLimiter};

/// A valid SDK key and its environment, before the rate limit is checked.
pub(crate) struct SdkKey {
    hash: SecretHash,
    is_public: bool,
    environment: Opened,
    serving: Serving,
}

/// The valid SDK key of a public environment in the path, as the parameter `key`.
pub(crate) struct PublicSdkKey(pub(crate) SdkKey);

/// The current snapshot of an environment, for a caller with its SDK key whose request is within the rate limit.
pub(crate) struct SdkEnvironment(Opened);

/// An environment whose SDK key gives access to rules and rollouts.
pub(crate) struct RevealedEnvironment(SdkEnvironment);

impl RevealedEnvironment {
    /// Returns the environment, for evaluations.
    pub(crate) fn environment(&self) -> &SdkEnvironment {
        &self.0
    }

    /// Returns the environment's snapshot.
    pub(crate) fn snapshot(&self) -> &Arc<EnvironmentSnapshot> {
        self.0.snapshot()
    }

    /// Counts a fetch of the configuration.
    pub(crate) fn count_poll(&self, kind: PollKind, client: Client) {
        self.0.count_poll(kind, client);
    }
}

impl SdkEnvironment {
    /// Fails if the SDK key gives access only to results.
    pub(crate) fn revealed(self) -> Result<RevealedEnvironment, Error> {
        match self.snapshot().client_rules() {
            ClientRules::Full => Ok(RevealedEnvironment(self)),
            ClientRules::Answers => Err(Error::ConfigNotPublic),
        }
    }

    /// Returns the environment's snapshot. It is always the same for one `SdkEnvironment`.
    pub(crate) fn snapshot(&self) -> &Arc<EnvironmentSnapshot> {
        &self.0.snapshot
    }

    /// Counts a fetch of the configuration or of all results.
    pub(crate) fn count_poll(&self, kind: PollKind, client: Client) {
        self.count_previous_key(client.clone());
        self.snapshot().usage().count_poll(kind, client);
    }

    /// Counts a request for the previous key, if it is used.
    fn count_previous_key(&self, client: Client) {
        if let Some(overlap) = &self.0.overlap {
            overlap.count_request(client);
        }
    }
}

impl SdkKey {
    /// Returns the key and its environment; fails if the key does not work.
    pub(crate) fn find(serving: Serving, key: &str) -> Result<Self, Error> {
        let hash = SecretHash::of(key);
        let environment = known(&serving, serving.snapshots.by_key(hash))?;
        Ok(Self {
            hash,
            is_public: secret::is_public(key),
            environment,
            serving,
        })
    }

    /// Returns true if the key is that of a public environment.
    pub(crate) fn is_public(&self) -> bool {
        self.is_public
    }

    /// Returns the environment to a caller that lets the server evaluate. A request with the previous key counts as one
    /// of an unnamed client.
    pub(crate) fn for_evaluation(self) -> Result<SdkEnvironment, Error> {
        let environment = self.for_all_results()?;
        environment.count_previous_key(Client::Other);
        Ok(environment)
    }

    /// Returns the environment to a caller that lets the server evaluate all flags, and that counts as a fetch.
    pub(crate) fn for_all_results(self) -> Result<SdkEnvironment, Error> {
        self.check_rate(&self.usage().rate_limiters.evaluation)?;
        Ok(SdkEnvironment(self.environment))
    }

    /// Returns the environment to a caller that evaluates locally.
    pub(crate) fn for_client(self) -> Result<SdkEnvironment, Error> {
        self.check_rate(&self.usage().rate_limiters.configuration)?;
        Ok(SdkEnvironment(self.environment))
    }

    /// Returns the environment to a caller that reports its evaluations. A report with the previous key counts as a
    /// request of an unnamed client.
    pub(crate) fn for_report(self) -> Result<SdkEnvironment, Error> {
        let environment = self.for_client()?;
        environment.count_previous_key(Client::Other);
        Ok(environment)
    }

    /// Logs that a web page uses the key, unless the key is public.
    pub(crate) fn warn_of_use_in_page(&self) {
        if !self.is_public {
            self.usage().warn_of_use_in_page();
        }
    }

    /// Follows the environment until the key is refused.
    pub(crate) fn follow(self) -> Result<Follower, Error> {
        self.check_rate(&self.usage().rate_limiters.configuration)?;
        known(&self.serving, self.serving.snapshots.follow(self.hash))
    }

    fn usage(&self) -> &EnvironmentCounters {
        self.environment.snapshot.usage()
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

/// Refuses the key of an environment that is not public in the same way as an unknown key, so that nobody gets used to
/// writing such a key into paths.
impl<S> FromRequestParts<S> for PublicSdkKey
where
    Serving: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let parameters = RawPathParams::from_request_parts(parts, state).await;
        let parameters = parameters.map_err(|_| Error::Unauthenticated)?;
        let key = parameters.iter().find(|(name, _)| *name == "key");
        match key {
            Some((_, key)) if secret::is_public(key) => {
                SdkKey::find(Serving::from_ref(state), key).map(Self)
            }
            _ => Err(Error::Unauthenticated),
        }
    }
}
