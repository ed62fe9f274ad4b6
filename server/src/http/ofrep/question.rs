//! Requests by OpenFeature providers: the SDK key, the flag and the evaluation context.

use std::borrow::Cow;
use std::convert::Infallible;

use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;
use pennon_core::Context;
use pennon_core::context::MAX_CONTEXT_BYTES;
use pennon_core::rule::Attribute;
use pennon_model::context::CUSTOM_ATTRIBUTES;
use pennon_model::email::EMAIL_PATTERN;
use pennon_model::json::Json;
use percent_encoding::percent_decode_str;
use utoipa::openapi::Schema;
use utoipa::openapi::path::ParameterIn;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};

use super::ONE_FLAG;
use super::refusal::Refusal;
use crate::auth::{PresentedCredential, presented};
use crate::error::{Error, Fault};
use crate::evaluation::sdk_environment::{SdkEnvironment, SdkKey};
use crate::http::body::{Body, object};
use crate::http::code::Code;
use crate::http::context;
use crate::http::openapi::shape::{nullable, parameter};
use crate::http::openapi::{API_KEY, Input, OperationBuilder};
use crate::state::AppState;

/// The header that can contain the SDK key instead of `Authorization`.
const X_API_KEY: &str = "x-api-key";

/// The environment of the SDK key in `Authorization` or, without that header, in `X-API-Key`, for evaluating one flag.
pub(super) struct OneFlagEnvironment(pub(super) SdkEnvironment);

/// The same, for evaluating all flags, which counts as a fetch.
pub(super) struct AllFlagsEnvironment(pub(super) SdkEnvironment);

impl FromRequestParts<AppState> for OneFlagEnvironment {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Refusal> {
        let environment = sdk_key(parts, state).and_then(SdkKey::for_evaluation);
        environment.map(Self).map_err(|error| match error {
            // All invalid keys are refused with identical bytes, whichever flag is requested.
            Error::Unauthenticated => error.into(),
            error => Refusal::from(error).about(flag_key(parts.uri.path())),
        })
    }
}

impl FromRequestParts<AppState> for AllFlagsEnvironment {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Refusal> {
        let environment = sdk_key(parts, state).and_then(SdkKey::for_all_results)?;
        Ok(Self(environment))
    }
}

fn sdk_key(parts: &Parts, state: &AppState) -> Result<SdkKey, Error> {
    let key = match presented(&parts.headers) {
        PresentedCredential::Bearer(key) => Some(key),
        PresentedCredential::Nothing => api_key(&parts.headers),
        PresentedCredential::Unusable => None,
    };
    let key = key.ok_or(Error::Unauthenticated)?;
    SdkKey::find(state.serving.clone(), key)
}

/// Returns the value of `X-API-Key`, if the header occurs once.
fn api_key(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(X_API_KEY).into_iter();
    match (values.next(), values.next()) {
        (Some(key), None) => key.to_str().ok(),
        _ => None,
    }
}

impl Input for OneFlagEnvironment {
    fn describe(builder: &mut OperationBuilder<'_>) {
        SdkKey::describe(builder);
        builder.needs_credential(API_KEY);
    }
}

impl Input for AllFlagsEnvironment {
    fn describe(builder: &mut OperationBuilder<'_>) {
        OneFlagEnvironment::describe(builder);
    }
}

/// The flag key in the path. Any text is accepted: an invalid key belongs to no flag.
pub(super) struct FlagKey(pub(super) String);

impl<S: Sync> FromRequestParts<S> for FlagKey {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(flag_key(parts.uri.path()).unwrap_or_default()))
    }
}

/// Returns the flag key in a path, which may be empty or contain slashes; none if all flags are requested.
fn flag_key(path: &str) -> Option<String> {
    let key = path.strip_prefix(ONE_FLAG)?;
    let decoded = percent_decode_str(key).decode_utf8();
    // Flag keys contain no `%`, so an undecodable key is kept as it was sent, and is unknown.
    Some(decoded.unwrap_or(key.into()).into_owned())
}

impl Input for FlagKey {
    fn describe(builder: &mut OperationBuilder<'_>) {
        let text = ObjectBuilder::new().schema_type(Type::String);
        let key = parameter(ParameterIn::Path, "key", text);
        builder.parameter(key.description(Some("The flag's key.")));
    }
}

/// The body with the context: `{ "context": { .. } }`.
pub(super) struct Question(Bytes);

