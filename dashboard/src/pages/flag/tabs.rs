//! The navigation between environments.

use leptos::prelude::*;
use pennon_model::{environment::Environment, flag_table::FlagCell};

use super::Shown;
use crate::{
    components::{
        flag_switch::partly,
        icon::{Drawing, Icon},
    },
    html::{Html, html},
    routes,
};

/// The maximum number of environments side by side; more are in a list that opens.
const SIDE_BY_SIDE: usize = 5;

/// Renders a tab for each environment, with the flag's status there.
pub(super) fn tabs(shown: &Shown) -> Html {
    let places = &shown.detail.environments;
    if places.len() <= SIDE_BY_SIDE {
        let tabs = places.iter().map(|(place, cell)| tab(shown, place, *cell));
        return html! {
            <nav class="tabs" aria-label="Environments">
                {tabs.collect_view()}
            </nav>
        };
    }
    let groups = places.chunk_by(|(one, _), (next, _)| one.product == next.product);
    let groups = groups.map(|group| {
        let product = group.first().map(|(place, _)| place.product.to_string());
        let tabs = group.iter().map(|(place, cell)| tab(shown, place, *cell));
        view! {
            <section>
                <h2>{product}</h2>
                <div class="picker-group">{tabs.collect_view()}</div>
            </section>
        }
    });
    let current = shown.detail.environment.as_ref();
    let current = current.map(|environment| shown.name_of(environment));
    html! {
        <nav class="picker" aria-label="Environments">
            <details>
                <summary class="button">
                    <span class="picker-label">"Environment"</span>
                    <span class="picker-name">{current}</span>
                    <span class="quiet">{format!("1 of {}", places.len())}</span>
                    <Drawing icon=Icon::DOWN/>
                </summary>
                <div class="picker-list">{groups.collect_view()}</div>
            </details>
        </nav>
    }
}

/// Renders the links to the flag's other pages.
pub(super) fn more(shown: &Shown) -> Html {
    let key = &shown.address.key;
    html! {
        <nav class="flag-more" aria-label="More about this flag">
            <a href=routes::flag_usage(key)>"Usage"</a>
            <a href=routes::flag_history(key)>"History"</a>
        </nav>
    }
}

fn tab(shown: &Shown, place: &Environment, cell: Option<FlagCell>) -> impl IntoView + use<> {
    let several = shown.detail.environments.len() <= SIDE_BY_SIDE;
    let name = if several {
        shown.name_of(place)
    } else {
        place.name.to_string()
    };
    let (state, word) = match cell {
        None => ("none", "not configured"),
        Some(cell) if !cell.enabled => ("off", "off"),
        Some(cell) if partly(cell).is_some() => ("partly", "partly on"),
        Some(_) => ("on", "on"),
    };
    let current = shown.address.environment == Some(place.id);
    view! {
        <a
            href=shown.address.within(place.id).href()
            title=format!("{name}: {word}")
            aria-current=current.then_some("page")
        >
            <span class="state" data-state=state></span>
            <span class="tab-name">{name.clone()}</span>
            <span class="visually-hidden">{format!(": {word}")}</span>
        </a>
    }
}
