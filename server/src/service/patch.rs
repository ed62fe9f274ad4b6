//! Changes of a member that may be absent.

/// What a caller wants with an optional value: three different things in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Patch<T> {
    /// The member is absent: the value stays.
    #[default]
    Keep,
    /// The member is `null`: the value goes.
    Clear,
    /// The member is there: the value becomes this.
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
