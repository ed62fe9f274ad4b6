//! The environment that an SDK key opens.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::secret::SecretHash;
use super::{Presented, presented};
use crate::error::Error;
use crate::service::Service;
use crate::snapshot::{EnvironmentSnapshot, Snapshots};

/// An environment whose key the caller holds, as it serves at this moment.
pub(crate) struct SdkEnvironment(Arc<EnvironmentSnapshot>);

impl SdkEnvironment {
    /// What the environment serves; the same for as long as this is held.
    pub(crate) fn snapshot(&self) -> &Arc<EnvironmentSnapshot> {
        &self.0
    }

    /// The environment of a key. Every key that does not work is refused in the same way, so that nobody can find out
    /// which ones exist or existed.
    pub(crate) fn from_key(snapshots: &Snapshots, key: &str) -> Result<Self, Error> {
        snapshots
            .by_key(SecretHash::of(key))
            .map(Self)
            .ok_or(Error::Unauthenticated)
    }
}

impl FromRequestParts<Service> for SdkEnvironment {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Error> {
        match presented(&parts.headers) {
            Presented::Bearer(key) => Self::from_key(&service.snapshots, key),
            Presented::Nothing | Presented::Unusable => Err(Error::Unauthenticated),
        }
    }
}
