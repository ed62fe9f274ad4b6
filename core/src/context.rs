//! Evaluation contexts.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::rule::Attribute;

/// The value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Any text as UTF-8, compared by Unicode scalar values, which is the order of its bytes, without normalization. It
    /// is not validated again, because that would take a tenth of the time of an evaluation in the JavaScript client.
    String(&'a [u8]),
    /// An IEEE double. Infinity and NaN match no condition.
    Number(f64),
    /// True or false.
    Boolean(bool),
}

/// The source of attribute values for the engine: a request on the server, or the arguments of a call in a page.
pub trait Subject {
    /// Returns the value of `attribute`, or `None` if the subject lacks it. `slot` is the attribute's index in
    /// [`CompiledFlag::attributes`](crate::CompiledFlag::attributes), for subjects that keep their values in that
    /// order.
    fn value(&self, attribute: &Attribute, slot: usize) -> Option<Value<'_>>;
}

/// The maximum size of a context, in bytes. The server limits the evaluation request to this size, and clients limit
/// all strings of a context together.
pub const MAX_CONTEXT_BYTES: usize = 64 * 1024;

/// The maximum size of a string in the explanation of a condition, in bytes.
pub const MAX_SHOWN_BYTES: usize = 1024;

/// An evaluation context: built-in attributes, and custom attributes, which never replace built-in ones. It serializes
/// as the API takes it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Context<'a> {
    /// `userId`, the bucketing key of `per_user` rollouts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Cow<'a, str>>,
    /// `tenantId`, the bucketing key of `per_tenant` rollouts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<Cow<'a, str>>,
    /// `email`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<Cow<'a, str>>,
    /// `country`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<Cow<'a, str>>,
    /// All other attributes, by name.
    #[serde(
        rename = "customAttributes",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub custom: BTreeMap<Cow<'a, str>, CustomValue<'a>>,
}

/// The value of a custom attribute, or of any attribute in an explanation.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(as = ActualValue, description = "The value of an attribute in the context.")
)]
pub enum CustomValue<'a> {
    /// A string.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    String(Cow<'a, str>),
    /// A number.
    Number(f64),
    /// A boolean.
    Boolean(bool),
}

impl Context<'_> {
    /// Copies borrowed strings, so that the context owns all its data.
    pub fn into_owned(self) -> Context<'static> {
        let owned = |text: Option<Cow<'_, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        let custom = self
            .custom
            .iter()
            .map(|(name, value)| (Cow::Owned(String::from(&**name)), owned_value(value)));
        Context {
            user_id: owned(self.user_id),
            tenant_id: owned(self.tenant_id),
            email: owned(self.email),
            country: owned(self.country),
            custom: custom.collect(),
        }
    }
}

fn owned_value(value: &CustomValue<'_>) -> CustomValue<'static> {
    match value {
        CustomValue::String(text) => CustomValue::String(Cow::Owned(String::from(&**text))),
        CustomValue::Number(number) => CustomValue::Number(*number),
        CustomValue::Boolean(boolean) => CustomValue::Boolean(*boolean),
    }
}

impl Subject for Context<'_> {
    fn value(&self, attribute: &Attribute, _slot: usize) -> Option<Value<'_>> {
        let text = match attribute {
            Attribute::UserId => &self.user_id,
            Attribute::TenantId => &self.tenant_id,
            Attribute::Email => &self.email,
            Attribute::Country => &self.country,
            Attribute::Custom(name) => return self.custom.get(&**name).map(Value::from),
        };
        text.as_deref().map(|text| Value::String(text.as_bytes()))
    }
}

impl Value<'_> {
    /// Copies the value for an explanation, which contains it once for each condition. Of a string of more than
    /// [`MAX_SHOWN_BYTES`], copies the beginning, followed by `…`.
    pub fn shown(self) -> CustomValue<'static> {
        match self {
            Self::String(text) => CustomValue::String(Cow::Owned(beginning(text))),
            Self::Number(number) => CustomValue::Number(number),
            Self::Boolean(boolean) => CustomValue::Boolean(boolean),
        }
    }
}

/// Returns a text, or the beginning of a long one, without a part of a character.
fn beginning(text: &[u8]) -> String {
    let is_within = |byte: Option<&u8>| byte.is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    if text.len() <= MAX_SHOWN_BYTES {
        return String::from_utf8_lossy(text).into_owned();
    }
    let mut end = MAX_SHOWN_BYTES;
    while end > 0 && is_within(text.get(end)) {
        end -= 1;
    }
    let mut shown = String::from_utf8_lossy(text.get(..end).unwrap_or_default()).into_owned();
    shown.push('…');
    shown
}

impl<'a> From<&'a CustomValue<'_>> for Value<'a> {
    fn from(value: &'a CustomValue<'_>) -> Self {
        match value {
            CustomValue::String(text) => Value::String(text.as_bytes()),
            CustomValue::Number(number) => Value::Number(*number),
            CustomValue::Boolean(boolean) => Value::Boolean(*boolean),
        }
    }
}
