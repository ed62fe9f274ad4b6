//! The revision that a caller expects the object to have.

use crate::error::Error;

/// A condition on the revision of the object, so that no caller overwrites a change that they have not seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Precondition {
    /// The object may have any revision, and may be missing.
    #[default]
    None,
    /// The object must not exist.
    Absent,
    /// The object must exist, at any revision.
    Exists,
    /// The object must be at one of these revisions.
    OneOf(Vec<i64>),
}

impl Precondition {
    /// Fails if an object at the revision `current` does not meet the condition.
    pub(crate) fn check(&self, current: i64) -> Result<(), Error> {
        match self {
            Self::None | Self::Exists => Ok(()),
            Self::OneOf(seen) if seen.contains(&current) => Ok(()),
            Self::OneOf(_) | Self::Absent => Err(Error::Stale {
                current: Some(current),
            }),
        }
    }

    /// Fails if the caller expects the object to exist. Check this before creating it.
    pub(crate) fn check_absent(&self) -> Result<(), Error> {
        match self {
            Self::None | Self::Absent => Ok(()),
            Self::Exists | Self::OneOf(_) => Err(Error::Stale { current: None }),
        }
    }
}
