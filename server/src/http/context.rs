//! Evaluation contexts out of requests.

use std::borrow::Cow;
use std::collections::BTreeMap;

use pennon_core::Context;
use pennon_core::context::{CustomValue, is_email};

use super::json::Json;
use super::openapi::Schemas;
use super::openapi::shape::nullable;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::error::Fault;

/// Reads a context; absent and null mean empty. Members that are not known are ignored, bad ones are reported.
pub(super) fn context<'a>(
    mut json: Json<'a>,
    pointer: &str,
    faults: &mut Vec<Fault>,
) -> Context<'a> {
    match json {
        Json::Object(_) => {}
        Json::Null => return Context::default(),
        _ => {
            faults.push(Fault::pointer(pointer, "must be an object"));
            return Context::default();
        }
    }
    let mut text = |name: &str, faults: &mut Vec<Fault>| match json.take(name) {
        Json::String(text) => Some(text),
        Json::Null => None,
        _ => {
            faults.push(Fault::pointer(
                format!("{pointer}/{name}"),
                "must be a string",
            ));
            None
        }
    };
    let user_id = text("userId", faults);
    let tenant_id = text("tenantId", faults);
    let email = text("email", faults);
    let country = text("country", faults);
    if email.as_deref().is_some_and(|email| !is_email(email)) {
        faults.push(Fault::pointer(
            format!("{pointer}/email"),
            "must be an e-mail address",
        ));
    }
    let custom = custom_attributes(json.take("customAttributes"), pointer, faults);
    Context {
        user_id,
        tenant_id,
        email,
        country,
        custom,
    }
}

fn custom_attributes<'a>(
    json: Json<'a>,
    pointer: &str,
    faults: &mut Vec<Fault>,
) -> BTreeMap<Cow<'a, str>, CustomValue<'a>> {
    let members = match json {
        Json::Object(members) => members,
        Json::Null => return BTreeMap::new(),
        _ => {
            faults.push(Fault::pointer(
                format!("{pointer}/customAttributes"),
                "must be an object",
            ));
            return BTreeMap::new();
        }
    };
    let mut attributes = BTreeMap::new();
    for (name, value) in members {
        let value = match value {
            Json::String(text) => CustomValue::String(text),
            Json::Number(number) if number.is_finite() => CustomValue::Number(number),
            Json::Boolean(boolean) => CustomValue::Boolean(boolean),
            Json::Null => {
                attributes.remove(&name);
                continue;
            }
            _ => {
                faults.push(Fault::member(
                    &format!("{pointer}/customAttributes"),
                    &name,
                    "must be a string, a number or a boolean",
                ));
                continue;
            }
        };
        attributes.insert(name, value);
    }
    attributes
}

/// How contexts look, for the API's description.
pub(super) fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
    schemas.define("EvaluationContext", |_| described().into())
}

/// What [`is_email`] takes, as a pattern.
pub(super) const EMAIL: &str = "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+\
     @[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$";

fn described() -> ObjectBuilder {
    let email = text("For targeting.").pattern(Some(EMAIL));
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(
            "Whom a flag is evaluated for. What is absent or `null` matches no condition; other members are ignored.",
        ))
        .property("userId", absent_or(text("For targeting, and the bucketing value of `per_user` rollouts.")))
        .property("tenantId", absent_or(text("For targeting, and the bucketing value of `per_tenant` rollouts.")))
        .property("email", absent_or(email))
        .property("country", absent_or(text("For targeting.")))
        .property("customAttributes", absent_or(described_attributes()))
        .examples([serde_json::json!({
            "userId": "ada",
            "country": "DE",
            "customAttributes": { "planLevel": 4 },
        })])
}

fn described_attributes() -> ObjectBuilder {
    let value = [Type::String, Type::Number, Type::Boolean, Type::Null]
        .into_iter()
        .map(|kind| ObjectBuilder::new().schema_type(kind))
        .fold(OneOfBuilder::new(), OneOfBuilder::item);
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("Every other attribute, for targeting, by name."))
        .additional_properties(Some(AdditionalProperties::from(RefOr::from(value))))
}

fn text(about: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(about))
}

fn absent_or(schema: ObjectBuilder) -> RefOr<Schema> {
    nullable(schema.into())
}
