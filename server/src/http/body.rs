//! Request bodies: read late, from a JSON value, and with every fault gathered at once.

use std::ops::RangeInclusive;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use pennon_core::model::configuration::Ttl;
use pennon_core::model::environment::{EnvironmentName, ProductName};
use pennon_core::model::flag::{FlagKey, FlagName, FlagType};
use pennon_core::model::rollout::{Percentage, Strategy};
use pennon_core::model::rule::{
    Attribute, Integer, Logic, OperandText, Operator, Priority, ValueType,
};
use pennon_core::model::text::Description;
use serde_json::{Map, Value};

use crate::error::{Error, Fault};
use crate::service::patch::Patch;

/// The most that a body of the Admin API may have, in bytes.
const ADMIN_LIMIT: usize = 256 * 1024;

/// A body that has not been read yet: whether the caller may write, and to what, is checked before what is written.
pub(crate) struct Body(Request);

impl<S: Sync> FromRequest<S> for Body {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self, Error> {
        Ok(Self(request))
    }
}

impl Body {
    pub(crate) fn new(request: Request) -> Self {
        Self(request)
    }

    /// Reads the body as a JSON object by `reader`, which answers none after it has reported a fault.
    pub(crate) async fn read<T>(
        self,
        reader: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    ) -> Result<T, Error> {
        let bytes = self.bytes(ADMIN_LIMIT).await?;
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| malformed(&error))?;
        let Value::Object(members) = value else {
            return Err(Error::Malformed(
                "the body must be a JSON object".to_owned(),
            ));
        };
        let mut faults = Vec::new();
        match Fields::of(members, String::new(), &mut faults, reader) {
            Some(input) if faults.is_empty() => Ok(input),
            _ => Err(Error::Invalid(faults)),
        }
    }

    /// The bytes of a body that is declared as JSON and has at most `limit` of them.
    pub(crate) async fn bytes(self, limit: usize) -> Result<Bytes, Error> {
        if !is_json(&self.0) {
            return Err(Error::UnsupportedMediaType);
        }
        to_bytes(self.0.into_body(), limit).await.map_err(|error| {
            if is_length_limit(&error) {
                Error::TooLarge(limit)
            } else {
                Error::Malformed("the body could not be received".to_owned())
            }
        })
    }
}

/// What is wrong with a text that is no JSON.
pub(crate) fn malformed(error: &serde_json::Error) -> Error {
    Error::Malformed(format!("the body is not valid JSON: {error}"))
}

/// Whether the request declares its body as JSON, whatever the parameters.
fn is_json(request: &Request) -> bool {
    let declared = request
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = declared
        .and_then(|value| value.split(';').next())
        .unwrap_or_default()
        .trim();
    essence.eq_ignore_ascii_case("application/json")
}

fn is_length_limit(error: &axum::Error) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = source {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        source = error.source();
    }
    false
}

/// The members of a JSON object, handed out one by one as domain types. What nobody asked for is a fault too.
pub(crate) struct Fields<'f> {
    members: Map<String, Value>,
    pointer: String,
    faults: &'f mut Vec<Fault>,
}

