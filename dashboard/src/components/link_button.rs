//! Links that look like buttons.

use leptos::prelude::*;

use super::icon::{Drawing, Icon};
use crate::{html::html, scope::scoped};

/// A link that looks like a button. It keeps the product of the page.
#[component]
pub fn LinkButton(
    /// The address.
    #[prop(into)]
    href: String,
    /// The label.
    #[prop(into)]
    label: String,
    /// An icon before the label.
    #[prop(optional)]
    icon: Option<Icon>,
    /// True if it is the primary action of its page.
    #[prop(optional)]
    primary: bool,
) -> impl IntoView {
    html! {
        <a class=if primary { "button primary" } else { "button" } href=scoped(href)>
            {icon.map(|icon| view! { <Drawing icon/> })}
            {label}
        </a>
    }
}
