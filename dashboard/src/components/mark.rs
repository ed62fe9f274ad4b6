//! The product's mark: a pennon on its pole, one path.

use leptos::prelude::*;

/// The path on a 20 × 20 grid.
const PATH: &str = "M3 1.5h2v1.2l13 4.6L5 12v6.5H3z";

/// Draws the mark in the accent color.
#[component]
pub fn Mark() -> impl IntoView {
    view! {
        <svg class="mark" viewBox="0 0 20 20" aria-hidden="true">
            <path d=PATH></path>
        </svg>
    }
}

/// Returns the mark as the address of an icon, in a color that stands out from light and dark tabs.
pub fn icon_url() -> String {
    format!(
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'%3E%3Cpath fill='%235b6ee8' d='{PATH}'/%3E%3C/svg%3E"
    )
}
