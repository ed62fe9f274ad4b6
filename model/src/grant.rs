//! Grants: roles in single products and environments, beside the role of a user or token that applies everywhere.

use std::fmt;

use serde::{Deserialize, Serialize};

use pennon_core::Invalid;

use crate::environment::{Environment, EnvironmentName, ProductName};
use crate::flag::FlagProducts;
use crate::id::EnvironmentId;
use crate::user::Role;

/// A role in one product or in one environment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "GrantRecord", try_from = "GrantRecord")]
pub struct Grant {
    /// The product or the environment.
    pub scope: GrantScope,
    /// The role: `editor` or `admin`, because every account can read everything.
    pub role: Role,
}

/// The product or the environment of a grant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GrantScope {
    /// All environments of a product, and the flags that name it.
    Product(ProductName),
    /// One environment. The grant stays with it when its key is rotated.
    Environment(EnvironmentId),
}

/// A grant, as it is serialized.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = Grant))]
pub(crate) struct GrantRecord {
    /// The product; `null` if the grant is for an environment.
    #[cfg_attr(feature = "schema", schema(required))]
    product: Option<ProductName>,
    /// The environment; `null` if the grant is for a product.
    #[cfg_attr(feature = "schema", schema(required))]
    environment_id: Option<EnvironmentId>,
    /// The role there: `editor` or `admin`.
    #[cfg_attr(feature = "schema", schema(example = "editor"))]
    role: Role,
}

impl From<Grant> for GrantRecord {
    fn from(grant: Grant) -> Self {
        let (product, environment_id) = match grant.scope {
            GrantScope::Product(product) => (Some(product), None),
            GrantScope::Environment(environment) => (None, Some(environment)),
        };
        Self {
            product,
            environment_id,
            role: grant.role,
        }
    }
}

impl TryFrom<GrantRecord> for Grant {
    type Error = Invalid;

    fn try_from(record: GrantRecord) -> Result<Self, Invalid> {
        let scope = match (record.product, record.environment_id) {
            (Some(product), None) => GrantScope::Product(product),
            (None, Some(environment)) => GrantScope::Environment(environment),
            _ => return Err(Invalid::new("must name a product or an environment")),
        };
        Self::new(scope, record.role)
    }
}

impl Grant {
    /// Creates a grant. Fails for the role `viewer`, which would have no effect.
    pub fn new(scope: GrantScope, role: Role) -> Result<Self, Invalid> {
        if role == Role::Viewer {
            return Err(Invalid::new(
                "must be `editor` or `admin`, because every account can read everything",
            ));
        }
        Ok(Self { scope, role })
    }

    fn applies_to(&self, resource: &Resource) -> bool {
        match (&self.scope, resource) {
            (_, Resource::Everything) | (GrantScope::Environment(_), Resource::Product(_)) => false,
            (
                GrantScope::Product(granted),
                Resource::Product(product) | Resource::Environment { product, .. },
            ) => granted == product,
            (GrantScope::Environment(granted), Resource::Environment { id, .. }) => granted == id,
        }
    }
}

/// The grants of a user or token: at most 100, with at most one for each product and environment, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Grant>")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = Vec<GrantRecord>, max_items = 100))]
pub struct Grants(Vec<Grant>);

impl Grants {
    /// The maximum number of grants.
    pub const MAX: usize = 100;

    /// Returns the grants, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.0.iter()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the effective role for a resource of a user or token with this role everywhere: the highest that
    /// applies.
    pub fn role_for(&self, resource: &Resource, everywhere: Role) -> Role {
        let applying = self.0.iter().filter(|grant| grant.applies_to(resource));
        applying.map(|grant| grant.role).fold(everywhere, Role::max)
    }

    /// Returns the highest role anywhere of a user or token with this role everywhere.
    pub fn highest(&self, everywhere: Role) -> Role {
        let granted = self.0.iter().map(|grant| grant.role);
        granted.fold(everywhere, Role::max)
    }

    /// Returns the highest role for whole products of a user or token with this role everywhere.
    pub(crate) fn highest_in_products(&self, everywhere: Role) -> Role {
        let is_for_product = |grant: &&Grant| matches!(grant.scope, GrantScope::Product(_));
        let granted = self.0.iter().filter(is_for_product);
        granted.map(|grant| grant.role).fold(everywhere, Role::max)
    }

    /// Returns the grants with another one, which replaces that of the same product or environment.
    pub fn with(&self, grant: Grant) -> Result<Self, Invalid> {
        let others = self.without(&grant.scope).0.into_iter();
        Self::try_from(others.chain([grant]).collect::<Vec<_>>())
    }

    /// Returns the grants without that of a product or environment.
    #[must_use]
    pub fn without(&self, scope: &GrantScope) -> Self {
        let others = self.0.iter().filter(|grant| grant.scope != *scope);
        Self(others.cloned().collect())
    }
}

