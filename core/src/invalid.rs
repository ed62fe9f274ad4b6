//! Errors of invalid values.

use alloc::borrow::ToOwned as _;
use alloc::string::String;

/// The error of an invalid value, with a message for the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(&'static str);

impl Invalid {
    /// Creates an error from a clause such as "must not be blank".
    pub const fn new(detail: &'static str) -> Self {
        Self(if cfg!(feature = "problems") {
            detail
        } else {
            ""
        })
    }

    /// Returns the message; empty without the feature `problems`.
    pub const fn detail(self) -> &'static str {
        self.0
    }
}

impl From<Invalid> for String {
    fn from(error: Invalid) -> Self {
        error.0.to_owned()
    }
}
