//! Grants in bodies.

use pennon_model::environment::ProductName;
use pennon_model::grant::{Grant, GrantScope, Grants};
use pennon_model::id::EnvironmentId;
use pennon_model::user::Role;

use super::fields::{Fields, FromFields};

impl Fields<'_> {
    /// Reads grants that may be absent. An outer none means a fault.
    #[expect(
        clippy::option_option,
        reason = "the outer none means a recorded fault"
    )]
    pub(crate) fn grants(&mut self, name: &str) -> Option<Option<Grants>> {
        let Some(grants) = self.optional_list(name, 0..=Grants::MAX)? else {
            return Some(None);
        };
        match Grants::try_from(grants) {
            Ok(grants) => Some(Some(grants)),
            Err(invalid) => self.fault(name, invalid.detail()),
        }
    }
}

impl FromFields for Grant {
    const ABOUT: &'static str = "A role in one product or in one environment.";

    fn name() -> &'static str {
        "NewGrant"
    }

    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let product: Option<Option<ProductName>> = fields
            .about("The product. Exactly one of `product` and `environmentId` must be given.")
            .nullable("product");
        let environment: Option<Option<EnvironmentId>> =
            fields.about("The environment.").nullable("environmentId");
        let role: Option<Role> = fields
            .about("The role there: `editor` or `admin`.")
            .required("role");
        let scope = match (product?, environment?) {
            (Some(product), None) => GrantScope::Product(product),
            (None, Some(environment)) => GrantScope::Environment(environment),
            (None, None) => return fields.fault("product", "or `environmentId` is required"),
            (Some(_), Some(_)) => {
                return fields.fault("environmentId", "must not be given with `product`");
            }
        };
        match Self::new(scope, role?) {
            Ok(grant) => Some(grant),
            Err(invalid) => fields.fault("role", invalid.detail()),
        }
    }
}
