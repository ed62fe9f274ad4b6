//! Code to copy.

use leptos::prelude::*;

use super::copy_button::CopyButton;
use crate::html::html;

/// A piece of code with its title and a button that copies it.
#[component]
pub fn Snippet(
    /// Its title: `Node.js`, `Shell`.
    #[prop(into)]
    title: String,
    /// The code.
    #[prop(into)]
    code: String,
) -> impl IntoView {
    html! {
        <figure class="snippet">
            <figcaption>{title.clone()} <CopyButton text=code.clone() label=format!("Copy: {title}") show_label=false/></figcaption>
            <pre tabindex="0">
                <code>{code}</code>
            </pre>
        </figure>
    }
}
