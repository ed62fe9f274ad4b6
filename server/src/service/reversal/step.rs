//! The changes that take others back.

use pennon_core::model::environment::EnvironmentName;
use pennon_core::model::id::{EnvironmentId, FlagId, RuleId};
use pennon_core::model::rollout::Rollout;
use pennon_core::model::rule::Rule;

use super::super::flags::{self, FlagPatch};
use super::super::precondition::Precondition;
use super::super::targeting::{self, ConfigurationPatch, PairId};
use super::super::{Service, environments};
use crate::auth::actor::Actor;
use crate::error::Error;

/// One ordinary change, with the revision of the object that it changes.
pub(super) enum Step {
    ArchiveFlag(FlagId, i64),
    RestoreFlag(FlagId, i64),
    UpdateFlag(FlagId, i64, FlagPatch),
    RenameEnvironment(EnvironmentId, i64, EnvironmentName),
    Configure(PairId, i64, ConfigurationPatch),
    CreateRule(PairId, Rule),
    ReplaceRule(RuleId, i64, Rule),
    DeleteRule(RuleId, i64),
    SetRollout(PairId, Option<i64>, Rollout),
    DeleteRollout(PairId, i64),
}

impl Step {
    /// Makes the change.
    pub(super) async fn take(self, service: &Service, actor: &Actor) -> Result<(), Error> {
        let still = |revision| Precondition::OneOf(vec![revision]);
        match self {
            Self::ArchiveFlag(id, revision) => {
                flags::archive(service, &actor.editor()?, id, &still(revision)).await
            }
            Self::RestoreFlag(id, revision) => {
                flags::restore(service, &actor.editor()?, id, &still(revision))
                    .await
                    .map(drop)
            }
            Self::UpdateFlag(id, revision, patch) => {
                flags::update(service, &actor.editor()?, id, &still(revision), patch)
                    .await
                    .map(drop)
            }
            Self::RenameEnvironment(id, revision, name) => {
                let actor = actor.administrator()?;
                environments::rename(service, &actor, id, &still(revision), Some(name))
                    .await
                    .map(drop)
            }
            Self::Configure(pair, revision, patch) => {
                targeting::configure(service, &actor.editor()?, pair, &still(revision), patch)
                    .await
                    .map(drop)
            }
            Self::CreateRule(pair, rule) => {
                targeting::create_rule(service, &actor.editor()?, pair, &Precondition::None, rule)
                    .await
                    .map(drop)
            }
            Self::ReplaceRule(id, revision, rule) => {
                targeting::replace_rule(service, &actor.editor()?, id, &still(revision), rule)
                    .await
                    .map(drop)
            }
            Self::DeleteRule(id, revision) => {
                targeting::delete_rule(service, &actor.editor()?, id, &still(revision)).await
            }
            Self::SetRollout(pair, revision, rollout) => {
                let precondition = revision.map_or(Precondition::None, still);
                targeting::set_rollout(service, &actor.editor()?, pair, &precondition, rollout)
                    .await
                    .map(drop)
            }
            Self::DeleteRollout(pair, revision) => {
                targeting::delete_rollout(service, &actor.editor()?, pair, &still(revision)).await
            }
        }
    }
}
