//! The destinations of the palette.

use pennon_model::{
    page::PageRequest,
    user::{Role, User},
};

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

/// The maximum number of people.
const SHOWN_PEOPLE: usize = 8;

/// Pages for tasks, each with the role that may open it.
const TASKS: [(&str, Role, &str); 4] = [
    ("Incident: recent changes", Role::Viewer, routes::INCIDENT),
    ("New flag", Role::Editor, routes::NEW_FLAG),
    ("New environment", Role::Admin, routes::NEW_ENVIRONMENT),
    ("Invite a person", Role::Admin, routes::NEW_PERSON),
];

/// Returns the sections, tasks, flags, environments and people whose names contain a text, and the actions that it
/// names as a command; only sections and tasks if it is empty. With a product in the address of the request, only its
/// flags and environments are returned.
pub(crate) async fn find(text: &str) -> Result<Vec<Destination>, AdminError> {
    let text = text.trim();
    let user = signed_in_user()?;
    let wanted = text.to_lowercase();
    let is_wanted = |name: &str| name.to_lowercase().contains(&wanted);
    let sections = Section::all_for(user.role)
        .filter(|section| is_wanted(section.name()))
        .map(|section| destination("Page", section.name(), "", &section.href()));
    let tasks = TASKS
        .into_iter()
        .filter(|(name, role, _)| is_wanted(name) && user.highest_role_in_products() >= *role)
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
        let environments = found.environments.iter().map(|environment| {
            let (name, product) = (environment.name.as_str(), environment.product.as_str());
            let href = scoped(routes::environment(environment.id));
            destination("Environment", name, product, &href)
        });
        destinations.extend(environments);
        destinations.extend(people(&user, &is_wanted).await?);
    }
    Ok(destinations)
}

/// Returns the people whose e-mail addresses are wanted, for administrators.
async fn people(
    user: &User,
    is_wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Vec<Destination>, AdminError> {
    if user.role < Role::Admin {
        return Ok(Vec::new());
    }
    let page = signed_in::<dyn PeopleAdmin>()?
        .people(PageRequest::LONGEST)
        .await?;
    let found = page.items.into_iter().map(|row| row.user);
    let found = found
        .filter(|user| is_wanted(user.email.as_str()))
        .take(SHOWN_PEOPLE);
    Ok(found
        .map(|user| destination("Person", user.email.as_str(), "", &routes::person(user.id)))
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
