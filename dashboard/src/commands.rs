//! Commands of the palette: a verb, a flag, and maybe an environment, as in `turn off checkout in production`.

use pennon_model::{environment::Environment, flag::Flag, grant::Resource, user::User};

use crate::{
    error::AdminError,
    form::with_query,
    model::{Destination, Naming},
    port::search::SearchAdmin,
    routes,
    scope::scoped,
};

/// The maximum number of flags, and of results, of a command.
const SHOWN_FLAGS: usize = 3;
const SHOWN: usize = 8;

/// The action of a command on a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    /// Asks to switch the flag on or off in an environment.
    Switch(bool),
    /// Opens the form that asks who gets the flag in an environment.
    RollOut,
    /// Opens the form that copies the configuration of an environment.
    Copy,
    /// Opens the usage.
    Usage,
    /// Opens the history.
    History,
}

/// The words that begin a command.
const VERBS: [(&str, Verb); 11] = [
    ("turn on", Verb::Switch(true)),
    ("switch on", Verb::Switch(true)),
    ("enable", Verb::Switch(true)),
    ("turn off", Verb::Switch(false)),
    ("switch off", Verb::Switch(false)),
    ("disable", Verb::Switch(false)),
    ("roll out", Verb::RollOut),
    ("rollout", Verb::RollOut),
    ("copy", Verb::Copy),
    ("usage", Verb::Usage),
    ("history", Verb::History),
];

/// Returns the destinations of the command that the text begins with; empty if it is no command. Only flags that match,
/// and environments in which, or from which, the user may do it, are returned.
pub(crate) async fn find(
    text: &str,
    user: &User,
    search: &dyn SearchAdmin,
    product: Option<&str>,
) -> Result<Vec<Destination>, AdminError> {
    let Some((verb, object)) = parse(text) else {
        return Ok(Vec::new());
    };
    for (flag_text, environment_text) in objects(&object) {
        let flags = search.find(flag_text, product).await?.flags.into_iter();
        let flags: Vec<_> = flags
            .filter(|flag| flag.archived_at.is_none())
            .take(SHOWN_FLAGS)
            .collect();
        if flags.is_empty() {
            continue;
        }
        let results = search.find(environment_text, product).await?;
        let environments = results.environments.into_iter();
        let is_editor = |each: &Environment| user.may_edit(&Resource::of(each));
        let (environments, targets): (Vec<_>, Vec<_>) = match verb {
            // Copying changes another environment than the one that it names.
            Verb::Copy => {
                let all = search.find("", product).await?.environments.into_iter();
                (environments.collect(), all.filter(is_editor).collect())
            }
            _ => (environments.filter(is_editor).collect(), Vec::new()),
        };
        let found = destinations(verb, &flags, &environments, &targets, results.naming);
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Splits a text into the verb and the rest, in lower case; none if the text is no command.
fn parse(text: &str) -> Option<(Verb, String)> {
    let text = text.trim().to_lowercase();
    VERBS.into_iter().find_map(|(words, verb)| {
        let object = text.strip_prefix(words)?.strip_prefix(' ')?.trim();
        (!object.is_empty()).then(|| (verb, object.to_owned()))
    })
}

/// Returns the possible meanings of a text as a flag and an environment, the most likely first.
fn objects(text: &str) -> Vec<(&str, &str)> {
    if let Some((flag, environment)) = text.rsplit_once(" in ") {
        return vec![(flag.trim(), environment.trim()), (text, "")];
    }
    let last = text.rsplit_once(' ');
    std::iter::once((text, "")).chain(last).collect()
}

fn destinations(
    verb: Verb,
    flags: &[Flag],
    environments: &[Environment],
    targets: &[Environment],
    naming: Naming,
) -> Vec<Destination> {
    let mut found = Vec::new();
    for flag in flags {
        let (key, name) = (flag.key.as_str(), flag.name.as_str());
        match verb {
            Verb::Usage => found.push(action(
                format!("Usage of {name}"),
                key,
                scoped(routes::flag_usage(key)),
            )),
            Verb::History => {
                found.push(action(
                    format!("History of {name}"),
                    key,
                    scoped(routes::flag_history(key)),
                ));
            }
            Verb::Switch(_) | Verb::RollOut | Verb::Copy => {
                let has_target = |from: &Environment| {
                    let mut targets = targets.iter().filter(|each| flag.exists_in(each));
                    verb != Verb::Copy || targets.any(|each| each.id != from.id)
                };
                let there = environments.iter();
                let there = there.filter(|each| flag.exists_in(each) && has_target(each));
                found.extend(there.map(|each| in_environment(verb, flag, each, naming)));
            }
        }
    }
    found.truncate(SHOWN);
    found
}

fn in_environment(
    verb: Verb,
    flag: &Flag,
    environment: &Environment,
    naming: Naming,
) -> Destination {
    let (key, name) = (flag.key.as_str(), flag.name.as_str());
    let environment_name = naming.name_of(environment);
    let (label, edit, enabled) = match verb {
        Verb::Switch(true) => (
            format!("Turn on {name} in {environment_name}"),
            "switch",
            Some(true),
        ),
        Verb::Switch(false) => (
            format!("Turn off {name} in {environment_name}"),
            "switch",
            Some(false),
        ),
        Verb::Copy => (format!("Copy {name} from {environment_name}"), "copy", None),
        _ => (
            format!("Roll out {name} in {environment_name}"),
            "recipe",
            None,
        ),
    };
    let parameters = [
        ("environment", Some(environment.id.to_string())),
        ("edit", Some(edit.to_owned())),
        ("enabled", enabled.map(|enabled: bool| enabled.to_string())),
    ];
    action(label, key, with_query(&routes::flag(key), parameters))
}

fn action(name: String, key: &str, href: String) -> Destination {
    Destination {
        kind: "Action".to_owned(),
        name,
        detail: key.to_owned(),
        href,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_verb_and_an_object() {
        assert_eq!(
            parse(" Turn OFF Checkout in production"),
            Some((Verb::Switch(false), "checkout in production".to_owned()))
        );
        assert_eq!(
            parse("copy new checkout"),
            Some((Verb::Copy, "new checkout".to_owned()))
        );
        assert_eq!(parse("copy"), None);
        assert_eq!(parse("copycat"), None);
        assert_eq!(parse("checkout"), None);
    }

    #[test]
    fn the_environment_follows_the_last_in_or_is_the_last_word() {
        assert_eq!(
            objects("built in test in web shop"),
            [
                ("built in test", "web shop"),
                ("built in test in web shop", "")
            ]
        );
        assert_eq!(
            objects("new checkout production"),
            [
                ("new checkout production", ""),
                ("new checkout", "production")
            ]
        );
        assert_eq!(objects("checkout"), [("checkout", "")]);
    }
}
