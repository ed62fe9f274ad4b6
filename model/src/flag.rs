//! Feature flags.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::environment::{Environment, ProductName, Visibility};
use crate::id::FlagId;
use crate::metadata::{FlagMetadata, MetadataFilter};
use crate::text::{Description, name, text};
use crate::time::Timestamp;
use pennon_core::Invalid;
use pennon_core::string_enum;

/// A feature flag. It takes effect through its configuration in an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Flag {
    /// Its id, which the server assigns.
    pub id: FlagId,
    /// Its key, which applications use.
    pub key: FlagKey,
    /// Its display name.
    pub name: FlagName,
    /// Its description.
    #[cfg_attr(feature = "schema", schema(required))]
    pub description: Option<Description>,
    /// The type of its values.
    #[serde(rename = "type")]
    pub flag_type: FlagType,
    /// The products in whose environments it is configured; none means every product.
    #[cfg_attr(feature = "schema", schema(required))]
    pub products: Option<FlagProducts>,
    /// True if it exists in public environments, whose SDK keys everyone can read.
    #[serde(rename = "public")]
    pub is_public: bool,
    /// Its tags, owner, kind and expiry.
    #[serde(flatten)]
    pub metadata: FlagMetadata,
    /// The actor who created it.
    #[cfg_attr(feature = "schema", schema(example = "ana@example.com"))]
    pub created_by: String,
    /// The time at which it was created.
    pub created_at: Timestamp,
    /// The time at which it was archived; none while it is active.
    #[cfg_attr(feature = "schema", schema(required))]
    pub archived_at: Option<Timestamp>,
    /// The revision, which every change increments.
    #[serde(skip)]
    pub revision: i64,
}

impl Flag {
    /// Returns true if the flag is configured in this environment while both are active.
    pub fn exists_in(&self, environment: &Environment) -> bool {
        exists_in(self.products.as_ref(), self.is_public, environment)
    }
}

/// The products of a flag: 1 to 100 names, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeSet<ProductName>")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = Vec<ProductName>, min_items = 1, max_items = 100))]
pub struct FlagProducts(BTreeSet<ProductName>);

impl FlagProducts {
    /// The maximum number of products.
    pub const MAX: usize = 100;

    /// Returns the products, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &ProductName> {
        self.0.iter()
    }

    /// Returns true if this product is one of them.
    pub fn contains(&self, product: &ProductName) -> bool {
        self.0.contains(product)
    }
}

impl TryFrom<BTreeSet<ProductName>> for FlagProducts {
    type Error = Invalid;

    fn try_from(products: BTreeSet<ProductName>) -> Result<Self, Invalid> {
        if (1..=Self::MAX).contains(&products.len()) {
            Ok(Self(products))
        } else {
            Err(Invalid::new("must have 1 to 100 items"))
        }
    }
}

/// Returns true if a flag with these products exists in an environment; none means every product. A public environment
/// has only public flags. The SQL view `flag_scope` says the same.
pub fn exists_in(
    products: Option<&FlagProducts>,
    is_public: bool,
    environment: &Environment,
) -> bool {
    let is_visible = is_public || environment.visibility == Visibility::Server;
    is_visible && products.is_none_or(|products| products.contains(&environment.product))
}

text! {
    /// The key of a new flag: 1 to 128 characters `A-Z a-z 0-9 _ - . :`, the first of them `A-Z a-z 0-9 _`. Only
    /// creation checks this; lookups accept any text.
    #[cfg_attr(
        feature = "schema",
        schema(max_length = 128, pattern = r"^[A-Za-z0-9_][A-Za-z0-9_.:-]*$", example = "pay_by_invoice")
    )]
    pub struct FlagKey = |text| {
        let is_word_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let valid = (1..=128).contains(&text.len())
            && text.bytes().all(|byte| is_word_byte(byte) || b"-.:".contains(&byte))
            && text.bytes().next().is_some_and(is_word_byte);
        if valid { Ok(()) } else { Err(Invalid::new(
            "must be 1 to 128 letters, digits, `_`, `-`, `.` or `:`, and start with a letter, a digit or `_`"
        )) }
    }
}

name! {
    /// A flag's display name: one line of 1 to 200 characters.
    pub struct FlagName = 200, "Pay by invoice"
}

string_enum! {
    /// The type of a flag's values. An evaluation returns true or false for every type.
    pub enum FlagType {
        /// On or off.
        Boolean = "boolean",
        /// A text.
        String = "string",
        /// One of several variants.
        Multivariate = "multivariate",
    }
    else "must be `boolean`, `string` or `multivariate`"
}

string_enum! {
    /// The order of a list of flags. It is total: flags with equal names are sorted by age.
    #[derive(Default)]
    pub enum FlagOrder {
        /// Newest first.
        #[default]
        Newest = "-createdAt",
        /// Oldest first.
        Oldest = "createdAt",
        /// By key, byte by byte.
        Key = "key",
        /// By key, descending.
        KeyDescending = "-key",
        /// By name, ignoring case.
        Name = "name",
        /// By name, descending.
        NameDescending = "-name",
        /// Flags without evaluations first, then by their last evaluation, the longest ago first.
        LastEvaluated = "lastEvaluatedAt",
        /// By the last evaluation, the newest first, and flags without evaluations last.
        LastEvaluatedDescending = "-lastEvaluatedAt",
    }
    else "must be `createdAt`, `key`, `name` or `lastEvaluatedAt`, optionally with a leading `-` for descending order"
}

/// The flags to list, and their order.
#[derive(Clone, Debug, Default)]
pub struct FlagFilter {
    /// True for archived flags, false for active flags, none for both.
    pub archived: Option<bool>,
    /// The key, which must match exactly.
    pub key: Option<String>,
    /// Text that the name or the key contains, in any case.
    pub search: Option<String>,
    /// A product in whose environments the flags are configured.
    pub product: Option<String>,
    /// True for the flags that exist in public environments, false for all others.
    pub is_public: Option<bool>,
    /// The tags, owner and kind.
    pub metadata: MetadataFilter,
    /// The order of the list.
    pub order: FlagOrder,
}

#[cfg(test)]
mod tests {
    use super::{BTreeSet, FlagProducts, ProductName};

    #[test]
    fn a_flag_is_for_1_to_100_products() {
        let is_valid = |count: usize| {
            let names = (0..count).map(|number| ProductName::try_from(number.to_string()));
            let names: BTreeSet<_> = names.map(|name| name.expect("a name")).collect();
            FlagProducts::try_from(names).is_ok()
        };
        assert_eq!([0, 1, 100, 101].map(is_valid), [false, true, true, false]);
    }
}