impl<S: Sync> FromRequest<S> for Question {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let body = Body::<()>::from_request(request, state).await?;
        Ok(Self(body.bytes(MAX_CONTEXT_BYTES).await?))
    }
}

/// A body whose refusal is reported later, together with the flag key.
impl Input for Result<Question, Refusal> {
    fn describe(builder: &mut OperationBuilder<'_>) {
        Question::describe(builder);
    }
}

impl Input for Question {
    fn describe(builder: &mut OperationBuilder<'_>) {
        let schema = builder.schemas.define("OfrepQuestion", |_| {
            let text = || nullable(ObjectBuilder::new().schema_type(Type::String).into());
            let email = ObjectBuilder::new()
                .schema_type(Type::String)
                .pattern(Some(EMAIL_PATTERN));
            let context = ObjectBuilder::new()
                .schema_type(Type::Object)
                .description(Some(
                    "`targetingKey` is used as `userId` if that is absent. `userId`, `tenantId`, `email` and \
                     `country` are the built-in attributes. All other strings, numbers and booleans are custom \
                     attributes, including those in `customAttributes`. All other values are ignored.",
                ))
                .property("targetingKey", text())
                .property("userId", text())
                .property("tenantId", text())
                .property("email", nullable(email.into()))
                .property("country", text())
                .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true)))
                .examples([serde_json::json!({ "targetingKey": "ada", "country": "DE", "planLevel": 4 })]);
            ObjectBuilder::new()
                .schema_type(Type::Object)
                .description(Some("The evaluation context. Other members are ignored."))
                .property("context", nullable(context.into()))
                .into()
        });
        builder.body(schema);
        builder.refuses([
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::RequestTimeout,
        ]);
    }
}

impl Question {
    /// Returns the body as it was sent.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Converts the body to Pennon's evaluation context.
    pub(super) fn context(&self) -> Result<Context<'_>, Refusal> {
        let mut body = object(&self.0).map_err(|error| Refusal::parse_error(error.to_string()))?;
        let members = match body.take("context") {
            Json::Object(members) => members,
            Json::Null => Vec::new(),
            _ => {
                return Err(Refusal::invalid_context(
                    "/context must be an object".into(),
                ));
            }
        };
        let mut faults = Vec::new();
        let context = translated(members, &mut faults);
        let context = context::context(context, "/context", &mut faults);
        if faults.is_empty() {
            return Ok(context);
        }
        let sentence = |fault: &Fault| format!("{} {}", fault.location, fault.detail);
        let sentences: Vec<String> = faults.iter().map(sentence).collect();
        Err(Refusal::invalid_context(sentences.join("; ")))
    }
}

/// Converts the flat context of a provider to Pennon's form.
fn translated<'a>(members: Vec<(Cow<'a, str>, Json<'a>)>, faults: &mut Vec<Fault>) -> Json<'a> {
    let (mut built_in, mut custom) = (Vec::new(), Vec::new());
    let mut targeting_key = Json::Null;
    for (name, value) in members {
        match (&*name, value) {
            ("targetingKey", value @ (Json::String(_) | Json::Null)) => targeting_key = value,
            ("targetingKey", _) => {
                faults.push(Fault::member("/context", &name, "must be a string"));
            }
            (name_of, value) if is_built_in(name_of) => built_in.push((name, value)),
            (CUSTOM_ATTRIBUTES, Json::Object(members)) => {
                custom.extend(members.into_iter().filter(|(_, value)| is_plain(value)));
            }
            (_, value) if is_plain(&value) => custom.push((name, value)),
            _ => {}
        }
    }
    let user_id = "userId";
    let names_user = |(name, value): &(_, Json<'_>)| *name == user_id && *value != Json::Null;
    if !built_in.iter().any(names_user) {
        built_in.push((user_id.into(), targeting_key));
    }
    built_in.push((CUSTOM_ATTRIBUTES.into(), Json::Object(custom)));
    Json::Object(built_in)
}

fn is_built_in(name: &str) -> bool {
    let built_in = Attribute::BUILT_IN;
    built_in.iter().any(|attribute| attribute.as_str() == name)
}

/// Returns true if a value can be an attribute. A provider's context can also contain lists and objects, which no rule
/// uses.
fn is_plain(value: &Json<'_>) -> bool {
    match value {
        Json::String(_) | Json::Boolean(_) => true,
        Json::Number(number) => number.is_finite(),
        Json::Null | Json::Array(_) | Json::Object(_) => false,
    }
}
