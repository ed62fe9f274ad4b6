//! The page of one flag.

use async_trait::async_trait;
use pennon_core::ttl::Ttl;
use pennon_model::{
    configuration::{
        ConfigurationDiff, ConfigurationPart, FlagComparison, FlagEnvironmentId, FlagOverview,
    },
    id::{EnvironmentId, FlagId, RuleId},
};

use super::{Expected, flags::MetadataForm};
use crate::{
    error::AdminError,
    recipe_form::RecipeForm,
    targeting_form::{RolloutForm, RuleForm},
};

/// The use cases for one flag, most of them in one environment. After a key rotation, the ID of the old environment
/// means the one that replaced it.
///
/// A change includes the state that the page showed, mostly as a revision. If the state has changed since, the change
/// fails with [`AdminError::Stale`] and has no effect.
#[async_trait]
pub trait FlagPageAdmin: Send + Sync {
    /// Returns a flag, its state in all environments, and its whole configuration in one: the requested environment or
    /// the one that replaced it, otherwise a protected one, otherwise one that looks like production, otherwise the
    /// first. With a product, only its environments are listed.
    async fn flag(
        &self,
        key: &str,
        environment: Option<EnvironmentId>,
        product: Option<&str>,
    ) -> Result<FlagOverview, AdminError>;

    /// Returns a flag and its configurations in all environments. With a product, only its environments are listed.
    async fn comparison(
        &self,
        key: &str,
        product: Option<&str>,
    ) -> Result<FlagComparison, AdminError>;

    /// Returns the custom attributes that rules of the environment use, most recently used first.
    async fn attributes(&self, environment: EnvironmentId) -> Result<Vec<String>, AdminError>;

    /// Changes the name, the description, the scope and the metadata of a flag.
    ///
    /// If the flag is enabled in an environment that it would leave, the result is [`AdminError::Conflict`], unless the
    /// details say that it is disabled there.
    async fn describe(
        &self,
        flag: Expected<FlagId>,
        details: FlagDetails,
    ) -> Result<(), AdminError>;

    /// Archives a flag that is off everywhere.
    async fn archive(&self, flag: FlagId, revision: i64) -> Result<(), AdminError>;

    /// Restores an archived flag, which is off everywhere.
    async fn restore(&self, flag: FlagId, revision: i64) -> Result<(), AdminError>;

    /// Changes the TTL of a flag from the expected one; none for the default.
    async fn set_ttl(
        &self,
        id: FlagEnvironmentId,
        expected: Option<Ttl>,
        ttl: Option<Ttl>,
    ) -> Result<(), AdminError>;

    /// Adds a rule after the expected ones.
    async fn add_rule(
        &self,
        id: FlagEnvironmentId,
        expected: &[Expected<RuleId>],
        input: &RuleForm,
    ) -> Result<RuleId, AdminError>;

    /// Replaces the contents of a rule, which keeps its position.
    async fn replace_rule(
        &self,
        id: FlagEnvironmentId,
        rule: RuleId,
        revision: i64,
        input: &RuleForm,
    ) -> Result<(), AdminError>;

    /// Deletes a rule.
    async fn delete_rule(&self, rule: RuleId, revision: i64) -> Result<(), AdminError>;

    /// Reorders the expected rules.
    async fn reorder_rules(
        &self,
        id: FlagEnvironmentId,
        expected: &[Expected<RuleId>],
        order: &[RuleId],
    ) -> Result<(), AdminError>;

    /// Adds the rule of a recipe after the expected ones, and sets its rollout, as one action.
    async fn apply_recipe(
        &self,
        id: FlagEnvironmentId,
        expected: &ExpectedTargeting,
        input: &RecipeForm,
    ) -> Result<(), AdminError>;

    /// Sets the rollout; the revision is none if no rollout exists yet.
    async fn set_rollout(
        &self,
        id: FlagEnvironmentId,
        revision: Option<i64>,
        input: &RolloutForm,
    ) -> Result<(), AdminError>;

    /// Removes the rollout.
    async fn remove_rollout(&self, id: FlagEnvironmentId, revision: i64) -> Result<(), AdminError>;

    /// Returns the effect of copying a whole configuration from one environment to another.
    async fn preview_copy(&self, copy: ConfigurationCopy) -> Result<CopyPreview, AdminError>;

    /// Copies a whole configuration, if both environments are still at the revisions of the preview.
    async fn copy(
        &self,
        copy: ConfigurationCopy,
        expected: CopyRevisions,
    ) -> Result<(), AdminError>;
}

/// The rules and the rollout that a page showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedTargeting {
    /// The rules, in their order.
    pub rules: Vec<Expected<RuleId>>,
    /// The revision of the rollout; none if no rollout existed.
    pub rollout: Option<i64>,
}

/// A copy of a flag's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigurationCopy {
    /// The flag.
    pub flag: FlagId,
    /// The environment to copy from.
    pub from: EnvironmentId,
    /// The environment to change.
    pub to: EnvironmentId,
    /// The only part to copy; none for the whole configuration.
    pub part: Option<ConfigurationPart>,
}

/// The revisions of the flag's configuration in the two environments of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyRevisions {
    /// The revision in the environment to copy from.
    pub from: i64,
    /// The revision in the environment to change.
    pub to: i64,
}

/// The effect of a copy.
#[derive(Clone, Debug)]
pub struct CopyPreview {
    /// The differences; empty if the configurations are equal.
    pub diff: ConfigurationDiff,
    /// Warnings, as sentences, about clients of the environment to change that cannot read the flag.
    pub warnings: Vec<String>,
}

/// The details of a flag, as typed.
#[derive(Clone, Debug, Default)]
pub struct FlagDetails {
    /// Its name.
    pub name: String,
    /// Its description; may be empty.
    pub description: String,
    /// The products in whose environments it is configured; none for every product.
    pub products: Option<Vec<String>>,
    /// True if it exists in public environments.
    pub is_public: bool,
    /// Its tags, owner, kind and expiry.
    pub metadata: MetadataForm,
    /// True to disable the flag in environments that it leaves.
    pub disable: bool,
}
