//! The list of flags.

use leptos::prelude::*;
use pennon_core::model::{
    page::{Limit, PageNumber, PageRequest},
    user::Role,
};

use crate::{
    api::flags::SetEnabled,
    components::{
        answer::answer,
        empty::Empty,
        flag_table::FlagTable,
        frame::{Frame, Room},
        icon::{Drawing, Icon},
        notice::{Notice, Weight},
        pager::Pager,
        snippet::Snippet,
        title::Title,
    },
    error::AdminError,
    form::Form,
    islands::search_field::SearchField,
    port::{
        flags::{FlagAdmin, FlagQuery, FlagState, FlagTable as Table},
        query, signed_in, signed_in_user,
    },
};

/// What is on, and where.
#[component]
pub fn Flags() -> impl IntoView {
    let query = FlagQuery::from(&query());
    let page = answer(async move {
        let role = signed_in_user()?.role;
        let table = signed_in::<dyn FlagAdmin>()?.flags(query.clone()).await?;
        Ok(view! { <List query table role/> })
    });
    view! {
        <Title text="Flags"/>
        <Frame room=Room::Flags>{page}</Frame>
    }
}

#[component]
fn List(query: FlagQuery, table: Table, role: Role) -> impl IntoView {
    let pagination = table.flags.pagination;
    let may_edit = role >= Role::Editor;
    let none_at_all = pagination.total == 0 && query == FlagQuery::default();
    let no_environment = table.environments.is_empty();
    let more = pagination.total > pagination.limit.get();
    let create = (may_edit && !none_at_all).then(|| view! { <NewFlagLink/> });
    let list = if none_at_all {
        view! { <NoFlags no_environment role/> }.into_any()
    } else {
        let warning = (no_environment).then(|| view! { <NoEnvironment role/> });
        let rows = if table.flags.items.is_empty() {
            view! { <NoMatch query=query.clone()/> }.into_any()
        } else {
            view! { <FlagTable table may_edit/> }.into_any()
        };
        let turn = query.clone();
        view! {
            {warning}
            <Toolbar query more/>
            {rows}
            <Pager pagination href=move |page| turn.turned(page).href()/>
        }
        .into_any()
    };
    view! {
        <header class="page-head">
            <h1>
                "Flags"
                {(!none_at_all).then(|| view! { <span class="count">{pagination.total}</span> })}
            </h1>
            {create}
        </header>
        <Refused/>
        {list}
    }
}

/// Why a switch did not move, when it was pressed without scripts.
#[component]
fn Refused() -> impl IntoView {
    let error = ServerAction::<SetEnabled>::new()
        .value()
        .get_untracked()
        .and_then(Result::err);
    error.map(|error| {
        view! {
            <Notice weight=Weight::Danger>
                <strong>"Not switched. "</strong>
                {reason(error)}
            </Notice>
        }
    })
}

/// The error in words of our own: it comes back in the address, where anybody could have written what it says.
fn reason(error: AdminError) -> String {
    match error {
        AdminError::Conflict(_) => {
            "The flag is archived, or the environment is revoked.".to_owned()
        }
        AdminError::Transport(_) => "The request could not be understood.".to_owned(),
        AdminError::Invalid(_) | AdminError::TooManyAttempts(_) => AdminError::Internal.to_string(),
        error => error.to_string(),
    }
}

#[component]
fn NewFlagLink() -> impl IntoView {
    view! {
        <a class="button primary" href="/dashboard/flags/new">
            <Drawing icon=Icon::Plus/>
            "New flag"
        </a>
    }
}

/// Search and the choice of states.
#[component]
fn Toolbar(query: FlagQuery, more: bool) -> impl IntoView {
    let state = query.state;
    let states = FlagState::ALL.map(|each| {
        let href = FlagQuery {
            state: each,
            ..query.turned(1)
        }
        .href();
        view! {
            <a href=href aria-current=(each == state).then_some("true")>
                {each.label()}
            </a>
        }
    });
    let state_field = (state != FlagState::default())
        .then(|| view! { <input type="hidden" name="state" value=state.as_str()/> });
    view! {
        <search class="toolbar">
            <form class="search" method="get" action=Room::Flags.href()>
                <SearchField value=query.search.clone() more/>
                {state_field}
            </form>
            <nav class="segments" aria-label="State">
                {states.collect_view()}
            </nav>
        </search>
    }
}

