//! Names and descriptions of roles.

use pennon_model::user::{Role, User};

/// The value of each role, and its label in forms. Each role includes the rights of those before it.
const CHOICES: &[(&str, &str)] = &[
    ("viewer", "Viewer: read-only"),
    ("editor", "Editor: also switches and edits flags"),
    ("admin", "Admin: also manages keys and people"),
];

/// Returns the roles that a user with a role may grant: their own and lesser ones.
pub fn choices(max_role: Role) -> &'static [(&'static str, &'static str)] {
    let index = CHOICES
        .iter()
        .position(|(value, _)| *value == max_role.as_str());
    index
        .and_then(|index| CHOICES.get(..=index))
        .unwrap_or_default()
}

/// Returns the name of a role.
pub fn name(role: Role) -> &'static str {
    match role {
        Role::Viewer => "Viewer",
        Role::Editor => "Editor",
        Role::Admin => "Admin",
    }
}

/// Describes the number of grants with a higher role than the user's own, in a sentence about the user; none if there
/// are none.
pub fn describe_grants(user: &User) -> Option<String> {
    let higher = user.grants.iter().filter(|grant| grant.role > user.role);
    match higher.count() {
        0 => None,
        1 => Some("Has a higher role in one product or environment.".to_owned()),
        several => Some(format!(
            "Has a higher role in {several} products and environments."
        )),
    }
}

/// Describes the rights of a user everywhere, in a sentence about the user.
pub fn describe_rights(user: &User) -> &'static str {
    match user.role {
        Role::Viewer if user.may_edit_something() => "Can see everything.",
        Role::Viewer => "Can see everything, but change nothing.",
        Role::Editor => "Can see everything, switch flags, and edit their rules and rollouts.",
        Role::Admin => "Can manage everything: flags, environments, keys and people.",
    }
}
