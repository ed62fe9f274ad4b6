//! The heads of pages.

use leptos::prelude::*;

use super::frame::Section;
use crate::html::html;

/// The title of a page, the way back from it, and what can be done on it.
#[component]
pub fn PageHead(
    /// The title.
    #[prop(into)]
    title: String,
    /// The section that the page belongs to, unless it is the section's own page.
    #[prop(optional)]
    above: Option<Section>,
    /// How many things the page lists.
    #[prop(optional)]
    count: Option<i64>,
    /// What can be done.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    html! {
        <header class="page-head">
            {above.map(|section| view! { <Crumbs section/> })}
            <h1>{title} {count.map(|count| view! { <span class="count">{count}</span> })}</h1>
            {children.map(|children| children())}
        </header>
    }
}

/// The way back to a section, and to what is between it and the page.
#[component]
pub fn Crumbs(
    /// The section.
    section: Section,
    /// The address and the name of what is between.
    #[prop(optional)]
    between: Option<(String, String)>,
) -> impl IntoView {
    html! {
        <nav class="crumbs" aria-label="Breadcrumbs">
            <a href=section.href()>{section.name()}</a>
            {between.map(|(href, name)| view! { <a href=href>{name}</a> })}
        </nav>
    }
}
