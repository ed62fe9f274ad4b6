//! The heads of pages.

use leptos::prelude::*;

use super::frame::Section;
use crate::{html::html, scope::scoped};

/// The title of a page, the link back, and the page's actions.
#[component]
pub fn PageHead(
    /// The title.
    title: impl IntoView,
    /// The section that the page belongs to, unless it is the section's own page.
    #[prop(optional)]
    above: Option<Section>,
    /// The address and the name of the page between the section and this one.
    #[prop(optional)]
    between: Option<(String, String)>,
    /// The number of listed items.
    #[prop(optional)]
    count: Option<i64>,
    /// The actions.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    html! {
        <header class="page-head">
            {above.map(|section| view! { <Crumbs section between/> })}
            <h1>{title} {count.map(|count| view! { <span class="count">{count}</span> })}</h1>
            {children.map(|children| children())}
        </header>
    }
}

/// The links back to a section, and to a page between it and this one.
#[component]
pub fn Crumbs(
    /// The section.
    section: Section,
    /// The address and the name of the page in between.
    #[prop(optional_no_strip)]
    between: Option<(String, String)>,
) -> impl IntoView {
    html! {
        <nav class="crumbs" aria-label="Breadcrumbs">
            <a href=section.href()>{section.name()}</a>
            {between.map(|(href, name)| view! { <a href=scoped(href)>{name}</a> })}
        </nav>
    }
}
