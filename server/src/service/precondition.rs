//! What a caller has seen of an object that it wants to change.

use crate::error::Error;

/// A condition on the revision of the object, so that nobody overwrites what they have not seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Precondition {
    /// The object may have changed since.
    #[default]
    None,
    /// The object must be there, in whatever revision.
    Exists,
    /// The object must still be in one of these revisions.
    OneOf(Vec<i64>),
}

impl Precondition {
    /// Refuses to change an object that is in another revision.
    pub(crate) fn check(&self, current: i64) -> Result<(), Error> {
        match self {
            Self::OneOf(seen) if !seen.contains(&current) => Err(Error::Stale {
                current: Some(current),
            }),
            _ => Ok(()),
        }
    }

    /// Refuses to create an object that the caller believes to be there.
    pub(crate) fn check_absent(&self) -> Result<(), Error> {
        match self {
            Self::None => Ok(()),
            Self::Exists | Self::OneOf(_) => Err(Error::Stale { current: None }),
        }
    }
}
