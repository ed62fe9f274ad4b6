//! Why a value is refused.

/// Why a value is not one of the domain's: a sentence for whoever sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(&'static str);

impl Invalid {
    pub(crate) const fn new(detail: &'static str) -> Self {
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
