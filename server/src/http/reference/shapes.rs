//! Schemas in words.

use utoipa::Number;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    Array, ArrayItems, Components, KnownFormat, Object, Schema, SchemaFormat, SchemaType, Type,
};

use super::html::Html;

/// The schemas that others refer to.
#[derive(Clone, Copy)]
pub(super) struct Shapes<'d>(pub(super) &'d Components);

/// A member of an object.
pub(super) struct Member<'d> {
    pub(super) name: &'d str,
    pub(super) required: bool,
    pub(super) schema: &'d RefOr<Schema>,
}

impl<'d> Shapes<'d> {
    /// What a schema is, wherever it is written.
    pub(super) fn resolve(self, schema: &'d RefOr<Schema>) -> Option<&'d Schema> {
        match schema {
            RefOr::T(schema) => Some(schema),
            RefOr::Ref(reference) => {
                let name = reference.ref_location.rsplit('/').next()?;
                self.resolve(self.0.schemas.get(name)?)
            }
        }
    }

    /// The members of an object, those of its parts included.
    pub(super) fn members(self, schema: &'d Schema) -> Vec<Member<'d>> {
        match schema {
            Schema::Object(object) => {
                let member = |(name, schema): (&'d String, &'d RefOr<Schema>)| Member {
                    name,
                    required: object.required.contains(name),
                    schema,
                };
                object.properties.iter().map(member).collect()
            }
            Schema::AllOf(parts) => {
                let parts = parts.items.iter().filter_map(|part| self.resolve(part));
                parts.flat_map(|part| self.members(part)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The forms of which an object can have one; none if there is only one.
    pub(super) fn forms(self, schema: &'d Schema) -> Vec<&'d Schema> {
        let items = match schema {
            Schema::OneOf(forms) => &forms.items,
            Schema::AnyOf(forms) => &forms.items,
            _ => return Vec::new(),
        };
        let forms = items.iter().filter_map(|form| self.resolve(form));
        forms
            .filter(|form| !self.members(form).is_empty())
            .collect()
    }

    /// Whether a schema is better shown in a place of its own.
    pub(super) fn is_compound(self, schema: &'d Schema) -> bool {
        match schema {
            Schema::Array(_) => true,
            other => !self.members(other).is_empty() || !self.forms(other).is_empty(),
        }
    }

    /// What a value is for: what is said where it is used, or else where it is defined.
    pub(super) fn about(self, schema: &'d RefOr<Schema>) -> &'d str {
        match schema {
            RefOr::Ref(reference) if !reference.description.is_empty() => &reference.description,
            other => self
                .resolve(other)
                .map_or("", |schema| self.description(schema)),
        }
    }

    fn description(self, schema: &'d Schema) -> &'d str {
        let own = match schema {
            Schema::Object(object) => &object.description,
            Schema::Array(array) => &array.description,
            Schema::OneOf(forms) => &forms.description,
            Schema::AllOf(parts) => &parts.description,
            Schema::AnyOf(forms) => &forms.description,
            _ => &None,
        };
        match (own, schema) {
            (Some(own), _) => own,
            (None, Schema::OneOf(forms)) => {
                let mut abouts = forms.items.iter().map(|form| self.about(form));
                abouts.find(|about| !about.is_empty()).unwrap_or_default()
            }
            _ => "",
        }
    }

    /// Says in a few words what a value looks like.
    pub(super) fn label(self, html: &mut Html, schema: &'d RefOr<Schema>) {
        if let RefOr::Ref(reference) = schema
            && let Some(name) = reference.ref_location.rsplit('/').next()
            && self
                .resolve(schema)
                .is_some_and(|schema| self.is_compound(schema))
        {
            html.raw("<a href=\"#schema-").text(name).raw("\">");
            html.text(name).raw("</a>");
            return;
        }
        match self.resolve(schema) {
            Some(Schema::Object(object)) => leaf(html, object),
            Some(Schema::Array(array)) => self.list(html, array),
            Some(Schema::OneOf(forms)) => self.one_of(html, &forms.items),
            Some(Schema::AnyOf(forms)) => self.one_of(html, &forms.items),
            _ => drop(html.text("any value")),
        }
    }

    /// Says what a list holds.
    pub(super) fn list(self, html: &mut Html, array: &'d Array) {
        html.text("list of ");
        if let ArrayItems::RefOrSchema(items) = &array.items {
            self.label(html, items);
        }
        let bounds = (array.min_items, array.max_items);
        range(html, bounds.0.map(number), bounds.1.map(number), "items");
    }

    fn one_of(self, html: &mut Html, forms: &'d [RefOr<Schema>]) {
        for (index, form) in forms.iter().enumerate() {
            if index > 0 {
                html.text(" or ");
            }
            self.label(html, form);
        }
    }
}

/// Says what a value without parts looks like.
fn leaf(html: &mut Html, object: &Object) {
    if let Some(words) = &object.enum_values {
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                html.raw(" <span class=\"or\">|</span> ");
            }
            html.code(word.as_str().unwrap_or(&word.to_string()));
        }
        return;
    }
    let SchemaType::Type(kind) = &object.schema_type else {
        html.text("any value");
        return;
    };
    html.text(match (kind, &object.format) {
        (_, Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))) => "date-time",
        (_, Some(SchemaFormat::Custom(format))) => format,
        (Type::String, _) => "text",
        (Type::Integer, _) => "integer",
        (Type::Number, _) => "number",
        (Type::Boolean, _) => "boolean",
        (Type::Object, _) => "object",
        (Type::Array, _) => "list",
        (Type::Null, _) => "null",
    });
    let lengths = (object.min_length.map(number), object.max_length.map(number));
    range(html, lengths.0, lengths.1, "characters");
    let (least, most) = (object.minimum.as_ref(), object.maximum.as_ref());
    range(html, least.map(decimal), most.map(decimal), "");
    if let Some(default) = &object.default {
        html.text(", by default ")
            .code(default.as_str().unwrap_or(&default.to_string()));
    }
}

fn range(html: &mut Html, least: Option<String>, most: Option<String>, what: &str) {
    let bounds = match (least, most) {
        (Some(least), Some(most)) => format!(", {least} to {most} {what}"),
        (Some(least), None) => format!(", at least {least} {what}"),
        (None, Some(most)) => format!(", at most {most} {what}"),
        (None, None) => return,
    };
    html.text(bounds.trim_end());
}

fn number(number: usize) -> String {
    number.to_string()
}

fn decimal(number: &Number) -> String {
    match number {
        Number::Int(number) => number.to_string(),
        Number::UInt(number) => number.to_string(),
        Number::Float(number) => number.to_string(),
    }
}
