//! The revision that a caller expects of an object that it changes.

use crate::error::Error;

/// A condition on the revision of the object, so that nobody overwrites a change that they have not seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Precondition {
    /// The object may have changed since.
    #[default]
    None,
    /// The object must not be there.
    Absent,
    /// The object must exist, in any revision.
    Exists,
    /// The object must still be in one of these revisions.
    OneOf(Vec<i64>),
}

impl Precondition {
    /// Refuses to change an object that is in another revision.
    pub(crate) fn check(&self, current: i64) -> Result<(), Error> {
        match self {
            Self::None | Self::Exists => Ok(()),
            Self::OneOf(seen) if seen.contains(&current) => Ok(()),
            Self::OneOf(_) | Self::Absent => Err(Error::Stale {
                current: Some(current),
            }),
        }
    }

    /// Refuses to create an object that the caller believes to be there.
    pub(crate) fn check_absent(&self) -> Result<(), Error> {
        match self {
            Self::None | Self::Absent => Ok(()),
            Self::Exists | Self::OneOf(_) => Err(Error::Stale { current: None }),
        }
    }
}
