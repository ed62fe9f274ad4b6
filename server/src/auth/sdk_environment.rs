//! The environment that an SDK key opens.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::header::AUTHORIZATION;
use http::request::Parts;

use super::secret::SecretHash;
use super::{Presented, presented};
use crate::error::Error;
use crate::service::Service;
use crate::snapshot::EnvironmentSnapshot;

/// An environment whose key the caller holds, as it serves at this moment.
pub(crate) struct SdkEnvironment(Arc<EnvironmentSnapshot>);

impl SdkEnvironment {
    /// What the environment serves; the same for as long as this is held.
    pub(crate) fn snapshot(&self) -> &Arc<EnvironmentSnapshot> {
        &self.0
    }

    /// The environment of a key. Every key that does not work is refused in the same way, so that nobody can find out
    /// which ones exist or existed. While the database cannot be asked, a key that is not known may yet be a new one.
    pub(crate) fn from_key(service: &Service, key: &str) -> Result<Self, Error> {
        match service.snapshots.by_key(SecretHash::of(key)) {
            Some(snapshot) => Ok(Self(snapshot)),
            None if service.database_answers() => Err(Error::Unauthenticated),
            None => Err(Error::Unavailable(None)),
        }
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
