//! The config document, which the service sends to clients and every engine loads.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::Invalid;
use crate::json::{Mark, Read, Reader, Refused};
use crate::rollout::{Percentage, Rollout, Strategy};
use crate::rule::{
    Attribute, Condition, Integer, Logic, Operand, OperandText, Operator, Priority, Rule, ValueType,
};
use crate::ttl::Ttl;

/// The number of the format in which the service writes config documents. A client reads as much as it can of a
/// document in any format.
pub const FORMAT: u32 = 1;

/// The configuration of one flag in one environment, as in the config document.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FlagConfig {
    /// The flag's key. Any text is valid here; only the creation of a flag restricts it.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub key: Box<str>,
    /// True if the flag is archived. The service omits archived flags and this member.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "schema", schema(ignore))]
    pub archived: bool,
    /// True if the flag is enabled in the environment.
    pub enabled: bool,
    /// The targeting rules, in any order.
    pub rules: Vec<Rule>,
    /// The percentage rollout, if there is one.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub rollout: Option<Rollout>,
    /// The flag's TTL in clients, if it overrides their default.
    #[serde(default, rename = "ttlOverrideSeconds")]
    #[cfg_attr(feature = "schema", schema(required))]
    pub ttl: Option<Ttl>,
}

/// The reason why a text is not a config document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} (at byte {offset})")]
pub struct ParseError {
    /// The position of the problem, in bytes from the start.
    pub offset: usize,
    /// The description of the problem; empty without the feature `problems`.
    pub problem: &'static str,
}

/// An entry of a config document: a flag with its key, or the error of an entry without a usable key or switch.
pub(crate) type Entry<'k> = Result<(&'k str, FlagBody), ParseError>;

/// A flag in a config document, without its key.
pub(crate) struct FlagBody {
    pub(crate) archived: bool,
    pub(crate) enabled: bool,
    pub(crate) rules: Vec<Rule>,
    pub(crate) rollout: Option<Rollout>,
    pub(crate) ttl: Option<Ttl>,
    /// The error of the first member that could not be read. The flag then has no rules and no rollout.
    pub(crate) unreadable: Option<ParseError>,
}

/// Reads a config document, `{ "flags": [..] }`, in which every value must be known. Unknown members are ignored.
///
/// # Errors
///
/// Fails if the text is not a config document, or if a flag has a value that this version does not know.
/// [`Snapshot`](crate::Snapshot) reads the other flags of such a document.
pub fn parse(text: &[u8]) -> Result<Vec<FlagConfig>, ParseError> {
    let mut flags = Vec::new();
    let mut unknown = None;
    for_each_entry(text, |entry| match entry {
        Ok((key, flag)) => {
            flags.push(FlagConfig {
                key: key.into(),
                archived: flag.archived,
                enabled: flag.enabled,
                rules: flag.rules,
                rollout: flag.rollout,
                ttl: flag.ttl,
            });
            unknown = unknown.or(flag.unreadable);
        }
        Err(unreadable) => unknown = unknown.or(Some(unreadable)),
    })?;
    unknown.map_or(Ok(flags), Err)
}

/// Reads a config document and calls `handle` for each entry, so that all entries need not be in memory at once.
pub(crate) fn for_each_entry(text: &[u8], handle: impl FnMut(Entry<'_>)) -> Result<(), ParseError> {
    let mut reader = Reader::new(text)?;
    document(&mut reader, handle).map_err(|Refused| reader.error())
}

fn document(reader: &mut Reader<'_>, mut handle: impl FnMut(Entry<'_>)) -> Read<()> {
    let mut found = false;
    let mut key = String::new();
    let mut document = reader.object()?;
    while let Some(member) = reader.next_member(&mut document)? {
        match member {
            "flags" if found => return reader.refuse("`flags` occurs twice"),
            "flags" => {
                found = true;
                let mut flags = reader.items()?;
                while reader.has_next(&mut flags)? {
                    let flag = flag(reader, &mut key)?;
                    handle(flag.map(|flag| (&*key, flag)));
                }
            }
            _ => reader.skip()?,
        }
    }
    if !found {
        return reader.refuse("`flags` is missing");
    }
    reader.end()
}

/// Reads a flag, and writes its key to a buffer that all flags share. Returns an error for a flag without a usable key
/// or switch; records any other unreadable member in the flag.
fn flag(reader: &mut Reader<'_>, key: &mut String) -> Read<Result<FlagBody, ParseError>> {
    let start = reader.mark();
    match readable_flag(reader, key) {
        Ok(flag) => Ok(Ok(flag)),
        Err(Refused) => partly_readable_flag(reader, key, start),
    }
}

fn readable_flag(reader: &mut Reader<'_>, key: &mut String) -> Read<FlagBody> {
    let (mut has_key, mut archived, mut enabled) = (false, false, None);
    let (mut rules, mut rollout, mut ttl) = (None, None, None);
    let mut flag = reader.object()?;
    while let Some(member) = reader.next_member(&mut flag)? {
        match member {
            "key" => {
                key.clear();
                key.push_str(reader.string()?);
                has_key = true;
            }
            "archived" => archived = reader.boolean()?,
            "enabled" => enabled = Some(reader.boolean()?),
            "rules" => rules = Some(reader.array(rule)?),
            "rollout" => rollout = nullable(reader, self::rollout)?,
            "ttlOverrideSeconds" => ttl = nullable(reader, integer::<Ttl>)?,
            _ => reader.skip()?,
        }
    }
    match (enabled, rules) {
        (Some(enabled), Some(rules)) if has_key => Ok(FlagBody {
            archived,
            enabled,
            rules,
            rollout,
            ttl,
            unreadable: None,
        }),
        _ => reader.refuse("a flag needs `key`, `enabled` and `rules`"),
    }
}

