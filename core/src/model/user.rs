//! The people who administer flags.

use alloc::string::String;

use serde::Serialize;

use super::id::UserId;
use super::word::words;

/// A person with an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct User {
    /// Assigned by the service.
    pub id: UserId,
    /// The address that the person signs in with.
    pub email: String,
    /// What the person may do.
    pub role: Role,
}

words! {
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
