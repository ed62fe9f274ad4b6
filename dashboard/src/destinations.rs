//! The destinations of the palette.

use crate::{
    components::frame::Section,
    error::AdminError,
    model::Destination,
    port::{search::SearchAdmin, signed_in, signed_in_user},
    routes,
    scope::{product, scoped},
};

/// Returns the sections, flags and environments whose names contain a text; only sections if it is empty. With a product
/// in the address of the request, only its flags and environments are returned.
pub(crate) async fn find(text: &str) -> Result<Vec<Destination>, AdminError> {
    let text = text.trim();
    let role = signed_in_user()?.role;
    let wanted = text.to_lowercase();
    let sections = Section::all_for(role)
        .filter(|section| section.name().to_lowercase().contains(&wanted))
        .map(|section| destination("Page", section.name(), "", &section.href()));
    let mut destinations: Vec<_> = sections.collect();
    if !text.is_empty() {
        let found = signed_in::<dyn SearchAdmin>()?
            .find(text, product().as_deref())
            .await?;
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
        let environments = found.environments.iter().map(|environment| {
            let (name, product) = (environment.name.as_str(), environment.product.as_str());
            let href = scoped(routes::environment(environment.id));
            destination("Environment", name, product, &href)
        });
        destinations.extend(environments);
    }
    Ok(destinations)
}

fn destination(kind: &str, name: &str, detail: &str, href: &str) -> Destination {
    Destination {
        kind: kind.to_owned(),
        name: name.to_owned(),
        detail: detail.to_owned(),
        href: href.to_owned(),
    }
}
