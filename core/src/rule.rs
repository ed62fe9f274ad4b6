//! Targeting rules and their conditions.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::ser::SerializeStruct as _;

use crate::Invalid;
use crate::string_enum;

/// The maximum number of conditions in a rule.
pub const MAX_CONDITIONS: usize = 50;

/// The maximum number of rules of a flag in one environment.
pub const MAX_RULES: usize = 100;

/// A targeting rule: a result for the contexts that its conditions match.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Rule {
    /// Its position among the flag's rules; the lowest comes first.
    pub priority: Priority,
    /// The logic that combines the conditions.
    pub logic: Logic,
    /// The result if the rule matches.
    pub value: bool,
    /// The conditions, at least one.
    #[cfg_attr(feature = "schema", schema(min_items = 1, max_items = 50))]
    pub conditions: Vec<Condition>,
}

/// A rule's position among the rules of its flag and environment: 1 to 2147483647.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "i64")]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = i64, format = Int64, minimum = 1, maximum = 2_147_483_647, example = 1)
)]
pub struct Priority(u32);

impl Priority {
    /// The position before all others.
    pub const FIRST: Self = Self(1);

    /// The position after all others.
    pub const LAST: Self = Self(0x7FFF_FFFF);

    /// Returns the number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<i64> for Priority {
    type Error = Invalid;

    fn try_from(number: i64) -> Result<Self, Invalid> {
        match u32::try_from(number) {
            Ok(number) if (Self::FIRST.0..=Self::LAST.0).contains(&number) => Ok(Self(number)),
            _ => Err(Invalid::new("must be an integer from 1 to 2147483647")),
        }
    }
}

string_enum! {
    /// The logic that combines a rule's conditions.
    pub enum Logic {
        /// All must hold.
        And = "and",
        /// One must hold.
        Or = "or",
    }
    else "must be `and` or `or`"
}

/// A comparison of an attribute with a fixed value of one type.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(try_from = "ConditionForm")]
pub struct Condition {
    /// The attribute.
    pub attribute: Attribute,
    /// The operator.
    pub operator: Operator,
    /// The fixed value.
    pub operand: Operand,
}

string_enum! {
    /// An operator. Each is defined for strings, numbers and booleans.
    pub enum Operator {
        /// `==`
        Equal = "==",
        /// `!=`
        NotEqual = "!=",
        /// `>`
        Greater = ">",
        /// `<`
        Less = "<",
        /// `>=`
        GreaterOrEqual = ">=",
        /// `<=`
        LessOrEqual = "<=",
    }
    else "must be one of `==`, `!=`, `>`, `<`, `>=`, `<=`"
}

string_enum! {
    /// The type of a condition's operand.
    pub enum ValueType {
        /// Compares with `valueString`.
        String = "string",
        /// Compares with `valueInt`.
        Number = "number",
        /// Compares with `valueBool`.
        Boolean = "boolean",
    }
    else "must be `string`, `number` or `boolean`"
}

/// The fixed value of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// `valueString`
    String(OperandText),
    /// `valueInt`
    Number(Integer),
    /// `valueBool`
    Boolean(bool),
}

impl Operand {
    /// Returns the operand's type.
    pub const fn value_type(&self) -> ValueType {
        match self {
            Self::String(_) => ValueType::String,
            Self::Number(_) => ValueType::Number,
            Self::Boolean(_) => ValueType::Boolean,
        }
    }
}

/// The name of a context attribute: one of the four built-in ones, or a custom one of 1 to 128 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(try_from = "Box<str>")]
pub enum Attribute {
    /// `userId`
    UserId,
    /// `tenantId`
    TenantId,
    /// `email`
    Email,
    /// `country`
    Country,
    /// A member of `customAttributes`.
    Custom(Box<str>),
}

impl Attribute {
    /// The built-in attributes, which are direct members of a context.
    pub const BUILT_IN: [Self; 4] = [Self::UserId, Self::TenantId, Self::Email, Self::Country];

    /// Returns the name, as conditions use it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::UserId => "userId",
            Self::TenantId => "tenantId",
            Self::Email => "email",
            Self::Country => "country",
            Self::Custom(name) => name,
        }
    }
}

