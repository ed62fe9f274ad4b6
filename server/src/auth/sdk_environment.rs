//! The environment that an SDK key opens.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::header::AUTHORIZATION;
use http::request::Parts;

use super::secret::SecretHash;
use super::{Presented, presented};
use crate::error::Error;
use crate::service::Service;
use crate::snapshot::{EnvironmentSnapshot, Follower};

/// An environment whose key the caller holds, as it serves at this moment.
pub(crate) struct SdkEnvironment(Arc<EnvironmentSnapshot>);

impl SdkEnvironment {
    /// What the environment serves; the same for as long as this is held.
    pub(crate) fn snapshot(&self) -> &Arc<EnvironmentSnapshot> {
        &self.0
    }

    /// The environment of a key.
    pub(crate) fn from_key(service: &Service, key: &str) -> Result<Self, Error> {
        known(service, service.snapshots.by_key(SecretHash::of(key))).map(Self)
    }
}

/// What a key opens. Every key that does not work is refused in the same way, so that nobody can find out which ones exist
/// or existed. While the database cannot be asked, a key that is not known may yet be a new one.
fn known<T>(service: &Service, found: Option<T>) -> Result<T, Error> {
    match found {
        Some(found) => Ok(found),
        None if service.database_answers() => Err(Error::Unauthenticated),
        None => Err(Error::Unavailable(None)),
    }
}

impl FromRequestParts<Service> for SdkEnvironment {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Error> {
        match presented(&parts.headers) {
            Presented::Bearer(key) => Self::from_key(service, key),
            Presented::Nothing | Presented::Unusable => Err(Error::Unauthenticated),
        }
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

/// An environment whose key the caller holds, from now on until the key is refused.
pub(crate) struct FollowedEnvironment(pub(crate) Follower);

impl FromRequestParts<Service> for FollowedEnvironment {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Error> {
        match presented(&parts.headers) {
            Presented::Bearer(key) => {
                known(service, service.snapshots.follow(SecretHash::of(key))).map(Self)
            }
            Presented::Nothing | Presented::Unusable => Err(Error::Unauthenticated),
        }
    }
}