impl TryFrom<Vec<Grant>> for Grants {
    type Error = Invalid;

    fn try_from(mut grants: Vec<Grant>) -> Result<Self, Invalid> {
        grants.sort();
        let is_repeated = |pair: &[Grant]| matches!(pair, [one, other] if one.scope == other.scope);
        if grants.windows(2).any(is_repeated) {
            return Err(Invalid::new(
                "must not contain a product or an environment twice",
            ));
        }
        if grants.len() > Self::MAX {
            return Err(Invalid::new("must have at most 100 grants"));
        }
        Ok(Self(grants))
    }
}

/// The subject of a request that requires a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// The whole installation, such as accounts. No grant applies to it.
    Everything,
    /// A product.
    Product(ProductName),
    /// An environment.
    Environment {
        /// Its ID.
        id: EnvironmentId,
        /// Its product.
        product: ProductName,
        /// Its name.
        name: EnvironmentName,
    },
}

impl fmt::Display for Resource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => formatter.write_str("all products"),
            Self::Product(product) => write!(formatter, "the product `{product}`"),
            Self::Environment { product, name, .. } => {
                write!(formatter, "the environment {product}/{name}")
            }
        }
    }
}

impl Resource {
    /// Returns an environment as a resource.
    pub fn of(environment: &Environment) -> Self {
        Self::Environment {
            id: environment.id,
            product: environment.product.clone(),
            name: environment.name.clone(),
        }
    }

    /// Returns the resources of a flag: its products, or everything if it names none.
    pub fn of_flag(products: Option<&FlagProducts>) -> Vec<Self> {
        match products {
            Some(products) => products.iter().cloned().map(Self::Product).collect(),
            None => vec![Self::Everything],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(number: u128) -> EnvironmentId {
        EnvironmentId::new(uuid::Uuid::from_u128(number))
    }

    fn grant(scope: GrantScope, role: Role) -> Grant {
        Grant::new(scope, role).expect("not a viewer")
    }

    #[test]
    fn the_highest_grant_that_applies_decides() {
        let shop: ProductName = "Shop".to_owned().try_into().expect("a name");
        let blog: ProductName = "Blog".to_owned().try_into().expect("a name");
        let in_product = GrantScope::Product(shop.clone());
        let in_staging = GrantScope::Environment(environment(1));
        let grants = vec![
            grant(in_product.clone(), Role::Editor),
            grant(in_staging.clone(), Role::Admin),
        ];
        let grants = Grants::try_from(grants).expect("two scopes");
        let place = |number, product: &ProductName| Resource::Environment {
            id: environment(number),
            product: product.clone(),
            name: "staging".to_owned().try_into().expect("a name"),
        };
        let role_for = |resource: &Resource| grants.role_for(resource, Role::Viewer);
        assert_eq!(role_for(&place(1, &shop)), Role::Admin);
        assert_eq!(role_for(&place(2, &shop)), Role::Editor);
        assert_eq!(role_for(&place(1, &blog)), Role::Admin);
        assert_eq!(role_for(&place(2, &blog)), Role::Viewer);
        let shop = Resource::Product(shop);
        assert_eq!(role_for(&shop), Role::Editor);
        assert_eq!(role_for(&Resource::Everything), Role::Viewer);
        let role = grants.without(&in_product).role_for(&shop, Role::Viewer);
        assert_eq!(role, Role::Viewer);
        assert_eq!(grants.role_for(&shop, Role::Admin), Role::Admin);
        assert_eq!(grants.highest(Role::Viewer), Role::Admin);
        assert_eq!(grants.highest_in_products(Role::Viewer), Role::Editor);
        let raised = grants.with(grant(in_product, Role::Admin)).expect("valid");
        assert_eq!(raised.role_for(&shop, Role::Viewer), Role::Admin);
        let twice = vec![
            grant(in_staging.clone(), Role::Editor),
            grant(in_staging, Role::Admin),
        ];
        assert!(Grants::try_from(twice).is_err());
    }

    #[test]
    fn up_to_100_grants_have_different_scopes() {
        let grants = |numbers: &[u128]| {
            let scopes = numbers
                .iter()
                .map(|number| GrantScope::Environment(environment(*number)));
            let grants = scopes.map(|scope| grant(scope, Role::Editor));
            Grants::try_from(grants.collect::<Vec<_>>())
        };
        assert!(grants(&[1, 2, 3]).is_ok());
        assert!(grants(&[1, 2, 1]).is_err());
        let numbers: Vec<u128> = (0..101).collect();
        assert!(grants(&numbers[1..]).is_ok());
        assert!(grants(&numbers).is_err());
    }
}
