//! The bodies of evaluation requests, as the API's description shows them. They are read without copying, in
//! [`super::evaluate`] and [`super::context`].

use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, ObjectBuilder, OneOfBuilder, Type,
};
use utoipa::openapi::{RefOr, Schema};

use super::evaluate::BATCH_ITEMS;
use crate::http::openapi::shape::nullable;
use crate::http::openapi::{InBody, Schemas};

/// An evaluation that is asked for.
pub(super) enum Question {}

/// Evaluations that are asked for at once.
pub(super) enum Questions {}

impl InBody for Question {
    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        schemas.define("Question", |schemas| {
            let key = text("The key, for clients that send no `Authorization` header.");
            question(schemas)
                .description(Some(
                    "A flag to evaluate, and for whom. Other members are ignored.",
                ))
                .property("sdkKey", key)
                .into()
        })
    }
}

impl InBody for Questions {
    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        schemas.define("Questions", |schemas| {
            let evaluations = ArrayBuilder::new()
                .items(question(schemas))
                .min_items(Some(*BATCH_ITEMS.start()))
                .max_items(Some(*BATCH_ITEMS.end()));
            ObjectBuilder::new()
                .schema_type(Type::Object)
                .description(Some(
                    "Flags to evaluate, each for a context. Other members are ignored.",
                ))
                .property("evaluations", evaluations)
                .required("evaluations")
                .into()
        })
    }
}

fn question(schemas: &mut Schemas) -> ObjectBuilder {
    let context = schemas.define("EvaluationContext", |_| context().into());
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .property(
            "flagKey",
            text("The flag's key.").examples(["pay_by_invoice"]),
        )
        .required("flagKey")
        .property("context", nullable(context))
}

fn context() -> ObjectBuilder {
    let email = text("For targeting.").pattern(Some(
        // As `is_email` reads it.
        "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\
         (\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$",
    ));
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(
            "Whom a flag is evaluated for. What is absent or `null` matches no condition; other members are ignored.",
        ))
        .property("userId", absent_or(text("For targeting, and the bucketing value of `per_user` rollouts.")))
        .property("tenantId", absent_or(text("For targeting, and the bucketing value of `per_tenant` rollouts.")))
        .property("email", absent_or(email))
        .property("country", absent_or(text("For targeting.")))
        .property("customAttributes", absent_or(custom_attributes()))
        .examples([serde_json::json!({
            "userId": "ada",
            "country": "DE",
            "customAttributes": { "planLevel": 4 },
        })])
}

fn custom_attributes() -> ObjectBuilder {
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
