//! Taking back what one action changed: what that would do as things stand now, and doing it.
//!
//! A reversal consists of ordinary changes, as a person would make them by hand: it needs the same role, meets the same
//! refusals, and is in the audit log as what it is. What one action wrote, such as a copy, is taken back as a whole.

mod recorded;
mod undo;

use pennon_core::FlagConfig;
use pennon_model::audit::{AuditAction, AuditRecord};
use pennon_model::environment::Environment;
use pennon_model::flag::FlagKey;
use pennon_model::id::{AuditId, FlagId};
use pennon_model::user::Role;
use serde_json::Value;

use self::undo::{PendingRevert, UndoError};
use super::{Admin, audit, changes};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store::{self, Tx};

/// The most entries of one action that are taken back at once.
const MOST_ENTRIES: usize = 1_000;

/// The entries of one action, and the plan of its revert.
pub(crate) struct Reversal {
    /// The entries of the action, newest first.
    pub(crate) entries: Vec<AuditRecord>,
    pub(crate) plan: Result<Plan, Obstacle>,
}

/// The changes that take others back.
pub(crate) struct Plan {
    pub(crate) changes: Vec<PlannedChange>,
    /// The effect on each flag configuration that changes.
    pub(crate) effects: Vec<Effect>,
    /// True if the revert overwrites a change that was made after the action.
    pub(crate) overwrites: bool,
    /// The fingerprint of everything that the plan depends on. The revert is refused if it differs.
    pub(crate) fingerprint: String,
}

/// One change that takes others back.
pub(crate) struct PlannedChange {
    /// What the audit log will call it.
    pub(crate) action: AuditAction,
    pub(crate) flag: Option<FlagKey>,
    pub(crate) environment: Option<Environment>,
    /// The object as it stands, if it is there.
    pub(crate) now: Option<Value>,
    /// The object as it will be, if it will be there.
    pub(crate) then: Option<Value>,
}

/// A flag in an environment before and after the revert.
pub(crate) struct Effect {
    pub(crate) flag: FlagId,
    pub(crate) environment: Environment,
    pub(crate) before: FlagConfig,
    pub(crate) after: FlagConfig,
}

/// The reason why an action cannot be reverted.
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
    #[error(
        "more than {MOST_ENTRIES} changes were made at once; import a document that was exported before"
    )]
    TooMany,
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

/// Plans the revert of the action that wrote an entry; `None` if the entry does not exist.
pub(crate) async fn preview(
    admin: &Admin,
    actor: &Actor,
    id: AuditId,
) -> Result<Option<Reversal>, Error> {
    if audit::get(admin, actor, id).await?.is_none() {
        return Ok(None);
    }
    let mut tx = admin.db.read().await?;
    let (entries, pending) = pending(admin, &mut tx, actor, id).await?;
    let plan = match pending {
        Ok(pending) => Ok(pending.plan()?),
        Err(obstacle) => Err(obstacle),
    };
    Ok(Some(Reversal { entries, plan }))
}

/// Takes back the action that wrote an entry, if things still stand as in the preview.
pub(crate) async fn revert(
    admin: &Admin,
    actor: &Actor,
    id: AuditId,
    fingerprint: &str,
) -> Result<Result<(), Obstacle>, Error> {
    let mut tx = admin.db.write().await?;
    let (_, pending) = pending(admin, &mut tx, actor, id).await?;
    let pending = match pending {
        Ok(pending) => pending,
        Err(obstacle) => return Ok(Err(obstacle)),
    };
    if pending.fingerprint() != fingerprint {
        return Err(Error::Stale { current: None });
    }
    let changed = pending.carry_out(admin, &mut tx, actor).await?;
    changes::commit(admin, tx, changed).await.map(Ok)
}

/// The entries of the action that wrote this one, and all that they are about as it was before them.
async fn pending(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    id: AuditId,
) -> Result<(Vec<AuditRecord>, Result<PendingRevert, Obstacle>), Error> {
    let Some(one) = store::audit::find(tx, id).await? else {
        return Ok((Vec::new(), Err(Obstacle::Gone)));
    };
    let most = i64::try_from(MOST_ENTRIES.saturating_add(1)).unwrap_or(i64::MAX);
    let entries = store::audit::group(tx, one.entry.group_id, most).await?;
    let needed = entries.iter().filter_map(|each| needed(each.entry.action));
    if let Some(role) = needed.max()
        && actor.role() < role
    {
        return Err(Error::Forbidden(role));
    }
    if entries.len() > MOST_ENTRIES {
        return Ok((entries, Err(Obstacle::TooMany)));
    }
    let pending = match PendingRevert::of(admin, tx, &entries).await {
        Ok(pending) => Ok(pending),
        Err(UndoError::Obstacle(obstacle)) => Err(obstacle),
        Err(UndoError::Failed(Error::NotFound(_))) => Err(Obstacle::Gone),
        Err(UndoError::Failed(error)) => return Err(error),
    };
    Ok((entries, pending))
}
