//! Empty states of the flag list.

use leptos::prelude::*;
use pennon_model::{
    flag_table::{FlagTableQuery, Lifecycle},
    page::PageNumber,
    user::Role,
};

use super::super::environments::NewEnvironmentLink;
use crate::{
    components::{
        empty::Empty,
        frame::Section,
        link_button::LinkButton,
        new_flag_link::NewFlagLink,
        notice::{Notice, Weight},
        snippet::Snippet,
    },
    html::html,
    routes,
};

/// The first steps: the purpose of a flag, and code that evaluates it.
#[component]
pub fn NoFlags(
    /// True if no environment exists either.
    no_environment: bool,
    /// The reader's role.
    role: Role,
) -> impl IntoView {
    if no_environment {
        return html! {
            <Empty title="Start with an environment">
                <p>
                    "A flag takes effect in an environment, such as production. Each environment has its own key, with which your application fetches its flags."
                </p>
                {if role >= Role::Admin {
                    html! { <NewEnvironmentLink/> }
                } else {
                    html! { <p>"Ask an admin to create one."</p> }
                }}
            </Empty>
        };
    }
    let create = (role >= Role::Editor).then(|| view! { <NewFlagLink/> });
    html! {
        <Empty title="No flags yet">
            <p>
                "A flag turns a part of your application on and off while it runs, separately in each environment. A new flag is off everywhere."
            </p>
            {create}
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
    /// The reader's role.
    role: Role,
) -> impl IntoView {
    view! {
        <Notice weight=Weight::Warning>
            "No environment is active, so no flag can be switched on. "
            {(role >= Role::Admin)
                .then(|| view! { <a href=routes::NEW_ENVIRONMENT>"Create one"</a> })}
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
        lifecycle,
        environment,
        state,
        stale,
        page,
        ..
    } = query;
    let filtered = environment.is_some() || state.is_some() || stale;
    let title = match (search.as_str(), lifecycle) {
        _ if page.page > PageNumber::default() => "No flags on this page".to_owned(),
        _ if filtered => "No flag matches these filters".to_owned(),
        ("", Lifecycle::Archived) => "No archived flags".to_owned(),
        ("", _) => "No active flags".to_owned(),
        (search, _) => format!("No flag matches “{search}”"),
    };
    view! {
        <Empty title>
            <LinkButton href=Section::Flags.href() label="Show all active flags"/>
        </Empty>
    }
}
