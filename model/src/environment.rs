//! Environments, in which flags take effect.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::EnvironmentId;
use crate::previous_key::PreviousKey;
use crate::secret::Secret;
use crate::text::name;
use crate::time::Timestamp;
use pennon_core::string_enum;

/// The product and the name of an environment. Its text is `product/name`, which is not unique: both can contain `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EnvironmentPath {
    /// The product.
    pub product: String,
    /// The name.
    pub name: String,
}

/// An environment of a product, with one SDK key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Environment {
    /// Its id, which the server assigns.
    pub id: EnvironmentId,
    /// Its product.
    pub product: ProductName,
    /// Its name, unique with the product among active environments.
    pub name: EnvironmentName,
    /// The first characters of the SDK key, to tell keys apart.
    #[cfg_attr(feature = "schema", schema(example = "pnk_KcuZYI13"))]
    pub sdk_key_prefix: String,
    /// The people who can read its SDK key. It never changes.
    pub visibility: Visibility,
    /// The extent to which its SDK key reveals rules and rollouts; `full` unless it is public.
    pub client_rules: ClientRules,
    /// True if the dashboard asks for confirmation before each change in it.
    #[serde(rename = "protected")]
    pub is_protected: bool,
    /// True if a change in it must come with a reason.
    #[serde(rename = "reasonRequired")]
    pub is_reason_required: bool,
    /// Its status.
    pub status: EnvironmentStatus,
    /// The time at which it was created.
    pub created_at: Timestamp,
    /// Its position among the environments of its product, 1 for the first; none is after all others.
    #[serde(skip)]
    pub position: Option<i64>,
    /// The previous SDK key, while it still works after a rotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub previous_key: Option<PreviousKey>,
    /// The revision, which every change of the environment itself increments. Changes of its flags do not.
    #[serde(skip)]
    pub revision: i64,
}

impl fmt::Display for EnvironmentPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.product, self.name)
    }
}

impl Environment {
    /// Returns the product and the name.
    pub fn path(&self) -> EnvironmentPath {
        EnvironmentPath {
            product: self.product.to_string(),
            name: self.name.to_string(),
        }
    }

    /// Returns true if the dashboard asks before it makes changes in the environment.
    pub fn has_safeguards(&self) -> bool {
        self.is_protected || self.is_reason_required
    }

    /// Returns the environment as it is at this time: without a previous key that has ended.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        self.previous_key = self.previous_key.filter(|key| now < key.ends_at);
        self
    }
}

/// An environment that was just created, or whose key was just rotated.
#[derive(Clone, Debug)]
pub struct CreatedEnvironment {
    /// The environment.
    pub environment: Environment,
    /// Its key, which is shown once and cannot be read again.
    pub sdk_key: Secret,
}

string_enum! {
    /// The people who can read the SDK key of an environment.
    #[derive(Default)]
    pub enum Visibility {
        /// Servers, which keep it secret. The key begins with `pnk_`.
        #[default]
        Server = "server",
        /// Everyone, because it is in web pages or apps. Only public flags exist in the environment. The key begins
        /// with `pnp_`.
        Public = "public",
    }
    else "must be `server` or `public`"
}

string_enum! {
    /// The extent to which the SDK key of an environment reveals rules.
    #[derive(Default)]
    pub enum ClientRules {
        /// Rules and rollouts, so that clients can evaluate locally.
        #[default]
        Full = "full",
        /// Only results for a context, which clients request from the server.
        Answers = "answers",
    }
    else "must be `full` or `answers`"
}

name! {
    /// A product's name: one line of 1 to 64 characters.
    pub struct ProductName = 64, "Web shop"
}

name! {
    /// An environment's name: one line of 1 to 64 characters.
    pub struct EnvironmentName = 64, "production"
}

string_enum! {
    /// The status of an environment.
    pub enum EnvironmentStatus {
        /// Its key works.
        Active = "active",
        /// Its key is permanently refused.
        Revoked = "revoked",
    }
    else "must be `active` or `revoked`"
}

