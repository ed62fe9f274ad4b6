//! Lists of names and what they stand for.

use leptos::prelude::*;

use crate::html::html;

/// A name and what it stands for, in a description list.
#[component]
pub fn Fact(
    /// The name.
    name: &'static str,
    /// What it stands for.
    children: Children,
) -> impl IntoView {
    html! {
        <div>
            <dt>{name}</dt>
            <dd>{children()}</dd>
        </div>
    }
}
