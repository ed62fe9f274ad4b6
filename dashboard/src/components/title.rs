//! The page's title.

use leptos::prelude::*;

use super::escape::escape;

/// The title in the browser's tab: `Flags · Pennon`.
#[component]
pub fn Title(
    /// The title, from specific to general.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    let text = escape(&format!("{text} · Pennon"));
    view! { <leptos_meta::Title text/> }
}
