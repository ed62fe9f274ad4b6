//! Evaluation contexts in requests.

use std::fmt::Display;

use pennon_core::Context;
use pennon_model::context::read_context;
use pennon_model::email::EMAIL_PATTERN;
use pennon_model::json::Json;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};

use super::openapi::Schemas;
use super::openapi::shape::{nullable, text};
use crate::error::{Fault, escaped};

/// Reads a context at `pointer` in a body.
pub(super) fn context<'a>(
    json: Json<'a>,
    pointer: impl Display,
    faults: &mut Vec<Fault>,
) -> Context<'a> {
    read_context(json, |names, detail| {
        let names = names.iter().map(|name| format!("/{}", escaped(name)));
        let pointer = format!("{pointer}{}", names.collect::<String>());
        faults.push(Fault::pointer(pointer, detail));
    })
}

/// The name of the schema of contexts.
const SCHEMA: &str = "EvaluationContext";

/// Returns the schema of contexts for the OpenAPI description.
pub(super) fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
    schemas.define(SCHEMA, |_| described().into())
}

/// Returns a reference to the schema of contexts, in the response to a request that has a context, too.
pub(super) fn reference() -> Ref {
    Ref::from_schema_name(SCHEMA)
}

fn described() -> ObjectBuilder {
    let email = text("For targeting rules.").pattern(Some(EMAIL_PATTERN));
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(
            "A context for evaluation. Absent and `null` members match no condition. Unknown members are ignored.",
        ))
        .property("userId", absent_or(text("For targeting rules, and the bucketing key of `per_user` rollouts.")))
        .property("tenantId", absent_or(text("For targeting rules, and the bucketing key of `per_tenant` rollouts.")))
        .property("email", absent_or(email))
        .property("country", absent_or(text("For targeting rules.")))
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
        .description(Some("All other attributes for targeting rules, by name."))
        .additional_properties(Some(AdditionalProperties::from(RefOr::from(value))))
}

fn absent_or(schema: ObjectBuilder) -> RefOr<Schema> {
    nullable(schema.into())
}
