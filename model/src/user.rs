//! The people who administer flags.

use serde::Serialize;

use crate::id::UserId;
use crate::text::text;
use crate::time::Timestamp;
use pennon_core::Invalid;
use pennon_core::context::is_email;
use pennon_core::string_enum;

/// A person with an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct User {
    /// Assigned by the service.
    pub id: UserId,
    /// The address that the person signs in with.
    #[cfg_attr(feature = "schema", schema(example = "ana@example.com"))]
    pub email: String,
    /// What the person may do.
    pub role: Role,
    /// When the account was created.
    pub created_at: Timestamp,
    /// Raised by every change of the account, its password included.
    #[serde(skip)]
    pub revision: i64,
}

text! {
    /// The e-mail address of a new account, in up to 254 characters. It is compared as it is written.
    #[cfg_attr(
        feature = "schema",
        schema(
            max_length = 254,
            pattern = r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$",
            example = "ana@example.com"
        )
    )]
    pub struct Email = |text| {
        if text.len() > 254 {
            return Err(Invalid::new("must have at most 254 characters"));
        }
        if !is_email(text) {
            return Err(Invalid::new("must be an e-mail address"));
        }
        Ok(())
    }
}

string_enum! {
    /// What a person may do; each role may also do what the ones before it may.
    #[derive(PartialOrd, Ord)]
    pub enum Role {
        /// Reads.
        Viewer = "viewer",
        /// Writes flags, rules, rollouts and configurations.
        Editor = "editor",
        /// Writes environments, keys and users.
        Admin = "admin",
    }
    else "must be `viewer`, `editor` or `admin`"
}

/// The users to list. Every filter compares exactly.
#[derive(Clone, Debug, Default)]
pub struct UserFilter {
    /// The e-mail address.
    pub email: Option<String>,
    /// The role.
    pub role: Option<Role>,
}

/// A user with the hash of the password.
#[derive(Clone, Debug)]
pub struct Account {
    /// The user.
    pub user: User,
    /// The hash of the password, as a PHC string.
    pub password_hash: String,
}
