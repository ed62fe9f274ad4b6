//! Where one can go from anywhere.

use crate::{
    components::frame::Section,
    error::AdminError,
    model::Destination,
    port::{search::SearchAdmin, signed_in, signed_in_user},
    routes,
};

/// The rooms, flags and environments whose names contain a text; the rooms alone as long as nothing is typed.
pub(crate) async fn find(text: &str) -> Result<Vec<Destination>, AdminError> {
    let text = text.trim();
    let role = signed_in_user()?.role;
    let wanted = text.to_lowercase();
    let sections = Section::everywhere(role)
        .filter(|section| section.name().to_lowercase().contains(&wanted))
        .map(|section| Destination {
            kind: "Page".to_owned(),
            name: section.name().to_owned(),
            detail: String::new(),
            href: section.href().to_owned(),
        });
    let mut destinations: Vec<_> = sections.collect();
    if !text.is_empty() {
        let found = signed_in::<dyn SearchAdmin>()?.find(text).await?;
        destinations.extend(found.flags.into_iter().map(|flag| Destination {
            kind: match flag.archived_at {
                Some(_) => "Archived flag".to_owned(),
                None => "Flag".to_owned(),
            },
            name: flag.name.to_string(),
            detail: flag.key.to_string(),
            href: routes::flag(flag.key.as_str()),
        }));
        destinations.extend(
            found
                .environments
                .into_iter()
                .map(|environment| Destination {
                    kind: "Environment".to_owned(),
                    name: environment.name.to_string(),
                    detail: environment.product.to_string(),
                    href: routes::environment(environment.id),
                }),
        );
    }
    Ok(destinations)
}
