//! JSON, read without copying what needs no copy, and with every member that was given.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::error::{Fault, escaped};

/// A JSON value whose texts are slices of the request, except those with escapes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Boolean(bool),
    Number(f64),
    String(Cow<'a, str>),
    Array(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Takes a member out of an object; of several with the same name the last one counts.
    pub(crate) fn take(&mut self, name: &str) -> Json<'a> {
        let Self::Object(members) = self else {
            return Json::Null;
        };
        let found = members.iter_mut().rev().find(|(given, _)| given == name);
        found.map_or(Json::Null, |(_, value)| {
            std::mem::replace(value, Json::Null)
        })
    }
}

/// How many members are reported that are given more than once.
const REPORTED: usize = 100;

/// How many bytes the pointers to them may have together. A name can be as long as the body, and hold many others.
const REPORTED_BYTES: usize = 64 * 1024;

impl Json<'_> {
    /// Reports members that are given more than once, at any depth: all but the last would be ignored.
    pub(crate) fn report_duplicates(&self, faults: &mut Vec<Fault>) {
        let mut search = Search::default();
        search.visit(self);
        faults.extend(search.faults);
    }
}

/// A search for members that are given more than once.
#[derive(Default)]
struct Search {
    /// Where the search is, as a JSON pointer.
    pointer: String,
    bytes: usize,
    faults: Vec<Fault>,
}

impl Search {
    fn visit(&mut self, value: &Json<'_>) {
        match value {
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.visit_at(&index.to_string(), item);
                }
            }
            Json::Object(members) => {
                let (mut names, mut reported) = (HashSet::new(), HashSet::new());
                for (name, value) in members {
                    if !names.insert(name) && reported.insert(name) {
                        self.report(name);
                    }
                    self.visit_at(name, value);
                }
            }
            Json::Null | Json::Boolean(_) | Json::Number(_) | Json::String(_) => {}
        }
    }

    fn visit_at(&mut self, name: &str, value: &Json<'_>) {
        if matches!(value, Json::Array(_) | Json::Object(_)) {
            let length = self.pointer.len();
            self.pointer.push('/');
            self.pointer.push_str(&escaped(name));
            self.visit(value);
            self.pointer.truncate(length);
        }
    }

    fn report(&mut self, name: &str) {
        self.bytes = self.bytes.saturating_add(self.pointer.len() + name.len());
        let has_room = self.faults.len() < REPORTED && self.bytes <= REPORTED_BYTES;
        if has_room || self.faults.is_empty() {
            let fault = Fault::member(&self.pointer, name, "is given more than once");
            self.faults.push(fault);
        }
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
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the name of a member")
            }

            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(value)))
            }

            fn visit_str<E>(self, value: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(value.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}
