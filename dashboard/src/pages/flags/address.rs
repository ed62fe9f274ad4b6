//! What is asked for, as an address that can be shared.

use pennon_model::{
    flag_table::{FlagState, FlagTableOrder, FlagTableQuery, Lifecycle},
    page::{PageNumber, PageRequest},
};

use crate::{components::frame::Section, form::Form};

/// How many flags a page has.
const FLAGS_A_PAGE: i64 = 50;

/// The name of a choice of flags.
pub(super) fn lifecycle_label(lifecycle: Lifecycle) -> &'static str {
    match lifecycle {
        Lifecycle::Active => "Active",
        Lifecycle::Archived => "Archived",
        Lifecycle::All => "All",
    }
}

/// The name of a state.
pub(super) fn state_label(state: FlagState) -> &'static str {
    match state {
        FlagState::On => "On",
        FlagState::Partly => "On for some",
        FlagState::Off => "Off",
    }
}

/// The name of an order.
pub(super) fn order_label(order: FlagTableOrder) -> &'static str {
    match order {
        FlagTableOrder::Newest => "Newest",
        FlagTableOrder::Name => "Name",
        FlagTableOrder::LastEvaluated => "Last evaluated",
    }
}

/// Reads the address. Members that it lacks or gets wrong have their default.
pub(super) fn from_address(form: &Form) -> FlagTableQuery {
    let query = FlagTableQuery {
        search: form.text("q"),
        lifecycle: Lifecycle::parse(&form.text("state")).unwrap_or_default(),
        environment: form.text("environment").parse().ok(),
        state: FlagState::parse(&form.text("is")).ok(),
        stale: !form.text("stale").is_empty(),
        order: FlagTableOrder::parse(&form.text("sort")).unwrap_or_default(),
        page: PageRequest::default(),
    };
    at_page(&query, page_number(form))
}

/// Returns the query for another page of the same flags.
pub(super) fn at_page(query: &FlagTableQuery, page: i64) -> FlagTableQuery {
    FlagTableQuery {
        page: PageRequest {
            page: page.try_into().unwrap_or_default(),
            limit: FLAGS_A_PAGE.try_into().unwrap_or_default(),
        },
        ..query.clone()
    }
}

/// Returns true if the query is about all active flags.
pub(super) fn is_default(query: &FlagTableQuery) -> bool {
    let default = FlagTableQuery {
        order: query.order,
        ..FlagTableQuery::default()
    };
    at_page(query, 1) == at_page(&default, 1) && query.page.page == PageNumber::default()
}

/// The address of a query.
pub(super) fn address(query: &FlagTableQuery) -> String {
    let mut pairs = form_urlencoded::Serializer::new(String::new());
    if !query.search.is_empty() {
        pairs.append_pair("q", &query.search);
    }
    if let Some(environment) = query.environment {
        pairs.append_pair("environment", &environment.to_string());
    }
    if let Some(state) = query.state {
        pairs.append_pair("is", state.as_str());
    }
    if query.stale {
        pairs.append_pair("stale", "yes");
    }
    if query.order != FlagTableOrder::default() {
        pairs.append_pair("sort", query.order.as_str());
    }
    if query.lifecycle != Lifecycle::default() {
        pairs.append_pair("state", query.lifecycle.as_str());
    }
    if query.page.page > PageNumber::default() {
        pairs.append_pair("page", &query.page.page.get().to_string());
    }
    let pairs = pairs.finish();
    let path = Section::Flags.href();
    if pairs.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{pairs}")
    }
}

/// The page that the address names.
pub(in crate::pages) fn page_number(form: &Form) -> i64 {
    form.text("page").parse().unwrap_or(1)
}
