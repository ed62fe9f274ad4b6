//! Usage of environments.

/// The configuration that a client has when it fetches one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PollKind {
    /// None.
    First,
    /// The one that is served.
    Current,
    /// Another one.
    Outdated,
}

impl PollKind {
    /// Every kind, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::First, Self::Current, Self::Outdated];

    /// The kind as it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Current => "current",
            Self::Outdated => "outdated",
        }
    }
}
