//! Path parameters.

use std::str::FromStr;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::id::{AuditId, EnvironmentId, FlagId, RuleId, TokenId, UserId};

use utoipa::ToSchema;
use utoipa::openapi::path::ParameterIn;
use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, Type};

use super::code::Code;
use super::openapi::OperationBuilder;
use super::openapi::shape::parameter;
use crate::admin::tokens::TokenSelector;
use crate::admin::users::AccountSelector;
use crate::error::{Entity, Error};

/// The object identified by the path.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: FromPath> FromRequestParts<S> for Path<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let parameters = RawPathParams::from_request_parts(parts, state).await;
        let parameters = parameters.map_err(|_: RawPathParamsRejection| Error::NoSuchPath)?;
        T::from_path(&parameters).map(Path)
    }
}

/// A type that can be read from path parameters.
pub(crate) trait FromPath: Sized {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error>;

    fn describe(builder: &mut OperationBuilder<'_>);
}

/// Implements [`FromPath`] for the IDs of entities: the name of the parameter, and the entity that may not exist.
macro_rules! identifiers {
    ($($id:ty: $name:literal, $entity:ident;)+) => {$(
        impl FromPath for $id {
            fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
                identifier(parameters, $name, Entity::$entity)
            }

            fn describe(builder: &mut OperationBuilder<'_>) {
                describe_parameter::<Self>(builder, $name, Entity::$entity);
            }
        }
    )+};
}

identifiers! {
    FlagId: "flag", Flag;
    EnvironmentId: "environment", Environment;
    RuleId: "rule", Rule;
    AuditId: "entry", AuditEntry;
}

/// A flag in an environment, and another environment of the same flag.
impl FromPath for (FlagEnvironmentId, EnvironmentId) {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        let other = identifier(parameters, "other", Entity::Environment)?;
        Ok((FlagEnvironmentId::from_path(parameters)?, other))
    }

    fn describe(builder: &mut OperationBuilder<'_>) {
        FlagEnvironmentId::describe(builder);
        describe_parameter::<EnvironmentId>(builder, "other", Entity::Environment);
    }
}

impl FromPath for FlagEnvironmentId {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        Ok(Self {
            flag: FlagId::from_path(parameters)?,
            environment: EnvironmentId::from_path(parameters)?,
        })
    }

    fn describe(builder: &mut OperationBuilder<'_>) {
        FlagId::describe(builder);
        EnvironmentId::describe(builder);
        builder.refuses([Code::ConfigurationNotFound]);
    }
}

impl FromPath for AccountSelector {
    /// An invalid ID is no error here, because permission is checked before existence.
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        Ok(match given(parameters, "user") {
            "me" => Self::Mine,
            id => Self::Of(id.parse().ok()),
        })
    }

    fn describe(builder: &mut OperationBuilder<'_>) {
        // Not `oneOf`: a validator may ignore formats, and then `me` would be an ID too.
        let schema = AnyOfBuilder::new()
            .item(builder.schemas.refer::<UserId>())
            .item(
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .enum_values(Some(["me"])),
            );
        let user = parameter(ParameterIn::Path, "user", schema);
        builder.parameter(user.description(Some("The ID of a user, or `me` for yourself.")));
        builder.refuses([Code::UserNotFound]);
    }
}

impl FromPath for TokenSelector {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        Ok(Self {
            owner: AccountSelector::from_path(parameters)?,
            token: given(parameters, "token").parse().ok(),
        })
    }

    fn describe(builder: &mut OperationBuilder<'_>) {
        AccountSelector::describe(builder);
        describe_parameter::<TokenId>(builder, "token", Entity::Token);
    }
}

/// Reads the ID of an entity. A malformed ID is treated like an ID that does not exist.
fn identifier<T: FromStr>(
    parameters: &RawPathParams,
    name: &str,
    entity: Entity,
) -> Result<T, Error> {
    let id = given(parameters, name).parse();
    id.map_err(|_| Error::NotFound(entity))
}

fn given<'p>(parameters: &'p RawPathParams, name: &str) -> &'p str {
    parameters
        .iter()
        .find(|(given, _)| *given == name)
        .map_or("", |(_, value)| value)
}

/// Describes a path parameter, and the error if no object has the ID.
fn describe_parameter<T: ToSchema>(builder: &mut OperationBuilder<'_>, name: &str, absent: Entity) {
    let schema = builder.schemas.refer::<T>();
    builder.parameter(parameter(ParameterIn::Path, name, schema));
    builder.refuses([absent.into()]);
}
