//! Taking a change back: what would do that as things stand now, and doing it.
//!
//! A reversal is an ordinary change, made by the use case that a person would use to make it by hand: it needs the same
//! role, meets the same refusals, and is in the audit log as what it is.

mod plan;
mod recorded;
mod step;

use pennon_core::model::audit::AuditAction;
use pennon_core::model::id::AuditId;
use pennon_core::model::user::Role;
use serde_json::Value;

use self::step::Step;
use super::precondition::Precondition;
use super::{Service, audit};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store::audit::Recorded;

/// A recorded change, and the change that would take it back.
pub(crate) struct Reversal {
    pub(crate) recorded: Recorded,
    pub(crate) plan: Result<Plan, Obstacle>,
}

/// A change that takes another one back.
pub(crate) struct Plan {
    /// What the audit log will call it.
    pub(crate) action: AuditAction,
    /// The object as it stands, if it is there.
    pub(crate) now: Option<Value>,
    /// The object as it will be, if it will be there.
    pub(crate) then: Option<Value>,
    /// The revision of what the plan is about: another one, and it is another plan.
    pub(crate) revision: i64,
    step: Step,
}

/// Why a change cannot be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Obstacle {
    #[error("changes of this kind cannot be reverted")]
    Never,
    #[error("a new environment cannot be reverted; revoke it on its own page, which stops its key")]
    NewEnvironment,
    #[error("a key that was revoked or replaced never works again")]
    KeyGone,
    #[error("this is undone already: there is nothing left to revert")]
    AlreadySo,
    #[error("what was changed is not there any more")]
    Gone,
    #[error("the flag is archived; restore it first")]
    FlagArchived,
    #[error("the environment is revoked, and nothing in it can be changed")]
    EnvironmentRevoked,
    #[error("another rule has taken the place of this one; move it first")]
    PlaceTaken,
}

/// The role that taking back a change of this kind needs; none if that is never possible.
pub(crate) fn needed(action: AuditAction) -> Option<Role> {
    match action {
        AuditAction::FlagCreated
        | AuditAction::FlagUpdated
        | AuditAction::FlagArchived
        | AuditAction::FlagEnvironmentUpdated
        | AuditAction::RuleCreated
        | AuditAction::RuleUpdated
        | AuditAction::RuleDeleted
        | AuditAction::RolloutConfigured
        | AuditAction::RolloutDeleted => Some(Role::Editor),
        AuditAction::EnvironmentUpdated => Some(Role::Admin),
        AuditAction::EnvironmentCreated
        | AuditAction::EnvironmentRevoked
        | AuditAction::SdkKeyRotated
        | AuditAction::UserCreated
        | AuditAction::UserUpdated
        | AuditAction::UserDeleted
        | AuditAction::PasswordChanged
        | AuditAction::TokenCreated
        | AuditAction::TokenRevoked => None,
    }
}

/// What would take a change back; none if no such change is recorded.
pub(crate) async fn preview(
    service: &Service,
    actor: &Actor,
    id: AuditId,
) -> Result<Option<Reversal>, Error> {
    let Some(recorded) = audit::get(service, actor, id).await? else {
        return Ok(None);
    };
    let needed = needed(recorded.entry.action);
    if let Some(role) = needed
        && actor.role() < role
    {
        return Err(Error::Forbidden(role));
    }
    let plan = match plan::of(service, actor, &recorded).await {
        Err(Error::NotFound(_)) => Err(Obstacle::Gone),
        plan => plan?,
    };
    Ok(Some(Reversal { recorded, plan }))
}

/// Takes a change back, if things still stand as in the preview.
pub(crate) async fn revert(
    service: &Service,
    actor: &Actor,
    id: AuditId,
    seen: i64,
) -> Result<Result<(), Obstacle>, Error> {
    let plan = match preview(service, actor, id).await? {
        Some(Reversal { plan: Ok(plan), .. }) => plan,
        Some(Reversal {
            plan: Err(obstacle),
            ..
        }) => return Ok(Err(obstacle)),
        None => return Ok(Err(Obstacle::Gone)),
    };
    Precondition::OneOf(vec![seen]).check(plan.revision)?;
    plan.step.take(service, actor).await.map(Ok)
}