/// The first lesson: what a flag is for and how it is read.
#[component]
fn NoFlags(no_environment: bool, role: Role) -> impl IntoView {
    if no_environment {
        return view! {
            <Empty title="Start with an environment">
                <p>
                    "A flag takes effect in an environment, such as production. An environment has its own key, with which your application asks for its flags."
                </p>
                <NewEnvironmentLink role/>
            </Empty>
        }
        .into_any();
    }
    let create = (role >= Role::Editor).then(|| view! { <NewFlagLink/> });
    view! {
        <Empty title="No flags yet">
            <p>
                "A flag lets you turn a part of your application on and off while it runs, in each environment by itself. A new flag is off everywhere."
            </p>
            {create}
            <Snippet
                title="Reading a flag"
                code="if (flags.isEnabled(\"new_checkout\")) {\n  showNewCheckout();\n}"
            />
        </Empty>
    }
    .into_any()
}

/// There are flags, but nowhere to switch them on.
#[component]
fn NoEnvironment(role: Role) -> impl IntoView {
    view! {
        <Notice weight=Weight::Warning>
            "There is no active environment, so there is nowhere to switch a flag on. "
            {(role >= Role::Admin)
                .then(|| view! { <a href="/dashboard/environments/new">"Create one"</a> })}
        </Notice>
    }
}

#[component]
fn NewEnvironmentLink(role: Role) -> impl IntoView {
    if role >= Role::Admin {
        view! {
            <a class="button primary" href="/dashboard/environments/new">
                <Drawing icon=Icon::Plus/>
                "New environment"
            </a>
        }
        .into_any()
    } else {
        view! { <p>"Ask an admin to create one."</p> }.into_any()
    }
}

/// The list is empty because of what was asked for.
#[component]
fn NoMatch(query: FlagQuery) -> impl IntoView {
    let title = match (query.search.as_str(), query.state) {
        _ if query.page.page > PageNumber::default() => {
            "There are no flags on this page".to_owned()
        }
        ("", FlagState::Archived) => "No flag is archived".to_owned(),
        ("", _) => "No flag is active".to_owned(),
        (search, _) => format!("No flag matches “{search}”"),
    };
    view! {
        <Empty title>
            <a class="button" href=Room::Flags.href()>
                "Show all active flags"
            </a>
        </Empty>
    }
}

impl FlagState {
    const ALL: [Self; 3] = [Self::Active, Self::Archived, Self::All];

    fn label(self) -> &'static str {
        match self {
            Self::Active => "Active",
            Self::Archived => "Archived",
            Self::All => "All",
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
            Self::All => "all",
        }
    }
}

impl Default for FlagQuery {
    fn default() -> Self {
        Self {
            search: String::new(),
            state: FlagState::default(),
            page: PageRequest {
                page: PageNumber::default(),
                limit: Limit::MAX,
            },
        }
    }
}

/// Reads the address; what it does not say, or says wrongly, is as usual.
impl From<&Form> for FlagQuery {
    fn from(form: &Form) -> Self {
        let usual = Self::default();
        let state = form.text("state");
        let query = Self {
            search: form.text("q"),
            state: FlagState::ALL
                .into_iter()
                .find(|each| each.as_str() == state)
                .unwrap_or_default(),
            ..usual
        };
        query.turned(page_number(form))
    }
}

impl FlagQuery {
    /// The same flags, at another page.
    fn turned(&self, page: i64) -> Self {
        Self {
            page: PageRequest {
                page: page.try_into().unwrap_or_default(),
                ..self.page
            },
            ..self.clone()
        }
    }

    /// The address of what is asked for.
    fn href(&self) -> String {
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        if !self.search.is_empty() {
            pairs.append_pair("q", &self.search);
        }
        if self.state != FlagState::default() {
            pairs.append_pair("state", self.state.as_str());
        }
        if self.page.page > PageNumber::default() {
            pairs.append_pair("page", &self.page.page.get().to_string());
        }
        let pairs = pairs.finish();
        let path = Room::Flags.href();
        if pairs.is_empty() {
            path.to_owned()
        } else {
            format!("{path}?{pairs}")
        }
    }
}

/// The page that the address names.
pub(super) fn page_number(form: &Form) -> i64 {
    form.text("page").parse().unwrap_or(1)
}
