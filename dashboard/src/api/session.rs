//! The visitor's session and theme.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::{
    components::frame::Section,
    form::with_query,
    port::{account::OwnAccount, signed_in, visit},
    routes,
    scope::known_products,
};
use crate::{error::AdminError, model::Theme};
#[cfg(feature = "ssr")]
use pennon_model::environment::ProductName;

/// Ends the session.
#[server(prefix = "/dashboard/api", endpoint = "sign-out")]
pub async fn sign_out() -> Result<(), AdminError> {
    let visit = visit()?;
    visit.sign_out().await?;
    visit.redirect(routes::SIGN_IN);
    Ok(())
}

/// Limits the dashboard to a product, or, without one, shows all; remembers that, and opens the section with this path.
#[server(prefix = "/dashboard/api", endpoint = "choose-product")]
pub async fn choose_product(product: String, section: String) -> Result<(), AdminError> {
    let known = known_products().await;
    let product = known.into_iter().find(|known| *known == product);
    let name = product.clone().map(ProductName::try_from);
    let account = signed_in::<dyn OwnAccount>()?;
    account
        .remember_product(name.and_then(Result::ok).as_ref())
        .await?;
    let section = Section::that_shows_products(Section::at(&section));
    visit()?.redirect(&with_query(section.path(), [("product", product)]));
    Ok(())
}

/// Stores the visitor's theme.
#[server(prefix = "/dashboard/api", endpoint = "set-theme")]
pub async fn set_theme(theme: Theme) -> Result<(), AdminError> {
    visit()?.set_theme(theme);
    Ok(())
}
