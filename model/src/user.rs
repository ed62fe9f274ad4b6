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

    /// Returns true if the user may change a resource: the flags of a product, or the configurations, rules and
    /// rollouts of an environment.
    pub fn may_edit(&self, resource: &Resource) -> bool {
        self.role_for(resource) >= Role::Editor
    }

    /// Returns true if the user may change an environment itself, or create and arrange those of a product.
    pub fn may_administer(&self, resource: &Resource) -> bool {
        self.role_for(resource) >= Role::Admin
    }

    /// Returns true if the user may change something: everything, a product or an environment.
    pub fn may_edit_something(&self) -> bool {
        self.highest_role() >= Role::Editor
    }

    /// Returns true if the user may create flags, and change flags themselves, at least in some product.
    pub fn may_edit_flags(&self) -> bool {
        self.highest_role_in_products() >= Role::Editor
    }

    /// Returns true if the user may create environments, at least in some product.
    pub fn may_create_environments(&self) -> bool {
        self.highest_role_in_products() >= Role::Admin
    }

    /// Returns true if the user may do everything, which includes managing people.
    pub fn is_administrator(&self) -> bool {
        self.role == Role::Admin
    }

    /// Returns the highest role for whole products, in which flags and environments are created.
    fn highest_role_in_products(&self) -> Role {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::ProductName;
    use crate::grant::{Grant, GrantScope};
    use crate::id::EnvironmentId;

    const NIL: uuid::Uuid = uuid::Uuid::nil();

    /// Returns a viewer with this role in a product or an environment.
    fn granted(scope: GrantScope, role: Role) -> User {
        let grant = Grant::new(scope, role).expect("not a viewer");
        user(Role::Viewer, Grants::try_from(vec![grant]).expect("one"))
    }

    fn user(role: Role, grants: Grants) -> User {
        User {
            id: UserId::new(NIL),
            email: "ana@example.com".to_owned(),
            role,
            grants,
            created_at: Timestamp::from_millis(0),
            revision: 1,
        }
    }

    fn shop() -> ProductName {
        "Shop".to_owned().try_into().expect("a name")
    }

    #[test]
    fn a_role_everywhere_decides_about_everything() {
        let rights = [Role::Viewer, Role::Editor, Role::Admin].map(|role| {
            let user = user(role, Grants::default());
            (
                user.may_edit(&Resource::Everything) && user.may_edit_something(),
                user.may_edit_flags(),
                user.may_create_environments(),
                user.is_administrator() && user.may_administer(&Resource::Everything),
            )
        });
        assert_eq!(rights[0], (false, false, false, false));
        assert_eq!(rights[1], (true, true, false, false));
        assert_eq!(rights[2], (true, true, true, true));
    }

    #[test]
    fn only_a_role_in_a_whole_product_permits_creating() {
        let editor = granted(GrantScope::Product(shop()), Role::Editor);
        assert!(editor.may_edit(&Resource::Product(shop())) && editor.may_edit_flags());
        assert!(!editor.may_edit(&Resource::Everything) && !editor.may_create_environments());
        let admin = granted(GrantScope::Product(shop()), Role::Admin);
        assert!(admin.may_administer(&Resource::Product(shop())));
        assert!(admin.may_create_environments() && !admin.is_administrator());
        let of_environment = GrantScope::Environment(EnvironmentId::new(NIL));
        let admin = granted(of_environment, Role::Admin);
        assert!(admin.may_edit_something());
        assert!(!admin.may_edit_flags() && !admin.may_create_environments());
    }
}
