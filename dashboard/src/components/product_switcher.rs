//! The choice of the product to which the dashboard is limited.

use leptos::{prelude::*, server_fn::ServerFn as _};

use super::{frame::Section, select::options};
use crate::{
    api::session::ChooseProduct,
    html::{Html, hidden, html},
    scope::{known_products, product},
};

/// A select with the products, if there are several or the address names one. A choice opens the section for the
/// product, without its other filters, and the account remembers it. Without scripts, a button submits the form.
///
/// The page waits for the products, but does not fail if they cannot be read.
#[component]
pub fn ProductSwitcher(
    /// The section of the page.
    section: Option<Section>,
) -> impl IntoView {
    let form = Suspend::new(async move {
        let products = known_products().await;
        let chosen = product();
        (products.len() > 1 || chosen.is_some()).then(|| form(section, products, chosen))
    });
    view! { <Suspense>{form}</Suspense> }.into_any()
}

fn form(section: Option<Section>, mut products: Vec<String>, chosen: Option<String>) -> Html {
    let chosen = chosen.unwrap_or_default();
    if !chosen.is_empty() && !products.contains(&chosen) {
        products.push(chosen.clone());
    }
    let all = [(String::new(), "All products".to_owned())];
    let products = products.into_iter().map(|name| (name.clone(), name));
    let class = if chosen.is_empty() {
        "input"
    } else {
        "input chosen"
    };
    html! {
        <form
            class="product-switcher"
            method="post"
            action=ChooseProduct::url()
            autocomplete="off"
        >
            {hidden("section", Section::that_shows_products(section).path())}
            <select class=class name="product" aria-label="Product">
                {options(all.into_iter().chain(products), &chosen)}
            </select>
            <noscript>
                <button class="button">"Show"</button>
            </noscript>
        </form>
    }
}
