//! Identifiers: UUIDs of version 7, which sort by creation time.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use pennon_core::Invalid;

/// Declares identifiers, with a type for each kind of object, so that they cannot be confused.
macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident;)+) => {$(
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String")]
        #[cfg_attr(feature = "schema", schema(value_type = String, format = "uuid", example = "01a1fa8d-1ad7-7000-be8e-25c8e4232ff5"))]
        pub struct $name(Uuid);

        impl $name {
            /// Creates an identifier from a UUID.
            pub const fn new(id: Uuid) -> Self {
                Self(id)
            }

            /// Returns the UUID.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                parse(text).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = Invalid;

            fn try_from(text: String) -> Result<Self, Invalid> {
                text.parse()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    )+};
}

ids! {
    /// Identifies an environment.
    EnvironmentId;
    /// Identifies a flag.
    FlagId;
    /// Identifies a targeting rule.
    RuleId;
    /// Identifies an audit entry.
    AuditId;
    /// Identifies a user.
    UserId;
    /// Identifies a session.
    SessionId;
    /// Identifies a personal access token.
    TokenId;
}

/// Parses an identifier: a UUID with hyphens, in lower or upper case.
fn parse(text: &str) -> Result<Uuid, Invalid> {
    match Uuid::try_parse(text) {
        Ok(id) if text.len() == 36 => Ok(id),
        _ => Err(Invalid::new("is not an identifier")),
    }
}

#[cfg(test)]
mod tests {
    use super::FlagId;

    #[test]
    fn an_identifier_has_one_form() {
        let text = "01a1fa8d-1ad7-7000-be8e-25c8e4232ff5";
        let id: FlagId = text.parse().expect("an identifier");
        assert_eq!(id.to_string(), text);
        for other in [
            text.replace('-', ""),
            format!("{{{text}}}"),
            format!("urn:uuid:{text}"),
            format!(" {text}"),
        ] {
            assert!(other.parse::<FlagId>().is_err(), "{other}");
        }
    }
}
