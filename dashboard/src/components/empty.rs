//! Empty states.

use leptos::prelude::*;

use super::mark::Mark;
use crate::html::html;

/// An empty state that explains the first step: a sentence, a button, perhaps text to copy.
#[component]
pub fn Empty(
    /// The missing object, in a few words.
    #[prop(optional, into)]
    title: String,
    /// Its purpose, and the way to create one.
    children: Children,
) -> impl IntoView {
    html! {
        <section class="panel empty">
            <Mark/>
            {(!title.is_empty()).then(|| view! { <h2>{title}</h2> })}
            {children()}
        </section>
    }
}
