//! Rules and rollouts as records of a flag in an environment.

use serde::Serialize;

use crate::id::{EnvironmentId, FlagId, RuleId};
use crate::time::Timestamp;
use pennon_core::rollout::Rollout;
use pennon_core::rule::Rule;

/// A targeting rule of a flag in an environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TargetingRule {
    /// Assigned by the service.
    pub id: RuleId,
    /// The flag that it belongs to.
    pub flag_id: FlagId,
    /// The environment that it belongs to.
    pub environment_id: EnvironmentId,
    /// What it says.
    #[serde(flatten)]
    pub rule: Rule,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last replaced.
    pub updated_at: Timestamp,
    /// Raised by every change.
    #[serde(skip)]
    pub revision: i64,
}

/// The rollout of a flag in an environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FlagRollout {
    /// The flag that it belongs to.
    pub flag_id: FlagId,
    /// The environment that it belongs to.
    pub environment_id: EnvironmentId,
    /// What it says.
    #[serde(flatten)]
    pub rollout: Rollout,
    /// When it was first configured.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Raised by every change.
    #[serde(skip)]
    pub revision: i64,
}
