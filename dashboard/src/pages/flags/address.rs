//! The query of the flag list, as an address that can be shared.

use pennon_model::{
    flag_table::{FlagState, FlagTableOrder, FlagTableQuery, Lifecycle},
    metadata::{FlagKind, FlagTags, MetadataFilter},
    page::{Limit, PageRequest},
};

use crate::{
    form::{Form, with_query},
    pages::paging::page_request,
    routes,
    scope::product,
};

/// Returns the number of flags on a page: with many environments, each has a dozen elements per environment.
fn flags_on_page() -> Limit {
    30.try_into().unwrap_or_default()
}

/// Returns the label of a lifecycle.
pub(super) fn lifecycle_label(lifecycle: Lifecycle) -> &'static str {
    match lifecycle {
        Lifecycle::Active => "Active",
        Lifecycle::Archived => "Archived",
        Lifecycle::All => "All",
    }
}

/// Returns the label of an order.
pub(super) fn order_label(order: FlagTableOrder) -> &'static str {
    match order {
        FlagTableOrder::Newest => "Newest",
        FlagTableOrder::Name => "Name",
        FlagTableOrder::LastEvaluated => "Last evaluated",
    }
}

/// Reads the query from the address. A missing or invalid parameter has its default.
pub(super) fn from_address(form: &Form) -> FlagTableQuery {
    FlagTableQuery {
        search: form.text("q"),
        product: product(),
        lifecycle: Lifecycle::parse(&form.text("state")).unwrap_or_default(),
        environment: form.text("environment").parse().ok(),
        state: FlagState::parse(&form.text("is")).ok(),
        stale: !form.text("stale").is_empty(),
        metadata: MetadataFilter {
            tags: FlagTags::parse_list(&form.text("tag")).unwrap_or_default(),
            owner: Some(form.text("owner").trim().to_owned()).filter(|owner| !owner.is_empty()),
            kind: FlagKind::parse(&form.text("kind")).ok(),
        },
        order: FlagTableOrder::parse(&form.text("sort")).unwrap_or_default(),
        page: page_request(form, flags_on_page()),
    }
}

/// Returns the query for another page of the same flags.
pub(super) fn at_page(query: &FlagTableQuery, page: i64) -> FlagTableQuery {
    FlagTableQuery {
        page: PageRequest {
            page: page.try_into().unwrap_or_default(),
            ..query.page
        },
        ..query.clone()
    }
}

/// Returns true if the query is about all active flags.
pub(super) fn is_default(query: &FlagTableQuery) -> bool {
    let default = FlagTableQuery {
        order: query.order,
        page: PageRequest {
            limit: query.page.limit,
            ..PageRequest::default()
        },
        ..FlagTableQuery::default()
    };
    *query == default
}

/// Returns the address of a query.
pub(super) fn address(query: &FlagTableQuery) -> String {
    let default = FlagTableQuery::default();
    let FlagTableQuery {
        search,
        lifecycle,
        environment,
        state,
        stale,
        metadata,
        order,
        page: PageRequest { page, .. },
        // The address keeps it without a parameter.
        product: _,
    } = query;
    with_query(
        routes::FLAGS,
        [
            ("q", Some(search.clone()).filter(|text| !text.is_empty())),
            ("environment", environment.map(|id| id.to_string())),
            ("is", state.map(|state| state.to_string())),
            ("stale", stale.then(|| "yes".to_owned())),
            (
                "tag",
                (!metadata.tags.is_empty()).then(|| metadata.tags.to_string()),
            ),
            ("owner", metadata.owner.clone()),
            ("kind", metadata.kind.map(|kind| kind.to_string())),
            ("sort", (*order != default.order).then(|| order.to_string())),
            (
                "state",
                (*lifecycle != default.lifecycle).then(|| lifecycle.to_string()),
            ),
            ("page", (page.get() > 1).then(|| page.get().to_string())),
        ],
    )
}
