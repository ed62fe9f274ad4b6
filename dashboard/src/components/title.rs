//! The page's title.

use leptos::prelude::*;

use super::escape::escape;

/// Names the page in the browser's tab: `Flags · Pennon`.
#[component]
pub fn Title(
    /// What the page shows, the particular before the general.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    let text = escape(&format!("{text} · Pennon"));
    view! { <leptos_meta::Title text/> }
}
