//! The users of the dashboard and the Admin API.

use serde::Serialize;

use crate::email::is_email;
use crate::grant::{Grants, Resource};
use crate::id::UserId;
use crate::text::text;
use crate::time::Timestamp;
use pennon_core::Invalid;
use pennon_core::string_enum;

/// A person with an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct User {
    /// Its id, which the server assigns.
    pub id: UserId,
    /// The address with which the user signs in.
    #[cfg_attr(feature = "schema", schema(example = "ana@example.com"))]
    pub email: String,
    /// The role, which applies everywhere.
    pub role: Role,
    /// The roles in single products and environments; absent if there are none.
    #[serde(skip_serializing_if = "Grants::is_empty")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub grants: Grants,
    /// The time at which the account was created.
    pub created_at: Timestamp,
    /// The revision, which every change of the account increments, including a change of the password.
    #[serde(skip)]
    pub revision: i64,
}

impl User {
    /// Returns the effective role for a resource: the highest that applies.
    pub fn role_for(&self, resource: &Resource) -> Role {
        self.grants.role_for(resource, self.role)
    }

    /// Returns the highest role anywhere.
    pub fn highest_role(&self) -> Role {
        self.grants.highest(self.role)
    }

    /// Returns the highest role for whole products, in which flags and environments are created.
    pub fn highest_role_in_products(&self) -> Role {
        self.grants.highest_in_products(self.role)
    }
}

text! {
    /// The e-mail address of a new account, with at most 254 characters. Comparisons ignore case.
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
    /// The role of a user. Each role includes the rights of those before it.
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

/// The users to list.
#[derive(Clone, Debug, Default)]
pub struct UserFilter {
    /// The e-mail address, in any case.
    pub email: Option<String>,
    /// The role.
    pub role: Option<Role>,
}

/// A user with the password hash.
#[derive(Clone, Debug)]
pub struct Account {
    /// The user.
    pub user: User,
    /// The hash of the password, as a PHC string.
    pub password_hash: String,
}
