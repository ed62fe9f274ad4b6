//! The mark of public flags and public environments.

use leptos::prelude::*;

use super::icon::{Drawing, Icon};
use crate::html::html;

/// The word "Public" with a globe.
#[component]
pub fn PublicTag(
    /// The meaning of the mark, on hover.
    title: &'static str,
) -> impl IntoView {
    html! {
        <span class="tag public" title=title>
            <Drawing icon=Icon::GLOBE/>
            "Public"
        </span>
    }
}
