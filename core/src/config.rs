//! The config document: what the service hands to clients, and what every engine starts from.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::json::{Reader, boxed};
use crate::model::Invalid;
use crate::model::configuration::Ttl;
use crate::model::rollout::{Percentage, Rollout, Strategy};
use crate::model::rule::{
    Attribute, Condition, Integer, Logic, Operand, OperandText, Operator, Priority, Rule, ValueType,
};

/// One flag in one environment, as the config document says it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "camelCase")
)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FlagConfig {
    /// The flag's key; any text, since the key grammar belongs to creation.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub key: Box<str>,
    /// Whether the flag is archived. The document of the service has active flags only and leaves the member out.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "core::ops::Not::not")
    )]
    #[cfg_attr(feature = "schema", schema(ignore))]
    pub archived: bool,
    /// Whether the flag is enabled in the environment.
    pub enabled: bool,
    /// The targeting rules, in any order.
    pub rules: Vec<Rule>,
    /// The percentage rollout, if there is one.
    #[cfg_attr(feature = "serde", serde(default))]
    #[cfg_attr(feature = "schema", schema(required))]
    pub rollout: Option<Rollout>,
    /// How long clients may keep the flag, where that differs from their default.
    #[cfg_attr(feature = "serde", serde(default, rename = "ttlOverrideSeconds"))]
    #[cfg_attr(feature = "schema", schema(required))]
    pub ttl: Option<Ttl>,
}

/// Why a text is no config document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} (at byte {offset})")]
pub struct ParseError {
    /// Where the problem was noticed, in bytes from the start.
    pub offset: usize,
    /// What is wrong, in a sentence.
    pub problem: &'static str,
}

/// Reads a config document, `{ "flags": [..] }`. Members that it does not know are passed over, so that an older client
/// can read a newer server's document.
pub fn parse(text: &[u8]) -> Result<Vec<FlagConfig>, ParseError> {
    let mut reader = Reader::new(text)?;
    let mut flags = None;
    reader.object(|reader, member| {
        match member {
            "flags" => flags = Some(reader.array(flag)?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    reader.end()?;
    flags.ok_or_else(|| reader.error("`flags` is missing"))
}

fn flag(reader: &mut Reader<'_>) -> Result<FlagConfig, ParseError> {
    let (mut key, mut archived, mut enabled) = (None, false, None);
    let (mut rules, mut rollout, mut ttl) = (None, None, None);
    reader.object(|reader, member| {
        match member {
            "key" => key = Some(boxed(reader.string()?)),
            "archived" => archived = reader.boolean()?,
            "enabled" => enabled = Some(reader.boolean()?),
            "rules" => rules = Some(reader.array(rule)?),
            "rollout" => rollout = reader.nullable(self::rollout)?,
            "ttlOverrideSeconds" => ttl = reader.nullable(integer::<Ttl>)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    match (key, enabled, rules) {
        (Some(key), Some(enabled), Some(rules)) => Ok(FlagConfig {
            key,
            archived,
            enabled,
            rules,
            rollout,
            ttl,
        }),
        _ => Err(reader.error("a flag needs `key`, `enabled` and `rules`")),
    }
}

fn rule(reader: &mut Reader<'_>) -> Result<Rule, ParseError> {
    let (mut priority, mut logic, mut value, mut conditions) = (None, None, None, None);
    reader.object(|reader, member| {
        match member {
            "priority" => priority = Some(integer::<Priority>(reader)?),
            "logic" => logic = Some(word(reader, Logic::parse)?),
            "value" => value = Some(reader.boolean()?),
            "conditions" => conditions = Some(reader.array(condition)?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    match (priority, logic, value, conditions) {
        (Some(priority), Some(logic), Some(value), Some(conditions)) if !conditions.is_empty() => {
            Ok(Rule {
                priority,
                logic,
                value,
                conditions,
            })
        }
        _ => Err(reader.error("a rule needs `priority`, `logic`, `value` and `conditions`")),
    }
}

fn condition(reader: &mut Reader<'_>) -> Result<Condition, ParseError> {
    let (mut attribute, mut operator, mut value_type) = (None, None, None);
    let (mut string, mut number, mut boolean) = (None, None, None);
    reader.object(|reader, member| {
        match member {
            "attribute" => attribute = Some(text::<Attribute>(reader)?),
            "operator" => operator = Some(word(reader, Operator::parse)?),
            "valueType" => value_type = Some(word(reader, ValueType::parse)?),
            "valueString" => string = Some(text::<OperandText>(reader)?),
            "valueInt" => number = Some(integer::<Integer>(reader)?),
            "valueBool" => boolean = Some(reader.boolean()?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let operand = match value_type {
        Some(ValueType::String) => string.map(Operand::String),
        Some(ValueType::Number) => number.map(Operand::Number),
        Some(ValueType::Boolean) => boolean.map(Operand::Boolean),
        None => None,
    };
    match (attribute, operator, operand) {
        (Some(attribute), Some(operator), Some(operand)) => Ok(Condition {
            attribute,
            operator,
            operand,
        }),
        _ => {
            Err(reader
                .error("a condition needs `attribute`, `operator`, `valueType` and its value"))
        }
    }
}

fn rollout(reader: &mut Reader<'_>) -> Result<Rollout, ParseError> {
    let (mut percentage, mut strategy) = (None, None);
    reader.object(|reader, member| {
        match member {
            "percentage" => percentage = Some(integer::<Percentage>(reader)?),
            "strategy" => strategy = Some(word(reader, Strategy::parse)?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    match (percentage, strategy) {
        (Some(percentage), Some(strategy)) => Ok(Rollout {
            percentage,
            strategy,
        }),
        _ => Err(reader.error("a rollout needs `percentage` and `strategy`")),
    }
}

/// An integer that is one of the domain's.
fn integer<T: TryFrom<i64, Error = Invalid>>(reader: &mut Reader<'_>) -> Result<T, ParseError> {
    let number = reader.integer()?;
    T::try_from(number).map_err(|invalid| reader.error(invalid.detail()))
}

/// A text that is one of the domain's.
fn text<T: TryFrom<Box<str>, Error = Invalid>>(reader: &mut Reader<'_>) -> Result<T, ParseError> {
    let text = boxed(reader.string()?);
    T::try_from(text).map_err(|invalid| reader.error(invalid.detail()))
}

/// One word out of a closed list.
fn word<T>(
    reader: &mut Reader<'_>,
    parse: impl FnOnce(&str) -> Result<T, Invalid>,
) -> Result<T, ParseError> {
    let text = reader.string()?;
    parse(&text).map_err(|invalid| reader.error(invalid.detail()))
}
