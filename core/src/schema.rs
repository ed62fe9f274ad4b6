//! Schemas of types whose JSON form differs from their fields.

use alloc::string::String;
use alloc::vec::Vec;

use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::context::CustomValue;
use crate::evaluate::{ConditionTrace, Outcome};
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
        let about = "A comparison of an attribute with a fixed value, whose type is `valueType`.";
        one_of(about, comparisons())
    }
}

impl ToSchema for ConditionTrace {
    fn schemas(schemas: &mut NamedSchemas) {
        Condition::schemas(schemas);
        add_schema::<CustomValue<'static>>(schemas);
        add_schema::<Outcome>(schemas);
    }
}

/// Complete objects instead of an `allOf` with a [`Condition`], which many generators of clients cannot read.
impl PartialSchema for ConditionTrace {
    fn schema() -> RefOr<Schema> {
        let traced = comparisons().map(|comparison| {
            let actual = OneOfBuilder::new()
                .description(Some(
                    "The attribute's value in the context, with its JSON type. A string of more than 1,024 bytes is \
                     cut, and ends with `…`.",
                ))
                .item(reference::<CustomValue<'static>>())
                .item(ObjectBuilder::new().schema_type(Type::Null));
            comparison
                .property("actual", actual)
                .required("actual")
                .property("outcome", reference::<Outcome>())
                .required("outcome")
        });
        one_of(
            "One condition, the attribute's value, and the outcome.",
            traced,
        )
    }
}

fn one_of(about: &str, alternatives: [ObjectBuilder; 3]) -> RefOr<Schema> {
    let empty = OneOfBuilder::new().description(Some(about));
    alternatives
        .into_iter()
        .fold(empty, OneOfBuilder::item)
        .into()
}

/// Returns the schemas of conditions with each type of value.
fn comparisons() -> [ObjectBuilder; 3] {
    let boolean = ObjectBuilder::new().schema_type(Type::Boolean);
    [
        comparison(ValueType::String, "valueString", reference::<OperandText>()),
        comparison(ValueType::Number, "valueInt", reference::<Integer>()),
        comparison(ValueType::Boolean, "valueBool", boolean.into()),
    ]
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
