//! What stands where there is nothing yet.

use leptos::prelude::*;

use super::mark::Mark;
use crate::html::html;

/// An empty place that teaches: a sentence, a button, perhaps something to copy.
#[component]
pub fn Empty(
    /// What is missing, in a few words.
    #[prop(optional, into)]
    title: String,
    /// Why one would want it, and how to get it.
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
