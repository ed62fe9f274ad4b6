//! Identifiers in paths. One that is malformed is one that does not exist.

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use pennon_core::model::id::{EnvironmentId, FlagId, RuleId};

use crate::error::{Entity, Error};
use crate::service::targeting::PairId;
use crate::service::tokens::WhichToken;
use crate::service::users::Whose;

/// What a path names.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: FromPath> FromRequestParts<S> for Path<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let parameters = RawPathParams::from_request_parts(parts, state).await;
        let parameters = parameters.map_err(|_: RawPathParamsRejection| Error::NoSuchPath)?;
        T::from_path(&parameters).map(Path)
    }
}

/// Something that a path can name.
pub(crate) trait FromPath: Sized {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error>;
}

impl FromPath for FlagId {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        parameter(parameters, "flag")
            .parse()
            .map_err(|_| Error::NotFound(Entity::Flag))
    }
}

impl FromPath for EnvironmentId {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        parameter(parameters, "environment")
            .parse()
            .map_err(|_| Error::NotFound(Entity::Environment))
    }
}

impl FromPath for RuleId {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        parameter(parameters, "rule")
            .parse()
            .map_err(|_| Error::NotFound(Entity::Rule))
    }
}

/// A pair, and another environment of the same flag.
impl FromPath for (PairId, EnvironmentId) {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        let other = parameter(parameters, "other")
            .parse()
            .map_err(|_| Error::NotFound(Entity::Environment))?;
        Ok((PairId::from_path(parameters)?, other))
    }
}

impl FromPath for PairId {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        Ok(Self {
            flag: FlagId::from_path(parameters)?,
            environment: EnvironmentId::from_path(parameters)?,
        })
    }
}

impl FromPath for Whose {
    /// Whether somebody may ask is checked before whether there is such an account, so this refuses nothing.
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        Ok(match parameter(parameters, "user") {
            "me" => Self::Mine,
            id => Self::Of(id.parse().ok()),
        })
    }
}

impl FromPath for WhichToken {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        Ok(Self {
            owner: Whose::from_path(parameters)?,
            token: parameter(parameters, "token").parse().ok(),
        })
    }
}

fn parameter<'p>(parameters: &'p RawPathParams, name: &str) -> &'p str {
    parameters
        .iter()
        .find(|(given, _)| *given == name)
        .map_or("", |(_, value)| value)
}
