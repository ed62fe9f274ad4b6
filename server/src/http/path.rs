//! Identifiers in paths. One that is malformed is one that does not exist.

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::id::{EnvironmentId, FlagId, RuleId, TokenId, UserId};

use utoipa::ToSchema;
use utoipa::openapi::Required;
use utoipa::openapi::path::{ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};

use super::code::Code;
use super::openapi::OperationBuilder;
use crate::admin::tokens::TokenSelector;
use crate::admin::users::AccountSelector;
use crate::error::{Entity, Error};

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

    fn describe(builder: &mut OperationBuilder<'_>);
}

impl FromPath for FlagId {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        parameter(parameters, "flag")
            .parse()
            .map_err(|_| Error::NotFound(Entity::Flag))
    }

    fn describe(builder: &mut OperationBuilder<'_>) {
        place::<Self>(builder, "flag", Code::FlagNotFound);
    }
}

impl FromPath for EnvironmentId {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        parameter(parameters, "environment")
            .parse()
            .map_err(|_| Error::NotFound(Entity::Environment))
    }

    fn describe(builder: &mut OperationBuilder<'_>) {
        place::<Self>(builder, "environment", Code::EnvironmentNotFound);
    }
}

impl FromPath for RuleId {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        parameter(parameters, "rule")
            .parse()
            .map_err(|_| Error::NotFound(Entity::Rule))
    }

    fn describe(builder: &mut OperationBuilder<'_>) {
        place::<Self>(builder, "rule", Code::RuleNotFound);
    }
}

/// A pair, and another environment of the same flag.
impl FromPath for (FlagEnvironmentId, EnvironmentId) {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        let other = parameter(parameters, "other")
            .parse()
            .map_err(|_| Error::NotFound(Entity::Environment))?;
        Ok((FlagEnvironmentId::from_path(parameters)?, other))
    }

    fn describe(builder: &mut OperationBuilder<'_>) {
        FlagEnvironmentId::describe(builder);
        place::<EnvironmentId>(builder, "other", Code::EnvironmentNotFound);
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
    /// Whether somebody may ask is checked before whether there is such an account, so this refuses nothing.
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        Ok(match parameter(parameters, "user") {
            "me" => Self::Mine,
            id => Self::Of(id.parse().ok()),
        })
    }

    fn describe(builder: &mut OperationBuilder<'_>) {
        let schema = OneOfBuilder::new()
            .item(builder.schemas.refer::<UserId>())
            .item(
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .enum_values(Some(["me"])),
            );
        builder.parameter(
            ParameterBuilder::new()
                .name("user")
                .parameter_in(ParameterIn::Path)
                .required(Required::True)
                .description(Some("The id of a user, or `me` for oneself."))
                .schema(Some(schema))
                .build(),
        );
        builder.refuses([Code::UserNotFound]);
    }
}

impl FromPath for TokenSelector {
    fn from_path(parameters: &RawPathParams) -> Result<Self, Error> {
        Ok(Self {
            owner: AccountSelector::from_path(parameters)?,
            token: parameter(parameters, "token").parse().ok(),
        })
    }

    fn describe(builder: &mut OperationBuilder<'_>) {
        AccountSelector::describe(builder);
        place::<TokenId>(builder, "token", Code::TokenNotFound);
    }
}

fn parameter<'p>(parameters: &'p RawPathParams, name: &str) -> &'p str {
    parameters
        .iter()
        .find(|(given, _)| *given == name)
        .map_or("", |(_, value)| value)
}

/// Describes one place in a path, and what is answered if nothing has the identifier.
fn place<T: ToSchema>(builder: &mut OperationBuilder<'_>, name: &str, absent: Code) {
    let schema = builder.schemas.refer::<T>();
    let parameter = ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .schema(Some(schema))
        .build();
    builder.parameter(parameter);
    builder.refuses([absent]);
}