/// The environments to list. Filters match exactly.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentFilter {
    /// The product.
    pub product: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The status.
    pub status: Option<EnvironmentStatus>,
    /// The people who can read the SDK key.
    pub visibility: Option<Visibility>,
    /// The order of the list.
    pub order: EnvironmentSort,
}

string_enum! {
    /// The order of a list of environments.
    #[derive(Default)]
    pub enum EnvironmentSort {
        /// Newest first.
        #[default]
        Newest = "-createdAt",
        /// By product, and in the order of each product.
        Order = "order",
    }
    else "must be `-createdAt` or `order`"
}

/// Returns true if an environment's name suggests that real users depend on it: `production`, `prod-eu`, `live2`. Forms
/// then suggest to protect it.
pub fn looks_like_production(name: &str) -> bool {
    let name = name.to_lowercase();
    let words = name.split(|character: char| !character.is_alphabetic());
    ["production", "prod", "prd", "live"]
        .iter()
        .any(|word| words.clone().any(|each| each == *word))
}

/// Returns the rank of an environment without a position, derived from its name: 0 for development to 4 for production.
fn rank(name: &str) -> u8 {
    if looks_like_production(name) {
        return 4;
    }
    let name = name.to_lowercase();
    let mut words = name.split(|character: char| !character.is_alphabetic());
    let rank = |word: &str| match word {
        "dev" | "develop" | "development" | "local" => Some(0),
        "test" | "testing" | "ci" | "qa" | "integration" => Some(1),
        "staging" | "stage" | "preview" | "preprod" | "uat" | "acceptance" => Some(3),
        _ => None,
    };
    words.find_map(rank).unwrap_or(2)
}

/// Sorts environments for lists: by product, and in the order of each product.
pub fn sort(environments: &mut [Environment]) {
    environments.sort_by_cached_key(|environment| {
        let name = environment.name.to_string();
        let position = environment.position.unwrap_or(i64::MAX);
        (environment.product.to_string(), position, rank(&name), name)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn production_is_recognized_by_its_usual_names() {
        for name in [
            "production",
            "Production",
            "prod",
            "eu-prod-1",
            "prod2",
            "LIVE",
        ] {
            assert!(looks_like_production(name), "{name}");
        }
        for name in [
            "staging",
            "product-demo",
            "preprod",
            "reproduction",
            "delivery",
            "",
        ] {
            assert!(!looks_like_production(name), "{name}");
        }
    }

    #[test]
    fn environments_are_ordered_from_development_to_production() {
        let mut names = ["eu-prod", "Staging", "demo", "development", "QA 2"];
        names.sort_by_key(|name| rank(name));
        assert_eq!(names, ["development", "QA 2", "demo", "Staging", "eu-prod"]);
    }

    #[test]
    fn environments_are_ordered_by_product_then_by_position_then_by_stage_then_by_name() {
        let environment = |(product, position, name): (&str, Option<i64>, &str)| Environment {
            id: EnvironmentId::new(uuid::Uuid::nil()),
            product: product.to_owned().try_into().expect("a name"),
            name: name.to_owned().try_into().expect("a name"),
            sdk_key_prefix: "pnk_".to_owned(),
            visibility: Visibility::Server,
            client_rules: ClientRules::Full,
            is_protected: false,
            is_reason_required: false,
            status: EnvironmentStatus::Active,
            created_at: Timestamp::from_millis(0),
            position,
            previous_key: None,
            revision: 0,
        };
        let ordered = [
            ("Blog", None, "production"),
            ("Shop", Some(0), "production"),
            ("Shop", Some(1), "test"),
            ("Shop", None, "dev"),
            ("Shop", None, "demo-1"),
            ("Shop", None, "demo-2"),
            ("Shop", None, "a-prod"),
        ];
        let mut environments: Vec<_> = ordered.into_iter().rev().map(environment).collect();
        sort(&mut environments);
        let sorted = environments.iter().map(Environment::path);
        let expected = ordered.map(|(product, _, name)| EnvironmentPath {
            product: product.to_owned(),
            name: name.to_owned(),
        });
        assert!(sorted.eq(expected), "{environments:?}");
    }
}