impl Fields<'_> {
    fn of<T>(
        members: Map<String, Value>,
        pointer: String,
        faults: &mut Vec<Fault>,
        reader: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    ) -> Option<T> {
        let mut fields = Fields {
            members,
            pointer,
            faults,
        };
        let input = reader(&mut fields);
        for name in std::mem::take(&mut fields.members).keys() {
            fields.fault::<()>(name, "is not known here");
        }
        input
    }

    /// A member that must be there.
    pub(crate) fn required<T: FromJson>(&mut self, name: &str) -> Option<T> {
        match self.members.remove(name) {
            Some(value) => self.parsed(name, value),
            None => self.fault(name, "is required"),
        }
    }

    /// A member that may be absent; the outer none is a fault.
    #[expect(
        clippy::option_option,
        reason = "the outer none is a fault that has been recorded"
    )]
    pub(crate) fn optional<T: FromJson>(&mut self, name: &str) -> Option<Option<T>> {
        match self.members.remove(name) {
            Some(value) => self.parsed(name, value).map(Some),
            None => Some(None),
        }
    }

    /// A member that may be `null`, which counts as absent.
    #[expect(
        clippy::option_option,
        reason = "the outer none is a fault that has been recorded"
    )]
    pub(crate) fn nullable<T: FromJson>(&mut self, name: &str) -> Option<Option<T>> {
        self.patch(name).map(|patch| patch.applied_to(None))
    }

    /// A member that may be absent, `null` or a value, three different things.
    pub(crate) fn patch<T: FromJson>(&mut self, name: &str) -> Option<Patch<T>> {
        match self.members.remove(name) {
            Some(Value::Null) => Some(Patch::Clear),
            Some(value) => self.parsed(name, value).map(Patch::Set),
            None => Some(Patch::Keep),
        }
    }

    /// A list of objects, each read by `reader`.
    pub(crate) fn list<T>(
        &mut self,
        name: &str,
        bounds: RangeInclusive<usize>,
        reader: impl Fn(&mut Fields<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = match self.members.remove(name) {
            Some(Value::Array(items)) => items,
            Some(_) => return self.fault(name, "must be an array"),
            None => return self.fault(name, "is required"),
        };
        if !bounds.contains(&items.len()) {
            let detail = format!("must have {} to {} items", bounds.start(), bounds.end());
            return self.fault(name, detail);
        }
        let items: Vec<Option<T>> = items
            .into_iter()
            .enumerate()
            .map(|(index, item)| {
                let pointer = format!("{}/{name}/{index}", self.pointer);
                if let Value::Object(members) = item {
                    return Fields::of(members, pointer, self.faults, &reader);
                }
                self.faults
                    .push(Fault::pointer(pointer, "must be an object"));
                None
            })
            .collect();
        items.into_iter().collect()
    }

    /// Passes over members that cannot be judged, because the one that gives them their meaning is bad.
    pub(crate) fn pass_over<const N: usize>(&mut self, names: [&str; N]) {
        for name in names {
            self.members.remove(name);
        }
    }

    fn parsed<T: FromJson>(&mut self, name: &str, value: Value) -> Option<T> {
        match T::from_json(value) {
            Ok(value) => Some(value),
            Err(detail) => self.fault(name, detail),
        }
    }

    fn fault<T>(&mut self, name: &str, detail: impl Into<String>) -> Option<T> {
        // Escaped as RFC 6901 demands.
        let name = name.replace('~', "~0").replace('/', "~1");
        self.faults
            .push(Fault::pointer(format!("{}/{name}", self.pointer), detail));
        None
    }
}

/// A type that can be read from a JSON value; the error is a sentence about the member.
pub(crate) trait FromJson: Sized {
    fn from_json(value: Value) -> Result<Self, &'static str>;
}

impl FromJson for bool {
    fn from_json(value: Value) -> Result<Self, &'static str> {
        value.as_bool().ok_or("must be a boolean")
    }
}

impl FromJson for String {
    fn from_json(value: Value) -> Result<Self, &'static str> {
        match value {
            Value::String(text) => Ok(text),
            _ => Err("must be a string"),
        }
    }
}

/// Texts that check themselves.
macro_rules! from_text {
    ($($name:ty: $text:ty),+ $(,)?) => {$(
        impl FromJson for $name {
            fn from_json(value: Value) -> Result<Self, &'static str> {
                let text: $text = String::from_json(value)?.into();
                Self::try_from(text).map_err(|invalid| invalid.detail())
            }
        }
    )+};
}

/// Words of a closed list.
macro_rules! from_word {
    ($($name:ty),+ $(,)?) => {$(
        impl FromJson for $name {
            fn from_json(value: Value) -> Result<Self, &'static str> {
                Self::parse(&String::from_json(value)?).map_err(|invalid| invalid.detail())
            }
        }
    )+};
}

/// Integers with bounds. A number such as `25.0` is an integer in JSON, which knows one kind of number.
macro_rules! from_integer {
    ($($name:ty),+ $(,)?) => {$(
        impl FromJson for $name {
            fn from_json(value: Value) -> Result<Self, &'static str> {
                let integer = integer(&value).ok_or("must be an integer")?;
                Self::try_from(integer).map_err(|invalid| invalid.detail())
            }
        }
    )+};
}

from_text!(
    Attribute: Box<str>,
    Description: String,
    EnvironmentName: String,
    FlagKey: String,
    FlagName: String,
    OperandText: Box<str>,
    ProductName: String,
);
from_word!(FlagType, Logic, Operator, Strategy, ValueType);
from_integer!(Integer, Percentage, Priority, Ttl);

fn integer(value: &Value) -> Option<i64> {
    let number = value.as_number()?;
    if let Some(integer) = number.as_i64() {
        return Some(integer);
    }
    if number.is_u64() {
        // Beyond every bound that there is, but an integer.
        return Some(i64::MAX);
    }
    let number = number.as_f64().filter(|number| number.fract() == 0.0)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the cast saturates, beyond every bound that there is"
    )]
    Some(number as i64)
}
