//! A part of a whole.

use leptos::prelude::*;

/// How many percent something is, as a number beside a thin bar.
#[component]
pub fn Share(
    /// 0 to 100.
    percent: i64,
    /// What of what that is, in words.
    #[prop(into)]
    title: String,
) -> impl IntoView {
    let class = if percent == 100 {
        "share whole"
    } else {
        "share"
    };
    view! {
        <span class=class title=title>
            <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                <rect class="share-all" width="100" height="4"></rect>
                <rect class="share-part" width=percent height="4"></rect>
            </svg>
            <span>{percent} " %"</span>
        </span>
    }
}
