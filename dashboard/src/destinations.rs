//! Where one can go from anywhere.

use crate::{
    components::frame::Room,
    error::AdminError,
    model::Destination,
    port::{finder::Finder, signed_in, signed_in_user},
    routes,
};

/// The rooms, flags and environments whose names contain a text; the rooms alone as long as nothing is typed.
pub(crate) async fn find(text: &str) -> Result<Vec<Destination>, AdminError> {
    let text = text.trim();
    let role = signed_in_user()?.role;
    let wanted = text.to_lowercase();
    let rooms = Room::everywhere(role)
        .filter(|room| room.name().to_lowercase().contains(&wanted))
        .map(|room| Destination {
            kind: "Page".to_owned(),
            name: room.name().to_owned(),
            detail: String::new(),
            href: room.href().to_owned(),
        });
    let mut destinations: Vec<_> = rooms.collect();
    if !text.is_empty() {
        let found = signed_in::<dyn Finder>()?.find(text).await?;
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
