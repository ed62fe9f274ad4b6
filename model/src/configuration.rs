//! The configuration of a flag in an environment.

use pennon_core::FlagConfig;
use pennon_core::rollout::Rollout;
use pennon_core::rule::Rule;
use pennon_core::string_enum;
use pennon_core::ttl::Ttl;
use serde::Serialize;

use crate::audit::AuditAction;
use crate::environment::Environment;
use crate::flag::Flag;
use crate::flag_table::FlagCell;
use crate::id::{EnvironmentId, FlagId, RuleId};
use crate::targeting::{FlagRollout, TargetingRule};

/// The ids of a flag and an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagEnvironmentId {
    /// The flag.
    pub flag: FlagId,
    /// The environment.
    pub environment: EnvironmentId,
}

impl FlagEnvironmentId {
    /// Returns the flag and the environment to which a rule belongs.
    pub fn of(rule: &TargetingRule) -> Self {
        Self {
            flag: rule.flag_id,
            environment: rule.environment_id,
        }
    }
}

/// The configuration of one flag in one environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Configuration {
    /// The flag.
    pub flag_id: FlagId,
    /// The environment.
    pub environment_id: EnvironmentId,
    /// True if the flag is enabled there; initially false.
    pub is_enabled: bool,
    /// The flag's TTL in clients, if it overrides their default of 60 seconds.
    #[serde(rename = "ttlOverrideSeconds")]
    #[cfg_attr(feature = "schema", schema(required))]
    pub ttl: Option<Ttl>,
    /// The revision, which every change increments.
    #[serde(skip)]
    pub revision: i64,
    /// The environment's config revision at the last change of the configuration, the rules or the rollout.
    #[serde(skip)]
    pub config_revision: i64,
}

impl Configuration {
    /// Returns the switch and the TTL.
    pub fn switch(&self) -> Switch {
        Switch {
            is_enabled: self.is_enabled,
            ttl: self.ttl,
        }
    }
}

/// A flag, an environment, and the flag's configuration there.
#[derive(Clone, Debug)]
pub struct FlagEnvironment {
    /// The flag.
    pub flag: Flag,
    /// The environment.
    pub environment: Environment,
    /// The switch and the TTL.
    pub configuration: Configuration,
}

impl FlagEnvironment {
    /// Returns the ids of the flag and the environment.
    pub fn id(&self) -> FlagEnvironmentId {
        FlagEnvironmentId {
            flag: self.flag.id,
            environment: self.environment.id,
        }
    }
}

/// Everything that determines evaluations of a flag in an environment.
#[derive(Clone, Debug)]
pub struct FlagConfiguration {
    /// The flag in the environment.
    pub target: FlagEnvironment,
    /// The rules, by ascending priority.
    pub rules: Vec<TargetingRule>,
    /// The rollout.
    pub rollout: Option<FlagRollout>,
}

impl FlagConfiguration {
    /// Converts it to the engine's form.
    pub fn config(&self) -> FlagConfig {
        let FlagEnvironment {
            flag,
            configuration,
            ..
        } = &self.target;
        FlagConfig {
            key: flag.key.as_str().into(),
            archived: flag.archived_at.is_some(),
            enabled: configuration.is_enabled,
            rules: self.rules.iter().map(|rule| rule.rule.clone()).collect(),
            rollout: self.rollout.as_ref().map(|rollout| rollout.rollout),
            ttl: configuration.ttl,
        }
    }
}

/// A flag, its state in every active environment, and its whole configuration in one environment.
#[derive(Clone, Debug)]
pub struct FlagOverview {
    /// The flag.
    pub flag: Flag,
    /// The active environments by product, in the order of each, each with the flag's state; none where the
    /// flag is not configured.
    pub environments: Vec<(Environment, Option<FlagCell>)>,
    /// The selected environment, which may be a revoked one; none if there is no environment.
    pub environment: Option<Environment>,
    /// The configuration in the selected environment; none if the flag is not configured there.
    pub configuration: Option<FlagConfiguration>,
}

/// The switch and the TTL: a flag's configuration without rules and rollout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Switch {
    /// True if the flag is enabled.
    pub is_enabled: bool,
    /// The TTL, if it overrides the clients' default.
    #[serde(rename = "ttlOverrideSeconds")]
    #[cfg_attr(feature = "schema", schema(required))]
    pub ttl: Option<Ttl>,
}

/// One difference between two configurations of a flag, expressed as the change that would remove it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Difference {
    /// The action of the change, as in the audit log.
    pub action: AuditAction,
    /// The rule, if it already exists.
    #[cfg_attr(feature = "schema", schema(required))]
    pub rule_id: Option<RuleId>,
    /// The part before the change.
    #[cfg_attr(feature = "schema", schema(required))]
    pub old_value: Option<Part>,
    /// The part after the change.
    #[cfg_attr(feature = "schema", schema(required))]
    pub new_value: Option<Part>,
}

/// A part of a flag's configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Part {
    /// The switch and the TTL.
    Switch(Switch),
    /// A rule.
    Rule(Rule),
    /// The rollout.
    Rollout(Rollout),
}

string_enum! {
    /// The part of a flag's configuration that a copy changes.
    pub enum ConfigurationPart {
        /// Enabled or not.
        Switch = "switch",
        /// The targeting rules.
        Rules = "rules",
        /// The rollout.
        Rollout = "rollout",
        /// The TTL.
        Ttl = "ttl",
    }
    else "must be `switch`, `rules`, `rollout` or `ttl`"
}

/// A flag's configurations in all environments.
#[derive(Clone, Debug)]
pub struct FlagComparison {
    /// The flag.
    pub flag: Flag,
    /// The active environments by product, in the order of each, each with the configuration there; none where the flag
    /// is not configured.
    pub environments: Vec<(Environment, Option<FlagConfiguration>)>,
}

/// The differences between two environments, and the revisions of the flag's configuration in both.
#[derive(Clone, Debug)]
pub struct ConfigurationDiff {
    /// The differences, in the order in which a copy applies them.
    pub differences: Vec<Difference>,
    /// The revision in the source environment.
    pub from: i64,
    /// The revision in the target environment, before the copy.
    pub to: i64,
}
