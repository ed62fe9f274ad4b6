//! The page's title.

use leptos::prelude::*;

/// Names the page in the browser's tab: `Flags · Pennon`.
///
/// `leptos_meta` writes a title as it is given, markup included, so what could be markup is escaped here.
#[component]
pub fn Title(
    /// What the page shows, the particular before the general.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    let text = format!("{text} · Pennon")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    view! { <leptos_meta::Title text/> }
}
