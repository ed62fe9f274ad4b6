//! The product to which the dashboard is limited.
//!
//! The parameter `product` of the address names it, so that two tabs can show two products, and an address can be
//! shared. Every link, redirect and form keeps the parameter: links and redirects through [`scoped`], which
//! [`with_query`](crate::form::with_query) and the shared components call, and forms that are sent as an address
//! through [`scope_field`]. Forms that are posted keep it if they have no `action`.

use pennon_model::environment::Environment;

use crate::{
    error::AdminError,
    html::{Html, hidden},
    port::{account::OwnAccount, environments::EnvironmentAdmin, query, signed_in},
};

/// The parameter of the address.
const PARAMETER: &str = "product";

/// Returns the product that the current request names; none for all products.
pub(crate) fn product() -> Option<String> {
    Some(query().text(PARAMETER)).filter(|product| !product.trim().is_empty())
}

/// Returns the address of a page with the product of the current request, unless the address has the parameter already.
/// Other addresses stay as they are.
pub(crate) fn scoped(href: impl Into<String>) -> String {
    let href = href.into();
    match product() {
        Some(product) => with_product(href, &product),
        None => href,
    }
}

/// Returns true if an environment belongs to the product of the current request.
pub(crate) fn contains(environment: &Environment) -> bool {
    product().is_none_or(|product| environment.product.as_str() == product)
}

/// Returns the active environments of the product of the current request, as
/// [`EnvironmentAdmin::active_environments`] sorts them.
pub(crate) async fn active_environments() -> Result<Vec<Environment>, AdminError> {
    let mut active = signed_in::<dyn EnvironmentAdmin>()?
        .active_environments()
        .await?;
    active.retain(contains);
    Ok(active)
}

/// Renders the hidden field that keeps the product in a form that is sent as an address.
pub(crate) fn scope_field() -> Option<Html> {
    product().map(|product| hidden(PARAMETER, product))
}

/// Returns the products of the active environments, by name; none if they cannot be read, because pages work without
/// them.
pub(crate) async fn known_products() -> Vec<String> {
    match signed_in::<dyn EnvironmentAdmin>() {
        Ok(environments) => environments.products().await.unwrap_or_default(),
        Err(_) => Vec::new(),
    }
}

/// Returns the product to which the user has limited the dashboard last, if it still exists. Pages work without it.
pub(crate) async fn remembered_product() -> Option<String> {
    let remembered = signed_in::<dyn OwnAccount>()
        .ok()?
        .remembered_product()
        .await;
    let remembered = remembered.ok().flatten()?;
    known_products()
        .await
        .contains(&remembered)
        .then_some(remembered)
}

fn with_product(href: String, product: &str) -> String {
    let (address, fragment) = href.split_at(href.find('#').unwrap_or(href.len()));
    let query = address.split_once('?').map(|(_, query)| query);
    let mut names = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    if !address.starts_with("/dashboard") || names.any(|(name, _)| name == PARAMETER) {
        return href;
    }
    let separator = if query.is_some() { '&' } else { '?' };
    let mut parameter = form_urlencoded::Serializer::new(String::new());
    let parameter = parameter.append_pair(PARAMETER, product).finish();
    format!("{address}{separator}{parameter}{fragment}")
}

#[cfg(test)]
mod tests {
    use super::with_product;

    #[test]
    fn an_address_gets_the_product_before_its_fragment() {
        let scoped = |href: &str| with_product(href.to_owned(), "Web shop & more");
        let product = "product=Web+shop+%26+more";
        for (href, expected) in [
            ("/dashboard/flags", format!("/dashboard/flags?{product}")),
            (
                "/dashboard/flags?page=2",
                format!("/dashboard/flags?page=2&{product}"),
            ),
            (
                "/dashboard/people#person-1",
                format!("/dashboard/people?{product}#person-1"),
            ),
            (
                "/dashboard/flags/a?edit=rule#rules",
                format!("/dashboard/flags/a?edit=rule&{product}#rules"),
            ),
        ] {
            assert_eq!(scoped(href), expected);
        }
    }

    #[test]
    fn an_address_with_a_product_or_outside_of_the_dashboard_stays_as_it_is() {
        for href in [
            "/dashboard/flags?product=Blog",
            "/dashboard/flags?page=2&product=#top",
            "/docs",
            "https://example.com/dashboard",
            "#content",
            "",
        ] {
            assert_eq!(with_product(href.to_owned(), "Web shop"), href);
        }
    }
}
