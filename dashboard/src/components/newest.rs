//! The share of clients that are up to date.

use leptos::prelude::*;
use pennon_model::usage::Polls;

use crate::html::html;

/// The percentage of returning clients that had the newest revision.
#[component]
pub fn Newest(
    /// The polls.
    polls: Polls,
) -> impl IntoView {
    let Some(percent) = polls.percent_current() else {
        return html! { <span class="quiet">"No polls in 24h"</span> };
    };
    let title = format!(
        "Polls in the last 24 hours: {} with the newest revision, {} with an older one, and {} with none yet.",
        polls.current, polls.outdated, polls.first
    );
    let class = if percent == 100 {
        "share whole"
    } else {
        "share"
    };
    html! {
        <span class=class title=title>
            <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                <rect class="share-all" width="100" height="4"></rect>
                <rect class="share-part" width=percent height="4"></rect>
            </svg>
            <span>{percent} "%"</span>
        </span>
    }
}
