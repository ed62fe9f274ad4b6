//! What an audit entry tells of the object before the change, and after it.

use pennon_model::audit::AuditEntry;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;

/// The object before the recorded change.
pub(super) fn before<T: DeserializeOwned>(entry: &AuditEntry) -> Result<T, Error> {
    read(entry.old_value.clone().unwrap_or_default())
}

/// What a member was before the recorded change; none if that left it alone.
pub(super) fn changed<T: DeserializeOwned>(
    entry: &AuditEntry,
    member: &str,
) -> Result<Option<T>, Error> {
    let of = |value: &Option<Value>| {
        let member = value.as_ref().and_then(|value| value.get(member));
        member.cloned().unwrap_or_default()
    };
    let old = of(&entry.old_value);
    if old == of(&entry.new_value) {
        return Ok(None);
    }
    read(old).map(Some)
}

/// Returns the value of a member after the recorded change; `None` if the object was deleted.
pub(super) fn after<T: DeserializeOwned>(
    entry: &AuditEntry,
    member: &str,
) -> Result<Option<T>, Error> {
    let object = entry.new_value.as_ref();
    let member = object.map(|object| object.get(member).cloned().unwrap_or_default());
    member.map(read).transpose()
}

/// Reads what is recorded.
pub(super) fn read<T: DeserializeOwned>(value: Value) -> Result<T, Error> {
    serde_json::from_value(value)
        .map_err(|error| Error::Internal(format!("an audit value cannot be read: {error}")))
}
