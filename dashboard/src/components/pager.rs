//! Pagination by plain links.

use leptos::prelude::*;
use pennon_model::page::Pagination;

use super::icon::{Drawing, Icon};
use crate::scope::scoped;

/// The position in a list, with links to the previous and the next page; nothing if the list fits on one page.
#[component]
pub fn Pager(
    /// The position in the list.
    pagination: Pagination,
    /// Returns the address of a page.
    href: impl Fn(i64) -> String + Send + 'static,
) -> impl IntoView {
    let (page, limit, total) = (
        pagination.page.get(),
        pagination.limit.get(),
        pagination.total,
    );
    let before = page.saturating_sub(1).saturating_mul(limit);
    let last = before.saturating_add(limit).min(total);
    (total > limit || page > 1).then(|| {
        view! {
            <nav class="pager" aria-label="Pages">
                <span>
                    {if before < total {
                        format!("{} to {last} of {total}", before.saturating_add(1))
                    } else {
                        format!("Page {page} is past the end of {total}")
                    }}
                </span>
                <span class="pager-links">
                    {page_link("Previous", (page > 1).then(|| href(page.saturating_sub(1))))}
                    {page_link("Next", (last < total).then(|| href(page.saturating_add(1))))}
                </span>
            </nav>
        }
    })
}

fn page_link(label: &'static str, href: Option<String>) -> impl IntoView {
    let class = if label == "Next" {
        "button next"
    } else {
        "button"
    };
    let disabled = href.is_none().then_some("true");
    view! {
        <a class=class href=href.map(scoped) aria-disabled=disabled>
            <Drawing icon=Icon::LEFT/>
            {label}
        </a>
    }
}
