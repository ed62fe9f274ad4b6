//! The destinations of the palette.

use pennon_model::user::User;

use crate::{
    commands,
    components::frame::Section,
    error::AdminError,
    form::with_query,
    model::Destination,
    port::{people::PeopleAdmin, search::SearchAdmin, signed_in, signed_in_user},
    routes,
    scope::{product, scoped},
};

/// The maximum number of environments.
const SHOWN_ENVIRONMENTS: usize = 8;

/// Returns true if a user has the right that a task requires.
type Right = fn(&User) -> bool;

/// Pages for tasks, each with the right that it requires.
const TASKS: [(&str, Right, &str); 4] = [
    ("Incident: recent changes", |_| true, routes::INCIDENT),
    ("New flag", User::may_edit_flags, routes::NEW_FLAG),
    (
        "New environment",
        User::may_create_environments,
        routes::NEW_ENVIRONMENT,
    ),
    (
        "Invite a person",
        User::is_administrator,
        routes::NEW_PERSON,
    ),
];

/// Returns the sections, tasks, flags, environments and people whose names contain a text, and the actions that it
/// names as a command; only sections and tasks if it is empty. With a product in the address of the request, only its
/// flags and environments are returned.
pub(crate) async fn find(text: &str) -> Result<Vec<Destination>, AdminError> {
    let text = text.trim();
    let user = signed_in_user()?;
    let wanted = text.to_lowercase();
    let is_wanted = |name: &str| name.to_lowercase().contains(&wanted);
    let sections = Section::all_for(&user)
        .filter(|section| is_wanted(section.name()))
        .map(|section| destination("Page", section.name(), "", &section.href()));
    let tasks = TASKS
        .into_iter()
        .filter(|(name, is_permitted, _)| is_wanted(name) && is_permitted(&user))
        .map(|(name, _, path)| destination("Action", name, "", &scoped(path)));
    let mut destinations: Vec<_> = sections.chain(tasks).collect();
    if !text.is_empty() {
        let search = signed_in::<dyn SearchAdmin>()?;
        let product = product();
        destinations.extend(commands::find(text, &user, &*search, product.as_deref()).await?);
        let found = search.find(text, product.as_deref()).await?;
        let flags = found.flags.iter().map(|flag| {
            let kind = match flag.archived_at {
                Some(_) => "Archived flag",
                None => "Flag",
            };
            let key = flag.key.as_str();
            let href = scoped(routes::flag(key));
            destination(kind, flag.name.as_str(), key, &href)
        });
        destinations.extend(flags);
        if found.has_more_flags {
            let name = format!("All flags that match “{text}”");
            let href = with_query(routes::FLAGS, [("q", Some(text.to_owned()))]);
            destinations.push(destination("Page", &name, "", &href));
        }
        let environments = found.environments.iter().take(SHOWN_ENVIRONMENTS);
        let environments = environments.map(|environment| {
            let (name, product) = (environment.name.as_str(), environment.product.as_str());
            let href = scoped(routes::environment(environment.id));
            destination("Environment", name, product, &href)
        });
        destinations.extend(environments);
        destinations.extend(people(text, &user).await?);
    }
    Ok(destinations)
}

/// Returns people whose e-mail addresses contain a text, for administrators.
async fn people(text: &str, user: &User) -> Result<Vec<Destination>, AdminError> {
    if !user.is_administrator() {
        return Ok(Vec::new());
    }
    let found = signed_in::<dyn PeopleAdmin>()?.find_people(text).await?;
    let found = found.into_iter();
    Ok(found
        .map(|user| {
            let href = scoped(routes::person(user.id));
            destination("Person", user.email.as_str(), "", &href)
        })
        .collect())
}

fn destination(kind: &str, name: &str, detail: &str, href: &str) -> Destination {
    Destination {
        kind: kind.to_owned(),
        name: name.to_owned(),
        detail: detail.to_owned(),
        href: href.to_owned(),
    }
}
