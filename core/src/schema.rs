//! Schemas of types whose JSON form differs from their fields.

use alloc::string::String;
use alloc::vec::Vec;

use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::rule::{Attribute, Condition, Integer, OperandText, Operator, ValueType};

/// Schemas by name, as [`ToSchema::schemas`] collects them.
pub type NamedSchemas = Vec<(String, RefOr<Schema>)>;

impl ToSchema for Attribute {}

impl PartialSchema for Attribute {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "The name of a context attribute: `userId`, `tenantId`, `email` or `country`, or a custom name of 1 to \
                 128 characters.",
            ))
            .min_length(Some(1))
            .max_length(Some(128))
            .pattern(Some(r"^[^\u0000]*$"))
            .examples(["country"])
            .into()
    }
}

impl ToSchema for Condition {
    fn schemas(schemas: &mut NamedSchemas) {
        add_schema::<Attribute>(schemas);
        add_schema::<Operator>(schemas);
        add_schema::<OperandText>(schemas);
        add_schema::<Integer>(schemas);
    }
}

impl PartialSchema for Condition {
    fn schema() -> RefOr<Schema> {
        let boolean = ObjectBuilder::new().schema_type(Type::Boolean);
        OneOfBuilder::new()
            .description(Some(
                "A comparison of an attribute with a fixed value, whose type is `valueType`.",
            ))
            .item(comparison(
                ValueType::String,
                "valueString",
                reference::<OperandText>(),
            ))
            .item(comparison(
                ValueType::Number,
                "valueInt",
                reference::<Integer>(),
            ))
            .item(comparison(ValueType::Boolean, "valueBool", boolean.into()))
            .into()
    }
}

fn comparison(kind: ValueType, member: &str, value: RefOr<Schema>) -> ObjectBuilder {
    let string = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some([kind.as_str()]));
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .property("attribute", reference::<Attribute>())
        .required("attribute")
        .property("operator", reference::<Operator>())
        .required("operator")
        .property("valueType", string)
        .required("valueType")
        .property(member, value)
        .required(member)
}

/// Adds the schema of a type, and the schemas that it references.
pub fn add_schema<T: ToSchema>(schemas: &mut NamedSchemas) {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
}

/// Returns a reference to the schema of a type.
pub fn reference<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}
