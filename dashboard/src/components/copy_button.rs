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
    show_label: bool,
) -> impl IntoView {
    let class = if show_label {
        "button primary copy"
    } else {
        "icon-button copy"
    };
    let visible_label =
        show_label.then(|| view! { <span class="copy-word">{label.clone()}</span> });
    html! {
        <button class=class type="button" title=label.clone() aria-label=label data-copy=text>
            <Drawing icon=Icon::COPY/>
            <Drawing icon=Icon::CHECK/>
            {visible_label}
        </button>
    }
}
