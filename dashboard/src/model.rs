//! The dashboard's own types, which the server and the browser share.

use pennon_model::environment::Environment;
use serde::{Deserialize, Serialize};

use crate::choices::choices;

choices! {
    /// The theme of the dashboard, with its value in the cookie, in forms and in `data-theme`.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Theme {
        /// The theme of the visitor's system.
        #[default]
        System = "system",
        /// Light.
        Light = "light",
        /// Dark.
        Dark = "dark",
    }
}

/// The naming scheme of environments: the name alone, or `product / name` once there are several products.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// Prefixes names with the product.
    pub with_products: bool,
}

impl Naming {
    /// Returns the scheme for environments of these products.
    pub fn of<'p>(mut products: impl Iterator<Item = &'p str>) -> Self {
        let first = products.next();
        Self {
            with_products: products.any(|product| Some(product) != first),
        }
    }

    /// Returns the scheme for these environments.
    pub fn of_environments<'e>(environments: impl IntoIterator<Item = &'e Environment>) -> Self {
        let environments = environments.into_iter();
        Self::of(environments.map(|environment| environment.product.as_str()))
    }

    /// Returns the name of an environment.
    pub fn name_of(self, environment: &Environment) -> String {
        self.name(environment.product.as_str(), environment.name.as_str())
    }

    /// Returns the name of an environment, such as `Payments / production`.
    pub fn name(self, product: &str, name: &str) -> String {
        if self.with_products {
            format!("{product} / {name}")
        } else {
            name.to_owned()
        }
    }
}

/// A page to navigate to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destination {
    /// Its kind, such as `Flag`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The detail that distinguishes it from others with the same name: a flag's key, an environment's product.
    pub detail: String,
    /// Its address.
    pub href: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_include_the_product_once_there_are_two() {
        let one = Naming::of(["Shop", "Shop"].into_iter());
        assert_eq!(one.name("Shop", "production"), "production");
        let two = Naming::of(["Shop", "Shop", "Payments"].into_iter());
        assert_eq!(two.name("Payments", "production"), "Payments / production");
    }
}
