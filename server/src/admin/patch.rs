//! Changes to an optional member.

use pennon_model::text::NewName;

use crate::error::{Error, Fault};

/// A requested change to an optional value. JSON distinguishes three cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Patch<T> {
    /// The member is absent: the value stays the same.
    #[default]
    Keep,
    /// The member is `null`: the value is removed.
    Clear,
    /// The member has a value, which replaces the old one.
    Set(T),
}

impl<T> Patch<T> {
    /// Returns the value after the change.
    pub(crate) fn applied_to(self, old: Option<T>) -> Option<T> {
        match self {
            Self::Keep => old,
            Self::Clear => None,
            Self::Set(new) => Some(new),
        }
    }
}

/// Returns the name after a change. An unchanged name is not checked, because it may be older than the rules for new
/// names.
pub(crate) fn renamed<T>(old: &T, new: Option<T>) -> Result<T, Error>
where
    T: AsRef<str> + Clone + PartialEq,
{
    let Some(new) = new.filter(|new| new != old) else {
        return Ok(old.clone());
    };
    let checked = NewName::new(new).map(NewName::into_inner);
    checked.map_err(|invalid| Fault::pointer("/name", invalid.detail()).into())
}
