//! The bodies of evaluation requests in the OpenAPI description. They are read without copying in [`super::evaluate`]
//! and [`crate::http::context`].

use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};

use super::evaluate::BATCH_ITEMS;
use crate::http::context;
use crate::http::openapi::shape::{nullable, text};
use crate::http::openapi::{InBody, Schemas};

/// A request for one evaluation.
pub(super) enum Question {}

/// A request for several evaluations.
pub(super) enum Questions {}

impl InBody for Question {
    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        schemas.define("Question", |schemas| {
            // The type is not declared, because the member is ignored if the header is present.
            let key = ObjectBuilder::new()
                .schema_type(SchemaType::AnyValue)
                .description(Some(
                    "The SDK key, a string, for clients without an `Authorization` header; ignored with the header.",
                ));
            question(schemas)
                .description(Some(
                    "A flag and the context for which to evaluate it. Other members are ignored.",
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
                    "Flags to evaluate, each with a context. Other members are ignored.",
                ))
                .property("evaluations", evaluations)
                .required("evaluations")
                .into()
        })
    }
}

fn question(schemas: &mut Schemas) -> ObjectBuilder {
    let context = context::schema(schemas);
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .property(
            "flagKey",
            text("The flag's key.").examples(["pay_by_invoice"]),
        )
        .required("flagKey")
        .property("context", nullable(context))
}
