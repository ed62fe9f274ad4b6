//! Roles in words.

use pennon_model::user::Role;

/// Each role's word, and the sentence under which it is offered; each may also do what the ones before it may.
const CHOICES: &[(&str, &str)] = &[
    ("viewer", "Viewer: sees everything, changes nothing"),
    ("editor", "Editor: also switches and edits flags"),
    ("admin", "Admin: also manages keys and people"),
];

/// The roles that somebody with a role may give: their own and lesser ones.
pub fn choices(most: Role) -> &'static [(&'static str, &'static str)] {
    let place = CHOICES.iter().position(|(word, _)| *word == most.as_str());
    place
        .and_then(|place| CHOICES.get(..=place))
        .unwrap_or_default()
}

/// A role in a word.
pub fn name(role: Role) -> &'static str {
    match role {
        Role::Viewer => "Viewer",
        Role::Editor => "Editor",
        Role::Admin => "Admin",
    }
}

/// What a role allows, in a sentence about whoever has it.
pub fn allows(role: Role) -> &'static str {
    match role {
        Role::Viewer => "Sees everything and changes nothing.",
        Role::Editor => "Sees everything, switches flags, and edits their rules and rollouts.",
        Role::Admin => "May do everything: flags, environments, keys and people.",
    }
}
