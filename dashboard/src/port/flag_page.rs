//! What the page of one flag asks.

use async_trait::async_trait;
use pennon_core::ttl::Ttl;
use pennon_model::{
    configuration::{ConfigurationDiff, FlagEnvironmentId, FlagOverview},
    id::{EnvironmentId, FlagId, RuleId},
};

use super::Expected;
use crate::{
    error::AdminError,
    rule_form::{RolloutForm, RuleForm},
};

/// The use cases that concern one flag, most of them in one environment.
///
/// A change says what the page has shown of what it changes, mostly by a revision; if that is another by now, it answers
/// [`AdminError::Stale`] and changes nothing.
#[async_trait]
pub trait FlagPageAdmin: Send + Sync {
    /// A flag and how it stands everywhere, and all about it in one environment: the one that is asked for, otherwise the
    /// one that looks like production, otherwise the first.
    async fn flag(
        &self,
        key: &str,
        environment: Option<EnvironmentId>,
    ) -> Result<FlagOverview, AdminError>;

    /// The custom attributes that rules of the environment go by, the most recently used first.
    async fn attributes(&self, environment: EnvironmentId) -> Result<Vec<String>, AdminError>;

    /// Changes what people call a flag and how they describe it.
    async fn describe(
        &self,
        flag: FlagId,
        revision: i64,
        name: String,
        description: String,
    ) -> Result<(), AdminError>;

    /// Archives a flag that is off everywhere.
    async fn archive(&self, flag: FlagId, revision: i64) -> Result<(), AdminError>;

    /// Brings an archived flag back, off everywhere.
    async fn restore(&self, flag: FlagId, revision: i64) -> Result<(), AdminError>;

    /// Changes how long clients may keep a flag, from what it was seen to be; none for the default.
    async fn set_ttl(
        &self,
        id: FlagEnvironmentId,
        seen: Option<Ttl>,
        ttl: Option<Ttl>,
    ) -> Result<(), AdminError>;

    /// Adds a rule after the others, which are those that were seen.
    async fn add_rule(
        &self,
        id: FlagEnvironmentId,
        expected: &[Expected<RuleId>],
        input: &RuleForm,
    ) -> Result<RuleId, AdminError>;

    /// Replaces what a rule says; its place stays.
    async fn replace_rule(
        &self,
        id: FlagEnvironmentId,
        rule: RuleId,
        revision: i64,
        input: &RuleForm,
    ) -> Result<(), AdminError>;

    /// Deletes a rule.
    async fn delete_rule(&self, rule: RuleId, revision: i64) -> Result<(), AdminError>;

    /// Brings the rules, which are those that were seen, into another order.
    async fn reorder_rules(
        &self,
        id: FlagEnvironmentId,
        expected: &[Expected<RuleId>],
        order: &[RuleId],
    ) -> Result<(), AdminError>;

    /// Sets the rollout; the revision is none where there is none yet.
    async fn set_rollout(
        &self,
        id: FlagEnvironmentId,
        revision: Option<i64>,
        input: &RolloutForm,
    ) -> Result<(), AdminError>;

    /// Removes the rollout.
    async fn remove_rollout(&self, id: FlagEnvironmentId, revision: i64) -> Result<(), AdminError>;

    /// What copying a whole configuration from one environment to another would change.
    async fn preview_copy(&self, copy: Copying) -> Result<CopyPreview, AdminError>;

    /// Copies a whole configuration, if both environments are as they were in the preview.
    async fn copy(&self, copy: Copying, seen: CopyRevisions) -> Result<(), AdminError>;
}

/// A copy of a flag's whole configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copying {
    /// The flag.
    pub flag: FlagId,
    /// The environment that is copied from.
    pub from: EnvironmentId,
    /// The environment that becomes as the other is.
    pub to: EnvironmentId,
}

/// The revisions of all that the flag serves in the two environments of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyRevisions {
    /// In the one that is copied from.
    pub from: i64,
    /// In the one that is changed.
    pub to: i64,
}

/// What a copy would change.
#[derive(Clone, Debug)]
pub struct CopyPreview {
    /// What differs; no differences if nothing does.
    pub diff: ConfigurationDiff,
    /// Warnings about clients in use in the changed environment that cannot read the flag, as sentences.
    pub warnings: Vec<String>,
}
