//! The navigation between environments.

use leptos::prelude::*;
use pennon_model::{environment::Environment, flag_table::FlagCell};

use super::PageData;
use crate::{
    components::icon::{Drawing, Icon},
    describe,
    html::{Html, html},
    routes,
    scope::scoped,
};

/// The maximum number of environments side by side; more are in a list that opens.
const SIDE_BY_SIDE: usize = 5;

/// Renders a link for each environment, with the flag's state there: as tabs, or in a list that opens. Few
/// environments are rendered as both; a narrow screen shows the list.
pub(super) fn tabs(page: &PageData) -> Html {
    let count = page.detail.environments.len();
    let tabs = (count <= SIDE_BY_SIDE).then(|| side_by_side(page));
    let picker = (count > 1).then(|| picker(page));
    html! { {tabs} {picker} }
}

fn side_by_side(page: &PageData) -> Html {
    let places = page.detail.environments.iter();
    let tabs =
        places.map(|(environment, cell)| tab(page, environment, page.name_of(environment), *cell));
    html! {
        <nav class="tabs" aria-label="Environments">
            {tabs.collect_view()}
        </nav>
    }
}

fn picker(page: &PageData) -> Html {
    let places = &page.detail.environments;
    let groups = places.chunk_by(|(one, _), (next, _)| one.product == next.product);
    let groups = groups.map(|group| {
        let product = group
            .first()
            .map(|(environment, _)| environment.product.to_string());
        let tabs = group
            .iter()
            .map(|(environment, cell)| tab(page, environment, environment.name.to_string(), *cell));
        view! {
            <section>
                <h2>{product}</h2>
                <div class="picker-group">{tabs.collect_view()}</div>
            </section>
        }
    });
    let position = places
        .iter()
        .position(|(environment, _)| page.address.environment == Some(environment.id));
    let position = position.map(|index| format!("{} of {}", index.saturating_add(1), places.len()));
    let current = page.detail.environment.as_ref();
    let current = current.map(|environment| page.name_of(environment));
    html! {
        <nav class="picker" aria-label="Environments">
            <details>
                <summary class="button">
                    <span class="picker-label">"Environment"</span>
                    <span class="picker-name">{current}</span>
                    <span class="quiet">{position}</span>
                    <Drawing icon=Icon::DOWN/>
                </summary>
                <div class="picker-list">{groups.collect_view()}</div>
            </details>
        </nav>
    }
}

/// Renders the links to the flag's other pages.
pub(super) fn more(page: &PageData) -> Html {
    let key = &page.address.key;
    let several = page.detail.environments.len() > 1;
    let compare = scoped(routes::flag_comparison(key));
    let live = page
        .may_watch()
        .then_some(page.address.environment)
        .flatten();
    let live = live.map(|environment| {
        let href = scoped(routes::live_evaluations_of(key, environment));
        view! { <a href=href>"Live"</a> }
    });
    html! {
        <nav class="flag-more" aria-label="More about this flag">
            {several.then(|| view! { <a href=compare>"Compare"</a> })}
            <a href=scoped(routes::flag_usage(key))>"Usage"</a>
            {live}
            <a href=scoped(routes::flag_history(key))>"History"</a>
        </nav>
    }
}

fn tab(
    page: &PageData,
    environment: &Environment,
    name: String,
    cell: Option<FlagCell>,
) -> impl IntoView + use<> {
    let (state, label) = match cell.map(|cell| cell.state()) {
        None => ("none", "not configured".to_owned()),
        Some(state) => (state.as_str(), describe::state_label(state).to_lowercase()),
    };
    let current = page.address.environment == Some(environment.id);
    view! {
        <a
            href=page.address.within(environment.id).href()
            title=format!("{name}: {label}")
            aria-current=current.then_some("page")
        >
            <span class="state" data-state=state></span>
            <span class="tab-name">{name.clone()}</span>
            <span class="visually-hidden">{format!(": {label}")}</span>
        </a>
    }
}
