//! The few words that are the dashboard's own, on both sides of the wire.

use serde::{Deserialize, Serialize};

/// How the dashboard is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// As the visitor's system is set.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// All themes, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// The word for it in the cookie, in forms and in `data-theme`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Reads the cookie's value; anything unknown is the system's theme.
    pub fn from_cookie(value: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|theme| theme.as_str() == value)
            .unwrap_or_default()
    }
}
