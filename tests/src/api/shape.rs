//! Schemas as sets of alternatives without references, a form in which two schemas can be compared.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::members;

/// The keywords that limit numbers, texts and lists from below and from above.
const LOWER: [&str; 3] = ["minimum", "minLength", "minItems"];
const UPPER: [&str; 3] = ["maximum", "maxLength", "maxItems"];

/// The keywords that do not affect which values are valid.
const PROSE: [&str; 5] = ["description", "title", "example", "examples", "deprecated"];

/// The alternatives that a schema allows.
#[derive(Clone, Debug, Default)]
pub(super) struct Union {
    /// The names by which a field with this schema may be listed as open.
    pub(super) names: BTreeSet<String>,
    pub(super) alternatives: Vec<Shape>,
}

/// Values of one type.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub(super) names: BTreeSet<String>,
    /// The type; `None` allows every type.
    pub(super) kind: Option<String>,
    pub(super) values: Option<BTreeSet<String>>,
    pub(super) properties: BTreeMap<String, Value>,
    pub(super) required: BTreeSet<String>,
    /// `additionalProperties`
    pub(super) others: Option<Value>,
    pub(super) items: Option<Value>,
    pub(super) lower: BTreeMap<&'static str, f64>,
    pub(super) upper: BTreeMap<&'static str, f64>,
    pub(super) pattern: Option<String>,
    pub(super) format: Option<String>,
    /// Keywords that are not compared.
    pub(super) unknown: BTreeSet<String>,
}

impl Union {
    pub(super) fn of(description: &Value, schema: &Value) -> Self {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = description.pointer(reference.trim_start_matches('#'));
            let target = target.unwrap_or_else(|| panic!("{reference} does not resolve"));
            let mut union = Self::of(description, target);
            union
                .names
                .extend(reference.rsplit('/').next().map(str::to_owned));
            return union.noting(schema, &["$ref"]);
        }
        let mut unions = ["oneOf", "anyOf"].into_iter();
        let union = unions.find_map(|keyword| Some((keyword, schema[keyword].as_array()?)));
        if let Some((keyword, alternatives)) = union {
            let alternatives = alternatives
                .iter()
                .flat_map(|part| Self::of(description, part).named());
            let union = Self {
                alternatives: alternatives.collect(),
                ..Self::default()
            };
            return union.noting(schema, &[keyword]);
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let mut parts = parts.iter().map(|part| Self::of(description, part));
            let first = parts.next().unwrap_or_default();
            return parts.fold(first, Self::both).noting(schema, &["allOf"]);
        }
        Self {
            alternatives: Shape::of(schema),
            ..Self::default()
        }
    }

    /// Returns the alternatives, each with the names of the whole union.
    fn named(self) -> Vec<Shape> {
        let Self {
            names,
            mut alternatives,
        } = self;
        for shape in &mut alternatives {
            shape.names.extend(names.iter().cloned());
        }
        alternatives
    }

    /// Returns the values that both allow.
    fn both(self, other: Self) -> Self {
        let others = other.named();
        let named = self.named();
        let pairs = named
            .iter()
            .flat_map(|one| others.iter().filter_map(|other| one.both(other)));
        Self {
            alternatives: pairs.collect(),
            ..Self::default()
        }
    }

    /// Records the keywords other than those in `read` as not compared.
    fn noting(mut self, schema: &Value, read: &[&str]) -> Self {
        let unknown = unknown(schema, read);
        for shape in &mut self.alternatives {
            shape.unknown.extend(unknown.iter().cloned());
        }
        self
    }
}

impl Shape {
    fn of(schema: &Value) -> Vec<Self> {
        let kinds: Vec<Option<String>> = match &schema["type"] {
            Value::String(kind) => vec![Some(kind.clone())],
            Value::Array(kinds) => kinds
                .iter()
                .map(|kind| kind.as_str().map(str::to_owned))
                .collect(),
            _ if schema.get("properties").is_some() => vec![Some("object".to_owned())],
            _ => vec![None],
        };
        kinds
            .into_iter()
            .map(|kind| Self::with_kind(schema, kind))
            .collect()
    }

    fn with_kind(schema: &Value, kind: Option<String>) -> Self {
        if kind.as_deref() == Some("null") {
            return Self {
                kind,
                ..Self::default()
            };
        }
        let text = |name: &str| schema[name].as_str().map(str::to_owned);
        let texts = |name: &str| {
            schema[name]
                .as_array()
                .map(|list| list.iter().map(plain).collect())
        };
        let limits = |names: [&'static str; 3]| {
            let limit = |name| Some((name, schema[name].as_f64()?));
            names.into_iter().filter_map(limit).collect()
        };
        let properties = members(schema.get("properties"));
        Self {
            kind,
            names: BTreeSet::new(),
            values: texts("enum"),
            properties: properties
                .map(|(name, schema)| (name.to_owned(), schema.clone()))
                .collect(),
            required: texts("required").unwrap_or_default(),
            others: schema.get("additionalProperties").cloned(),
            items: schema.get("items").cloned(),
            lower: limits(LOWER),
            upper: limits(UPPER),
            pattern: text("pattern"),
            format: text("format"),
            unknown: unknown(schema, &[]),
        }
    }

    /// Returns the values that both allow, or `None` if their types differ.
    fn both(&self, other: &Self) -> Option<Self> {
        if self.kind.is_some() && other.kind.is_some() && self.kind != other.kind {
            return None;
        }
        let mut both = self.clone();
        both.kind = self.kind.clone().or_else(|| other.kind.clone());
        both.names.extend(other.names.iter().cloned());
        both.values = match (&self.values, &other.values) {
            (Some(one), Some(other)) => Some(one & other),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        for (name, schema) in &other.properties {
            let earlier = both.properties.remove(name);
            let schema =
                earlier.map_or_else(|| schema.clone(), |one| json!({ "allOf": [one, schema] }));
            both.properties.insert(name.clone(), schema);
        }
        both.required.extend(other.required.iter().cloned());
        both.others = self.others.clone().or_else(|| other.others.clone());
        both.items = self.items.clone().or_else(|| other.items.clone());
        both.lower.extend(&other.lower);
        both.upper.extend(&other.upper);
        both.pattern = self.pattern.clone().or_else(|| other.pattern.clone());
        both.format = self.format.clone().or_else(|| other.format.clone());
        both.unknown.extend(other.unknown.iter().cloned());
        Some(both)
    }
}

/// Returns a value of `enum` or `required` without quotation marks.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the keywords of a schema that the comparison does not read. `propertyNames` can be ignored: it only requires
/// names to be texts.
fn unknown(schema: &Value, read: &[&str]) -> BTreeSet<String> {
    let own = [
        "type",
        "enum",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "pattern",
        "format",
        "propertyNames",
    ];
    let is_known = |name: &str| {
        let known = if read.is_empty() {
            own.as_slice()
        } else {
            read
        };
        let limits = read.is_empty() && (LOWER.contains(&name) || UPPER.contains(&name));
        known.contains(&name) || limits || PROSE.contains(&name)
    };
    let names = members(Some(schema)).map(|(name, _)| name);
    names
        .filter(|name| !is_known(name))
        .map(str::to_owned)
        .collect()
}
