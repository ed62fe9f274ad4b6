//! The filters of the flag list.

use leptos::prelude::*;
use pennon_model::{
    environment::Environment,
    flag_table::{FlagState, FlagTableOrder, FlagTableQuery, Lifecycle},
    metadata::{FlagKind, MetadataFilter},
};

use super::address::{address, at_page, lifecycle_label, order_label};
use crate::{
    components::{
        icon::{Drawing, Icon},
        select::options,
    },
    describe,
    html::{Html, hidden, html},
    model::Naming,
    routes,
    scope::scope_field,
};

/// The definition of a stale flag.
pub(super) const STALE: &str = "A flag is stale if it has expired, or has not changed for 30 days, and either has not been evaluated for 14 days or is the same for everyone in every environment. You can probably remove its code. Clients that evaluate locally report their evaluations, unless reportUsage is off.";

/// Search, filters, order, and the choice of states.
#[component]
pub fn Filters(
    /// The current query.
    query: FlagTableQuery,
    /// The environments to choose from.
    environments: Vec<Environment>,
) -> impl IntoView {
    let state_field = (query.lifecycle != Lifecycle::default())
        .then(|| hidden("state", query.lifecycle.as_str()));
    let naming = Naming::of_environments(&environments);
    let environment_options = environments.iter();
    let environment_options =
        environment_options.map(|each| (each.id.to_string(), naming.name_of(each)));
    let selected = query.environment.map(|environment| environment.to_string());
    let states = FlagState::ALL.iter();
    let states = states.map(|&each| (each.as_str(), describe::state_label(each)));
    // The address omits the default order.
    let order_value = |order| match order {
        FlagTableOrder::Newest => "",
        order => order.as_str(),
    };
    let orders = FlagTableOrder::ALL.iter();
    let orders = orders.map(|&each| (order_value(each), order_label(each)));
    html! {
        <search class="toolbar">
            <form class="filters" id="filters" method="get" action=routes::FLAGS data-addressed>
                <div class="search">
                    {search_field(query.search.clone())}
                </div>
                <select class="input" name="environment" aria-label="Environment">
                    <option value="">"All environments"</option>
                    {options(environment_options, &selected.unwrap_or_default())}
                </select>
                {more_filters(&query)}
                <select class="input" name="is" aria-label="Flag state">
                    <option value="">"Any state"</option>
                    {options(states, query.state.map(FlagState::as_str).unwrap_or_default())}
                </select>
                {metadata_fields(&query.metadata)}
                <select class="input" name="sort" aria-label="Order">
                    {options(orders, order_value(query.order))}
                </select>
                <label class="check" title=STALE>
                    <input type="checkbox" name="stale" value="yes" checked=query.stale/>
                    "Stale only"
                </label>
                {state_field}
                {scope_field()}
                <noscript>
                    <button class="button">"Show"</button>
                </noscript>
            </form>
            <States query/>
        </search>
    }
}

/// Renders what opens the fields after it on a narrow screen, with the number of those that are set.
fn more_filters(query: &FlagTableQuery) -> Html {
    let FlagTableQuery { metadata, .. } = query;
    let are_set = [
        query.state.is_some(),
        metadata.kind.is_some(),
        !metadata.tags.is_empty(),
        metadata.owner.is_some(),
        query.stale,
    ];
    let count = are_set.into_iter().filter(|is_set| *is_set).count();
    let label = match count {
        0 => "Filters".to_owned(),
        count => format!("Filters ({count})"),
    };
    let is_open = count > 0 || query.order != FlagTableOrder::default();
    html! {
        <details class="more-filters narrow-only" open=is_open>
            <summary class="button">
                <span id="more-filters" data-live>
                    {label}
                </span>
                <Drawing icon=Icon::DOWN/>
            </summary>
        </details>
    }
}

/// Renders the fields for kind, tags and owner.
fn metadata_fields(filter: &MetadataFilter) -> Html {
    let kinds = FlagKind::ALL.iter();
    let kinds = kinds.map(|&each| (each.as_str(), describe::kind(each)));
    let tags = filter.tags.to_string();
    let owner = filter.owner.clone().unwrap_or_default();
    let line = |name: &'static str, label: &'static str, value: String| {
        view! {
            <input
                class="input"
                name=name
                value=value
                placeholder=label
                aria-label=label
                autocomplete="off"
                autocapitalize="off"
                enterkeyhint="search"
                spellcheck="false"
            />
        }
    };
    html! {
        <select class="input" name="kind" aria-label="Kind">
            <option value="">"Any kind"</option>
            {options(kinds, filter.kind.map(FlagKind::as_str).unwrap_or_default())}
        </select>
        {line("tag", "Tags", tags)}
        {line("owner", "Owner", owner)}
    }
}

/// Renders the search field; with scripts, `/` focuses it from anywhere on the page.
fn search_field(value: String) -> Html {
    html! {
        <span class="search-box">
            <Drawing icon=Icon::SEARCH/>
            <input
                class="input"
                type="search"
                name="q"
                value=value
                placeholder="Search name or key"
                aria-label="Search name or key"
                autocomplete="off"
                autocapitalize="off"
                enterkeyhint="search"
                spellcheck="false"
            />
            <kbd aria-hidden="true">"/"</kbd>
        </span>
    }
}

/// The links that select a state and keep the rest of the query.
#[component]
fn States(query: FlagTableQuery) -> impl IntoView {
    let lifecycles = Lifecycle::ALL.iter().map(|&each| {
        let href = address(&FlagTableQuery {
            lifecycle: each,
            ..at_page(&query, 1)
        });
        view! {
            <a href=href aria-current=(each == query.lifecycle).then_some("true")>
                {lifecycle_label(each)}
            </a>
        }
    });
    html! {
        <nav class="segments" id="states" data-live aria-label="State">
            {lifecycles.collect_view()}
        </nav>
    }
}
