//! Something to copy.

use leptos::prelude::*;

use super::icon::{Drawing, Icon};
use crate::html::html;

/// A button that copies a text. Without scripts there is nothing that it could do, and it stays out of sight.
#[component]
pub fn CopyButton(
    /// The text.
    text: String,
    /// The button's name.
    label: String,
    /// True if the name is shown, and not only read aloud.
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
