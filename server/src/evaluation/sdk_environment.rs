//! The environment that an SDK key opens.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::header::AUTHORIZATION;
use http::request::Parts;
use pennon_model::secret::SecretHash;

use super::Serving;
use crate::auth::{Presented, presented};
use crate::error::Error;
use crate::snapshot::{EnvironmentSnapshot, Follower, RateLimiter};
use crate::state::Service;

/// An environment whose key the caller holds, as it serves at this moment.
pub(crate) struct SdkEnvironment(Arc<EnvironmentSnapshot>);

impl SdkEnvironment {
    /// What the environment serves; the same for as long as this is held.
    pub(crate) fn snapshot(&self) -> &Arc<EnvironmentSnapshot> {
        &self.0
    }

    /// The environment of a key, which is to be asked for evaluations.
    pub(crate) fn from_key(serving: &Serving, key: &str) -> Result<Self, Error> {
        let environment = Self::of(serving, key)?;
        check_rate(serving, &environment.0.usage().rate_limiters.evaluation)?;
        Ok(environment)
    }

    fn of(serving: &Serving, key: &str) -> Result<Self, Error> {
        known(serving, serving.snapshots.by_key(SecretHash::of(key))).map(Self)
    }
}

/// Refuses a request that does not keep the pace, if the settings bound it.
fn check_rate(serving: &Serving, limiter: &RateLimiter) -> Result<(), Error> {
    match serving.rate_limit {
        Some(per_second) if !limiter.check(serving.clock.now(), per_second) => {
            Err(Error::TooManyRequests)
        }
        _ => Ok(()),
    }
}

/// What a key opens. Every key that does not work is refused in the same way, so that nobody can find out which ones
/// exist or existed. While the database cannot be asked, a key that is not known may yet be a new one.
fn known<T>(serving: &Serving, found: Option<T>) -> Result<T, Error> {
    match found {
        Some(found) => Ok(found),
        None if serving.is_current() => Err(Error::Unauthenticated),
        None => Err(Error::Unavailable(None)),
    }
}

impl FromRequestParts<Service> for SdkEnvironment {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Error> {
        Self::from_key(&service.serving, bearer(parts)?)
    }
}

fn bearer(parts: &Parts) -> Result<&str, Error> {
    match presented(&parts.headers) {
        Presented::Bearer(key) => Ok(key),
        Presented::Nothing | Presented::Unusable => Err(Error::Unauthenticated),
    }
}

/// The environment of the `Authorization` header, if there is such a header. Whatever it holds, it is what counts.
pub(crate) struct MaybeSdkEnvironment(pub(crate) Option<SdkEnvironment>);

impl FromRequestParts<Service> for MaybeSdkEnvironment {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Error> {
        if !parts.headers.contains_key(AUTHORIZATION) {
            return Ok(Self(None));
        }
        SdkEnvironment::from_request_parts(parts, service)
            .await
            .map(|environment| Self(Some(environment)))
    }
}

/// An environment whose key is held by a caller that evaluates by itself.
pub(crate) struct ConfiguredEnvironment(pub(crate) SdkEnvironment);

impl FromRequestParts<Service> for ConfiguredEnvironment {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Error> {
        let serving = &service.serving;
        let environment = SdkEnvironment::of(serving, bearer(parts)?)?;
        check_rate(serving, &environment.0.usage().rate_limiters.configuration)?;
        Ok(Self(environment))
    }
}

/// An environment whose key the caller holds, from now on until the key is refused.
pub(crate) struct FollowedEnvironment(pub(crate) Follower);

impl FromRequestParts<Service> for FollowedEnvironment {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Error> {
        let key = SecretHash::of(bearer(parts)?);
        let serving = &service.serving;
        let follower = known(serving, serving.snapshots.follow(key))?;
        if let Some(environment) = follower.current() {
            check_rate(serving, &environment.usage().rate_limiters.configuration)?;
        }
        Ok(Self(follower))
    }
}
