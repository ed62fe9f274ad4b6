//! The notice of a revoked environment.

use leptos::prelude::*;
use pennon_model::{
    environment::{Environment, EnvironmentStatus},
    previous_key::PreviousKey,
};

use crate::{
    components::{
        notice::{Notice, Severity},
        time::{Clock, Date},
    },
    error::AdminError,
    html::{Html, html},
    port::{environments::EnvironmentAdmin, signed_in},
    routes,
    scope::scoped,
};

/// Renders the notice of a revoked environment, which leads to the active one that replaced it; none for an active
/// environment.
pub(super) async fn notice(environment: &Environment) -> Result<Option<Html>, AdminError> {
    if environment.status == EnvironmentStatus::Active {
        return Ok(None);
    }
    let environments = signed_in::<dyn EnvironmentAdmin>()?;
    let active = environments.active_environments().await?;
    let rotated = active.iter().find_map(|successor| {
        let key = successor.previous_key.as_ref();
        let key = key.filter(|key| key.prefix == environment.sdk_key_prefix)?;
        Some(works(key, successor))
    });
    let text = rotated.unwrap_or_else(|| never_works(environment, &active));
    Ok(Some(html! {
        <Notice severity=Severity::Warning>
            <strong>"This environment is revoked. "</strong>
            {text}
        </Notice>
    }))
}

/// Describes the key while it works after a rotation.
fn works(key: &PreviousKey, successor: &Environment) -> Html {
    let ends_at = key.ends_at;
    html! {
        "Nothing in it can be changed. Its key was rotated, and still works until " <Date at=ends_at/> ", "
        <Clock at=ends_at/> ". To end it now, open "
        <a href=scoped(routes::environment(successor.id))>"the environment with the new key"</a> "."
    }
}

fn never_works(environment: &Environment, active: &[Environment]) -> Html {
    let same = active
        .iter()
        .find(|each| each.product == environment.product && each.name == environment.name);
    let name = "the active environment of the same name";
    let name = match same {
        Some(same) => html! { <a href=scoped(routes::environment(same.id))>{name}</a> },
        None => html! { {name} },
    };
    html! {
        "Its key never works again, and nothing in it can be changed. If the key was rotated, use " {name} "."
    }
}
