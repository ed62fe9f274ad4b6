//! The content of audit entries: the object that each is about, and its members before and after the change.

use pennon_model::audit::{AuditAction, AuditEntry};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Obstacle;
use crate::error::Error;

/// The kind of object that an entry which can be reverted is about.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Flag,
    /// A flag in an environment.
    Configuration(Part),
    Environment,
    User,
}

/// The part of a configuration that an entry is about.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Switch,
    Rule,
    Rollout,
}

/// Returns the kind of object that an entry is about, or the reason that no such entry can be reverted.
pub(super) fn target(entry: &AuditEntry) -> Result<Target, Obstacle> {
    match entry.action {
        AuditAction::FlagCreated | AuditAction::FlagUpdated | AuditAction::FlagArchived => {
            Ok(Target::Flag)
        }
        AuditAction::FlagEnvironmentUpdated => Ok(Target::Configuration(Part::Switch)),
        AuditAction::RuleCreated | AuditAction::RuleUpdated | AuditAction::RuleDeleted => {
            Ok(Target::Configuration(Part::Rule))
        }
        AuditAction::RolloutConfigured | AuditAction::RolloutDeleted => {
            Ok(Target::Configuration(Part::Rollout))
        }
        AuditAction::EnvironmentUpdated if ends_key(entry) => Err(Obstacle::KeyGone),
        AuditAction::EnvironmentUpdated => Ok(Target::Environment),
        AuditAction::UserUpdated if has_new_password(entry) => Err(Obstacle::Never),
        AuditAction::UserUpdated => Ok(Target::User),
        AuditAction::EnvironmentCreated => Err(Obstacle::NewEnvironment),
        AuditAction::EnvironmentRevoked | AuditAction::SdkKeyRotated => Err(Obstacle::KeyGone),
        AuditAction::UserCreated
        | AuditAction::UserDeleted
        | AuditAction::PasswordChanged
        | AuditAction::TokenCreated
        | AuditAction::TokenRevoked => Err(Obstacle::Never),
    }
}

/// Returns true if an entry is about the end of a previous key.
fn ends_key(entry: &AuditEntry) -> bool {
    let (old, new) = member(entry, "previousKey");
    old != new
}

/// Returns true if an entry is about a new password, whose predecessor is not recorded.
fn has_new_password(entry: &AuditEntry) -> bool {
    member(entry, "passwordReset").1 == true
}

/// Restores a member to its value before an entry, if the entry changed it, and returns true if this overwrites later
/// changes.
pub(super) fn restore<T: DeserializeOwned + PartialEq>(
    entry: &AuditEntry,
    name: &str,
    value: &mut T,
) -> Result<bool, Error> {
    let (old, new) = member(entry, name);
    if old == new {
        return Ok(false);
    }
    Ok(replace(value, &read(new)?, read(old)?))
}

/// Replaces a value by the one before an entry, and returns true if this overwrites later changes: if it was neither
/// the value after the entry nor already the one before it.
pub(super) fn replace<T: PartialEq>(value: &mut T, new: &T, old: T) -> bool {
    let overwrites = value != new && *value != old;
    *value = old;
    overwrites
}

/// Returns a member of the object before and after the recorded change.
pub(super) fn member(entry: &AuditEntry, name: &str) -> (Value, Value) {
    let of = |object: &Option<Value>| {
        let member = object.as_ref().and_then(|object| object.get(name));
        member.cloned().unwrap_or_default()
    };
    (of(&entry.old_value), of(&entry.new_value))
}

/// Parses an object that is recorded as a whole, if it exists.
pub(super) fn deserialized<T: DeserializeOwned>(
    object: Option<&Value>,
) -> Result<Option<T>, Error> {
    object.cloned().map(read).transpose()
}

pub(super) fn read<T: DeserializeOwned>(recorded: Value) -> Result<T, Error> {
    serde_json::from_value(recorded)
        .map_err(|error| Error::Internal(format!("an audit value cannot be read: {error}")))
}
