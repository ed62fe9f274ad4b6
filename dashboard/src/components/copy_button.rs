//! A button that copies.

use leptos::prelude::*;

use super::icon::{Drawing, Icon};
use crate::html::html;

/// A button that copies a text. It requires scripts, and is hidden without them.
#[component]
pub fn CopyButton(
    /// The text.
    text: String,
    /// The label.
    label: String,
    /// True to show the label; otherwise only screen readers announce it.
    worded: bool,
) -> impl IntoView {
    let class = if worded {
        "button primary copy"
    } else {
        "icon-button copy"
    };
    let words = worded.then(|| view! { <span class="copy-word">{label.clone()}</span> });
    html! {
        <button class=class type="button" title=label.clone() aria-label=label data-copy=text>
            <Drawing icon=Icon::COPY/>
            <Drawing icon=Icon::CHECK/>
            {words}
        </button>
    }
}
