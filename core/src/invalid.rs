//! The refusal of a value.

/// The refusal of a value: a sentence for whoever sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(&'static str);

impl Invalid {
    /// Refuses with a sentence such as "must not be blank".
    pub const fn new(detail: &'static str) -> Self {
        Self(if cfg!(feature = "problems") {
            detail
        } else {
            ""
        })
    }

    /// The sentence; empty without the feature `problems`.
    pub const fn detail(self) -> &'static str {
        self.0
    }
}
