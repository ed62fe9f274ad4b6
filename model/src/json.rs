//! A JSON reader that copies as little as possible and keeps duplicate members.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value whose texts are slices of the input, except those with escapes.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number, as a double.
    Number(f64),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object: its members in the original order, including duplicates.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Removes a member from an object and returns its value. Of several members with the same name, this is the last.
    #[must_use]
    pub fn take(&mut self, name: &str) -> Json<'a> {
        let Self::Object(members) = self else {
            return Json::Null;
        };
        let found = members.iter_mut().rev().find(|(given, _)| given == name);
        found.map_or(Json::Null, |(_, value)| {
            std::mem::replace(value, Json::Null)
        })
    }
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Boolean(value))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "numbers of a context are doubles, as in JavaScript"
    )]
    fn visit_i64<E>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value as f64))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "numbers of a context are doubles, as in JavaScript"
    )]
    fn visit_u64<E>(self, value: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::String(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json<'de>, E> {
        Ok(Json::String(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some((Name(name), value)) = access.next_entry()? {
            members.push((name, value));
        }
        Ok(Json::Object(members))
    }
}

/// The name of a member.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
