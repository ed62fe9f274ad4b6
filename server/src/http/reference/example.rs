//! Examples of what schemas describe.

use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    ArrayItems, KnownFormat, Object, Schema, SchemaFormat, SchemaType, Type,
};

use super::shapes::Shapes;

/// An example as indented JSON, with members in the order of the schema.
pub(super) fn example(shapes: Shapes<'_>, schema: &RefOr<Schema>) -> String {
    let mut json = String::new();
    write(&mut json, shapes, schema, 0);
    json
}

fn write(json: &mut String, shapes: Shapes<'_>, schema: &RefOr<Schema>, depth: usize) {
    match shapes.resolve(schema) {
        Some(Schema::Array(array)) => match &array.items {
            ArrayItems::RefOrSchema(items) => {
                json.push('[');
                line(json, depth + 1);
                write(json, shapes, items, depth + 1);
                line(json, depth);
                json.push(']');
            }
            ArrayItems::False => json.push_str("[]"),
        },
        Some(Schema::OneOf(forms)) => {
            if let Some(first) = forms.items.iter().find(|form| !is_null(shapes, form)) {
                write(json, shapes, first, depth);
            }
        }
        Some(schema @ Schema::AllOf(_)) => members(json, shapes, schema, depth),
        Some(Schema::Object(object)) => match own(object) {
            Some(value) => value_at(json, &value, depth),
            None => members(json, shapes, &Schema::Object(object.clone()), depth),
        },
        _ => json.push_str("null"),
    }
}

fn members(json: &mut String, shapes: Shapes<'_>, schema: &Schema, depth: usize) {
    json.push('{');
    // A later member of the same name stands for an earlier one, as in parts that narrow others.
    for (index, member) in shapes.members(schema).iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        line(json, depth + 1);
        value_at(json, &member.name.into(), depth);
        json.push_str(": ");
        write(json, shapes, member.schema, depth + 1);
    }
    line(json, depth);
    json.push('}');
}

/// The example that a schema brings with it, or one that its type suggests; none for an object with members.
fn own(object: &Object) -> Option<Value> {
    let given = object.example.clone().or(object.examples.first().cloned());
    let words = object.enum_values.as_ref();
    let given = given.or_else(|| words.and_then(|words| words.first().cloned()));
    let SchemaType::Type(kind) = &object.schema_type else {
        return given.or(Some("…".into()));
    };
    let date_time = Some(SchemaFormat::KnownFormat(KnownFormat::DateTime));
    given.or_else(|| match kind {
        Type::String if object.format == date_time => Some("2026-03-01T09:30:00.000Z".into()),
        Type::String => Some("…".into()),
        Type::Integer | Type::Number => Some(1.into()),
        Type::Boolean => Some(true.into()),
        Type::Null => Some(Value::Null),
        Type::Array => Some(Value::Array(Vec::new())),
        Type::Object if object.properties.is_empty() => Some(serde_json::json!({})),
        Type::Object => None,
    })
}

/// Writes a whole value, indented so that it fits its place.
fn value_at(json: &mut String, value: &Value, depth: usize) {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    for (index, text) in pretty.lines().enumerate() {
        if index > 0 {
            line(json, depth);
        }
        json.push_str(text);
    }
}

fn line(json: &mut String, depth: usize) {
    json.push('\n');
    json.push_str(&"  ".repeat(depth));
}

fn is_null(shapes: Shapes<'_>, schema: &RefOr<Schema>) -> bool {
    let null = SchemaType::Type(Type::Null);
    matches!(shapes.resolve(schema), Some(Schema::Object(object)) if object.schema_type == null)
}
