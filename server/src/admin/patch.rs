//! Changes of a member that may be absent.

use pennon_model::text::NewName;

use crate::error::{Error, Fault};

/// The change of an optional value that a caller requests. JSON distinguishes three cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Patch<T> {
    /// The member is absent: the value stays.
    #[default]
    Keep,
    /// The member is `null`: the value goes.
    Clear,
    /// The member is present: it becomes the new value.
    Set(T),
}

impl<T> Patch<T> {
    /// The value after the change.
    pub(crate) fn applied_to(self, old: Option<T>) -> Option<T> {
        match self {
            Self::Keep => old,
            Self::Clear => None,
            Self::Set(new) => Some(new),
        }
    }
}

/// The name after a change. A name that stays as it is may be older than the rules for new ones.
pub(crate) fn renamed<T>(old: &T, new: Option<T>) -> Result<T, Error>
where
    T: AsRef<str> + Clone + PartialEq,
{
    let Some(new) = new.filter(|new| new != old) else {
        return Ok(old.clone());
    };
    let checked = NewName::new(new).map(NewName::into_inner);
    checked.map_err(|invalid| Error::Invalid(vec![Fault::pointer("/name", invalid.detail())]))
}
