//! The members of changed objects, as audit entries contain them.

use pennon_model::{flag::FlagProducts, grant::Grants, metadata::FlagTags};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The products of a flag; none for every product.
pub(super) fn products_of(flag: Option<&Value>) -> Option<FlagProducts> {
    serde_json::from_value(member_of(flag, "products")).unwrap_or_default()
}

/// The tags of a flag; none if it has no tags.
pub(crate) fn tags_of(flag: Option<&Value>) -> Option<FlagTags> {
    let tags: FlagTags = serde_json::from_value(member_of(flag, "tags")).ok()?;
    Some(tags).filter(|tags| !tags.is_empty())
}

/// The roles of an account in products and environments; none if it has no such roles.
pub(super) fn grants_of(account: Option<&Value>) -> Option<Grants> {
    let grants: Grants = serde_json::from_value(member_of(account, "grants")).ok()?;
    Some(grants).filter(|grants| grants.iter().next().is_some())
}

/// Returns true for a public flag.
pub(super) fn is_public(flag: Option<&Value>) -> bool {
    member_of(flag, "public") == Value::Bool(true)
}

/// Returns a member of an object; null if it has none.
pub(super) fn member_of(object: Option<&Value>, member: &str) -> Value {
    let value = object.and_then(|object| object.get(member));
    value.cloned().unwrap_or_default()
}

/// Returns true if a change of an object changed the member.
pub(super) fn has_changed(old: Option<&Value>, new: Option<&Value>, member: &str) -> bool {
    member_of(old, member) != member_of(new, member)
}

/// Returns a member that is text; empty if there is none.
pub(super) fn text(object: Option<&Value>, member: &str) -> String {
    let value = member_of(object, member);
    value.as_str().unwrap_or_default().to_owned()
}

/// Reads an object; none if it is of another kind.
pub(super) fn read<T: DeserializeOwned>(object: Option<&Value>) -> Option<T> {
    object.and_then(|object| serde_json::from_value(object.clone()).ok())
}
