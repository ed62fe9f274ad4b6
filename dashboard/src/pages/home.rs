//! The start page.

use leptos::prelude::*;

use crate::{
    form::with_query,
    port::visit,
    routes,
    scope::{product, remembered_product},
};

/// Redirects to the flags: of the product to which the user has limited the dashboard last, or else of all products.
#[component]
pub fn Home() -> impl IntoView {
    let redirect = Suspend::new(async move {
        let product = match product() {
            Some(product) => Some(product),
            None => remembered_product().await,
        };
        if let Ok(visit) = visit() {
            visit.redirect(&with_query(routes::FLAGS, [("product", product)]));
        }
    });
    view! { <Suspense>{redirect}</Suspense> }
}
