//! Empty states of the flag list.

use leptos::prelude::*;
use pennon_model::{
    flag_table::{FlagTableQuery, Lifecycle},
    metadata::MetadataFilter,
    page::PageNumber,
};

use crate::{
    components::{
        empty::Empty,
        frame::Section,
        link_button::LinkButton,
        notice::{Notice, Severity},
        snippet::Snippet,
    },
    html::html,
    routes,
    scope::{product, scoped},
};

/// The purpose of a flag, and code that evaluates it. The first steps above have the buttons.
#[component]
pub fn NoFlags() -> impl IntoView {
    html! {
        <Empty title="No flags yet">
            <p>
                "A flag turns a part of your application on and off while it runs, separately in each environment. A new flag is off everywhere."
            </p>
            <Snippet
                title="Evaluate a flag"
                code="if (flags.isEnabled(\"new_checkout\")) {\n  showNewCheckout();\n}"
            />
        </Empty>
    }
}

/// The empty state when flags exist, but no environment.
#[component]
pub fn NoEnvironment(
    /// True if the reader may create environments.
    may_create: bool,
) -> impl IntoView {
    let missing = match product() {
        Some(product) => {
            format!("{product} has no active environment, so no flag can be switched on there. ")
        }
        None => "No environment is active, so no flag can be switched on. ".to_owned(),
    };
    view! {
        <Notice severity=Severity::Warning>
            {missing}
            {may_create
                .then(|| view! { <a href=scoped(routes::NEW_ENVIRONMENT)>"Create one"</a> })}
        </Notice>
    }
}

/// The empty state when no flag matches the query.
#[component]
pub fn NoMatch(
    /// The query.
    query: FlagTableQuery,
) -> impl IntoView {
    let FlagTableQuery {
        search,
        product,
        lifecycle,
        environment,
        state,
        stale,
        metadata,
        page,
        order: _,
    } = query;
    let filtered =
        environment.is_some() || state.is_some() || stale || metadata != MetadataFilter::default();
    let title = match (search.as_str(), lifecycle) {
        _ if page.page > PageNumber::default() => "No flags on this page".to_owned(),
        _ if filtered => "No flags match these filters".to_owned(),
        ("", lifecycle) => {
            let flags = match lifecycle {
                Lifecycle::Archived => "No archived flags",
                _ => "No active flags",
            };
            product.map_or(flags.to_owned(), |product| format!("{flags} in {product}"))
        }
        (search, _) => format!("No flags match “{search}”"),
    };
    html! {
        <Empty title>
            <LinkButton href=Section::Flags.href() label="Show all active flags"/>
        </Empty>
    }
}