impl TryFrom<Box<str>> for Attribute {
    type Error = Invalid;

    fn try_from(name: Box<str>) -> Result<Self, Invalid> {
        match &*name {
            "userId" => Ok(Self::UserId),
            "tenantId" => Ok(Self::TenantId),
            "email" => Ok(Self::Email),
            "country" => Ok(Self::Country),
            text if has_null(text) => Err(Invalid::new("must not contain U+0000")),
            text => match count_characters(text) {
                1..=128 => Ok(Self::Custom(name)),
                _ => Err(Invalid::new("must have 1 to 128 characters")),
            },
        }
    }
}

impl serde::Serialize for Attribute {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The text of a string operand: up to 1024 characters, stored as given.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Box<str>")]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = String, max_length = 1024, pattern = r"^[^\u0000]*$", example = "DE")
)]
pub struct OperandText(Box<str>);

impl OperandText {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<Box<str>> for OperandText {
    type Error = Invalid;

    fn try_from(text: Box<str>) -> Result<Self, Invalid> {
        if has_null(&text) {
            return Err(Invalid::new("must not contain U+0000"));
        }
        if count_characters(&text) > 1024 {
            return Err(Invalid::new("must have at most 1024 characters"));
        }
        Ok(Self(text))
    }
}

/// Counts the Unicode scalar values in a text, by their first bytes. The standard library counts long texts faster, but
/// its code would make up a twentieth of the wasm engine.
fn count_characters(text: &str) -> usize {
    text.bytes().filter(|byte| byte & 0xC0 != 0x80).count()
}

fn has_null(text: &str) -> bool {
    text.bytes().any(|byte| byte == 0)
}

/// An integer that a double represents exactly, −(2⁵³ − 1) to 2⁵³ − 1, so that comparisons agree in every runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "i64")]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = i64, format = Int64, minimum = -9_007_199_254_740_991i64, maximum = 9_007_199_254_740_991i64, example = 3)
)]
pub struct Integer(i64);

impl Integer {
    const MAX: i64 = (1 << 53) - 1;

    /// Returns the number.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Returns the number as a double, exactly.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a double represents every integer in the range exactly"
    )]
    pub const fn to_f64(self) -> f64 {
        self.0 as f64
    }
}

impl TryFrom<i64> for Integer {
    type Error = Invalid;

    fn try_from(number: i64) -> Result<Self, Invalid> {
        if !(-Self::MAX..=Self::MAX).contains(&number) {
            return Err(Invalid::new(
                "must be an integer from -9007199254740991 to 9007199254740991",
            ));
        }
        Ok(Self(number))
    }
}

impl serde::Serialize for Condition {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut form = serializer.serialize_struct("Condition", 4)?;
        form.serialize_field("attribute", &self.attribute)?;
        form.serialize_field("operator", &self.operator)?;
        form.serialize_field("valueType", &self.operand.value_type())?;
        match &self.operand {
            Operand::String(text) => form.serialize_field("valueString", text)?,
            Operand::Number(number) => form.serialize_field("valueInt", number)?,
            Operand::Boolean(boolean) => form.serialize_field("valueBool", boolean)?,
        }
        form.end()
    }
}

/// A condition's JSON form: one of three value members, selected by `valueType`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConditionForm {
    attribute: Attribute,
    operator: Operator,
    value_type: ValueType,
    value_string: Option<OperandText>,
    value_int: Option<Integer>,
    value_bool: Option<bool>,
}

impl TryFrom<ConditionForm> for Condition {
    type Error = Invalid;

    fn try_from(form: ConditionForm) -> Result<Self, Invalid> {
        let operand = match form.value_type {
            ValueType::String => form.value_string.map(Operand::String),
            ValueType::Number => form.value_int.map(Operand::Number),
            ValueType::Boolean => form.value_bool.map(Operand::Boolean),
        };
        Ok(Self {
            attribute: form.attribute,
            operator: form.operator,
            operand: operand.ok_or(Invalid::new(
                "a condition needs the value that `valueType` selects",
            ))?,
        })
    }
}
