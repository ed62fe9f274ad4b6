//! Lists of names and values.

use leptos::prelude::*;

use crate::html::html;

/// A name and its value, in a description list.
#[component]
pub fn Fact(
    /// The name.
    name: &'static str,
    /// The value.
    children: Children,
) -> impl IntoView {
    html! {
        <div>
            <dt>{name}</dt>
            <dd>{children()}</dd>
        </div>
    }
}