/// Rereads a refused entry, and skips its rules and rollout. Refuses only invalid JSON.
#[cold]
fn partly_readable_flag(
    reader: &mut Reader<'_>,
    key: &mut String,
    start: Mark,
) -> Read<Result<FlagBody, ParseError>> {
    let unreadable = reader.error();
    reader.rewind(start);
    if !reader.is_object() {
        reader.skip()?;
        return Ok(Err(unreadable));
    }
    let (mut found_key, mut archived, mut enabled, mut ttl) = (None, None, None, None);
    let mut flag = reader.object()?;
    while let Some(member) = reader.next_member(&mut flag)? {
        match member {
            "key" => found_key = reader.lenient(|reader| reader.string().map(String::from))?,
            "archived" => archived = reader.lenient(Reader::boolean)?,
            "enabled" => enabled = reader.lenient(Reader::boolean)?,
            "ttlOverrideSeconds" => ttl = reader.lenient(integer::<Ttl>)?,
            _ => reader.skip()?,
        }
    }
    let (Some(found_key), Some(enabled)) = (found_key, enabled) else {
        return Ok(Err(unreadable));
    };
    *key = found_key;
    Ok(Ok(FlagBody {
        archived: archived.unwrap_or(false),
        enabled,
        rules: Vec::new(),
        rollout: None,
        ttl,
        unreadable: Some(unreadable),
    }))
}

fn rule(reader: &mut Reader<'_>) -> Read<Rule> {
    let (mut priority, mut logic, mut value, mut conditions) = (None, None, None, None);
    let mut rule = reader.object()?;
    while let Some(member) = reader.next_member(&mut rule)? {
        match member {
            "priority" => priority = Some(integer::<Priority>(reader)?),
            "logic" => logic = Some(variant(reader, Logic::parse)?),
            "value" => value = Some(reader.boolean()?),
            "conditions" => conditions = Some(reader.array(condition)?),
            _ => reader.skip()?,
        }
    }
    match (priority, logic, value, conditions) {
        (Some(priority), Some(logic), Some(value), Some(conditions)) if !conditions.is_empty() => {
            Ok(Rule {
                priority,
                logic,
                value,
                conditions,
            })
        }
        _ => reader.refuse("a rule needs `priority`, `logic`, `value` and `conditions`"),
    }
}

fn condition(reader: &mut Reader<'_>) -> Read<Condition> {
    let (mut attribute, mut operator, mut value_type) = (None, None, None);
    let (mut string, mut number, mut boolean) = (None, None, None);
    let mut condition = reader.object()?;
    while let Some(member) = reader.next_member(&mut condition)? {
        match member {
            "attribute" => attribute = Some(text::<Attribute>(reader)?),
            "operator" => operator = Some(variant(reader, Operator::parse)?),
            "valueType" => value_type = Some(variant(reader, ValueType::parse)?),
            "valueString" => string = Some(text::<OperandText>(reader)?),
            "valueInt" => number = Some(integer::<Integer>(reader)?),
            "valueBool" => boolean = Some(reader.boolean()?),
            _ => reader.skip()?,
        }
    }
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
        _ => reader.refuse("a condition needs `attribute`, `operator`, `valueType` and its value"),
    }
}

fn rollout(reader: &mut Reader<'_>) -> Read<Rollout> {
    let (mut percentage, mut strategy) = (None, None);
    let mut rollout = reader.object()?;
    while let Some(member) = reader.next_member(&mut rollout)? {
        match member {
            "percentage" => percentage = Some(integer::<Percentage>(reader)?),
            "strategy" => strategy = Some(variant(reader, Strategy::parse)?),
            _ => reader.skip()?,
        }
    }
    match (percentage, strategy) {
        (Some(percentage), Some(strategy)) => Ok(Rollout {
            percentage,
            strategy,
        }),
        _ => reader.refuse("a rollout needs `percentage` and `strategy`"),
    }
}

/// Reads `null` as `None`, and any other value with `value`.
fn nullable<T>(reader: &mut Reader<'_>, value: fn(&mut Reader<'_>) -> Read<T>) -> Read<Option<T>> {
    if reader.null()? {
        return Ok(None);
    }
    value(reader).map(Some)
}

/// Reads an integer of a domain type.
fn integer<T: TryFrom<i64, Error = Invalid>>(reader: &mut Reader<'_>) -> Read<T> {
    let number = reader.integer()?;
    T::try_from(number).map_err(|invalid| reader.refuse_value(invalid.detail()))
}

/// Reads a text of a domain type.
fn text<T: TryFrom<Box<str>, Error = Invalid>>(reader: &mut Reader<'_>) -> Read<T> {
    let text = reader.string()?.into();
    T::try_from(text).map_err(|invalid| reader.refuse_value(invalid.detail()))
}

/// Reads a string that must be one of a fixed set.
fn variant<T>(reader: &mut Reader<'_>, parse: fn(&str) -> Result<T, Invalid>) -> Read<T> {
    parse(reader.string()?).map_err(|invalid| reader.refuse_value(invalid.detail()))
}
