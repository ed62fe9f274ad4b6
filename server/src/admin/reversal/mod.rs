//! Reverting an action: a preview of its effect on the current state, and the reversal itself.
//!
//! A reversal consists of the changes that a person would make by hand. It needs the same role, can fail for the same
//! reasons, and is recorded in the audit log in the same way. An action that wrote several entries, such as a copy, is
//! reverted as a whole. [`several`] actions are reverted like one.

mod checks;
mod recorded;
pub(crate) mod several;
mod undo;

use pennon_core::rule::MAX_RULES;
use pennon_model::audit::{AuditEntry, AuditRecord};
use pennon_model::id::AuditId;
use pennon_model::plan::Plan;
use pennon_model::user::Role;

use self::recorded::Target;
use self::undo::PendingRevert;
use super::desired::{Applied, add_outdated_clients, carry_out, check_fingerprint};
use super::{Admin, audit};
use crate::auth::actor::Actor;
use crate::error::{Conflict, Error};
use crate::store::{self, Tx};

/// The maximum number of entries of an action that can be reverted.
const MAX_ENTRIES: usize = 1_000;

/// The entries of one action, and the plan of its reversal.
pub(crate) struct Reversal {
    /// The entries of the action, newest first.
    pub(crate) entries: Vec<AuditRecord>,
    /// The plan, or the reason that the action cannot be reverted.
    pub(crate) plan: Result<Plan, RevertError>,
}

/// The reason that an action cannot be reverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Obstacle {
    #[error("changes of this kind cannot be reverted")]
    Never,
    #[error(
        "the creation of an environment cannot be reverted; revoke the environment on its page instead"
    )]
    NewEnvironment,
    #[error("a revoked or rotated key cannot be restored")]
    KeyGone,
    #[error("the environments have been moved again since; move them on their page instead")]
    Order,
    #[error(
        "changes of accounts cannot be reverted together with others; revert them in the audit log"
    )]
    Account,
    #[error("this change is already reverted")]
    AlreadyReverted,
    #[error("the changed object no longer exists")]
    Gone,
    #[error("the flag is archived; restore it first")]
    FlagArchived,
    #[error(
        "the flag is no longer configured in this environment; add the environment's product to the flag first"
    )]
    OutOfScope,
    #[error("the environment is revoked and cannot be changed")]
    EnvironmentRevoked,
    #[error("another rule now has the priority of this one; move that rule first")]
    PriorityTaken,
    #[error("the flag would have more than {MAX_RULES} rules; delete others first")]
    TooManyRules,
    #[error("another environment now has the old name of this one; rename that one first")]
    NameTaken,
    #[error(
        "the action made more than {MAX_ENTRIES} changes; import a document that was exported before it instead"
    )]
    TooMany,
    #[error("these actions made more than {MAX_ENTRIES} changes together; revert fewer at once")]
    TooManyTogether,
    #[error(
        "at most {} actions can be reverted together; revert fewer at once",
        several::MAX_ACTIONS
    )]
    TooManyActions,
    #[error("these changes are already reverted")]
    NothingToRevert,
}

/// The reason that an action was not reverted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RevertError {
    #[error(transparent)]
    Obstacle(#[from] Obstacle),
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Converts to the error of the use case that makes the same change, if there is one.
impl From<RevertError> for Error {
    fn from(error: RevertError) -> Self {
        match error {
            RevertError::Obstacle(obstacle) => Conflict::from(obstacle).into(),
            // A reversal has no force.
            RevertError::Failed(Self::Conflict(Conflict::FlagEnabledElsewhere(environments))) => {
                Conflict::FlagEnabled(environments).into()
            }
            RevertError::Failed(error) => error,
        }
    }
}

impl From<Obstacle> for Conflict {
    fn from(obstacle: Obstacle) -> Self {
        match obstacle {
            Obstacle::AlreadyReverted | Obstacle::NothingToRevert => Self::AlreadyReverted,
            Obstacle::FlagArchived => Self::FlagArchived,
            Obstacle::EnvironmentRevoked => Self::EnvironmentRevoked,
            Obstacle::PriorityTaken => Self::PriorityTaken,
            Obstacle::TooManyRules => Self::TooManyRules,
            Obstacle::NameTaken => Self::EnvironmentNameTaken,
            Obstacle::Never
            | Obstacle::NewEnvironment
            | Obstacle::Order
            | Obstacle::Account
            | Obstacle::KeyGone
            | Obstacle::Gone
            | Obstacle::OutOfScope
            | Obstacle::TooMany
            | Obstacle::TooManyTogether
            | Obstacle::TooManyActions => Self::NotRevertible(obstacle.to_string()),
        }
    }
}

/// Returns the role that is required to revert the action of an entry; none if it cannot be reverted.
pub(crate) fn needed(entry: &AuditEntry) -> Option<Role> {
    let target = recorded::target(entry).ok()?;
    Some(match target {
        Target::Flag | Target::Configuration(_) => Role::Editor,
        Target::Environment | Target::User => Role::Admin,
    })
}

/// Plans the reversal of the action that wrote an entry.
pub(crate) async fn preview(admin: &Admin, actor: &Actor, id: AuditId) -> Result<Reversal, Error> {
    let mut tx = admin.db.read().await?;
    let entries = action(&mut tx, actor, id).await?;
    let pending = pending(admin, &mut tx, actor, &entries).await;
    drop(tx);
    let plan = previewed(admin, actor, pending).await?;
    Ok(Reversal { entries, plan })
}

/// Returns the plan of a preview, with the clients that cannot read the result, or the reason that there is none.
async fn previewed(
    admin: &Admin,
    actor: &Actor,
    pending: Result<(PendingRevert, Plan), RevertError>,
) -> Result<Result<Plan, RevertError>, Error> {
    match pending {
        Ok((_, mut plan)) => {
            add_outdated_clients(admin, actor, &mut plan).await?;
            Ok(Ok(plan))
        }
        Err(
            reason @ (RevertError::Obstacle(_)
            | RevertError::Failed(Error::Conflict(Conflict::FlagEnabled(_)))),
        ) => Ok(Err(reason)),
        Err(RevertError::Failed(error)) => Err(error),
    }
}

/// Reverts the action that wrote an entry. Fails if the state has changed since a preview with this fingerprint.
pub(crate) async fn revert(
    admin: &Admin,
    actor: &Actor,
    id: AuditId,
    fingerprint: Option<&str>,
) -> Result<Applied, RevertError> {
    let mut tx = admin.db.write().await?;
    let entries = action(&mut tx, actor, id).await?;
    let (pending, plan) = pending(admin, &mut tx, actor, &entries).await?;
    check_fingerprint(&plan, fingerprint)?;
    let applied = carry_out(admin, tx, actor, pending.desired, plan).await;
    Ok(applied?)
}

/// Returns all entries of the action that wrote this entry. Fails if the actor has the role to revert it nowhere.
async fn action(tx: &mut Tx, actor: &Actor, id: AuditId) -> Result<Vec<AuditRecord>, Error> {
    let one = audit::find(tx, actor, id).await?;
    let entries = entries_of(tx, one.entry.group_id).await?;
    match entries.iter().filter_map(|each| needed(&each.entry)).max() {
        Some(Role::Admin) => actor.any_administrator().map(drop)?,
        Some(Role::Editor) => actor.any_editor().map(drop)?,
        Some(Role::Viewer) | None => {}
    }
    Ok(entries)
}

/// Returns the entries of an action, newest first. Of an action with too many entries to revert, it returns one too
/// many.
async fn entries_of(tx: &mut Tx, group: AuditId) -> Result<Vec<AuditRecord>, Error> {
    let limit = i64::try_from(MAX_ENTRIES.saturating_add(1)).unwrap_or(i64::MAX);
    store::audit::group(tx, group, limit).await
}

/// Returns the objects of the entries as they were before the entries, and the plan to restore them.
async fn pending(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    entries: &[AuditRecord],
) -> Result<(PendingRevert, Plan), RevertError> {
    if entries.len() > MAX_ENTRIES {
        return Err(Obstacle::TooMany.into());
    }
    match PendingRevert::of(admin, tx, actor, entries).await {
        Err(RevertError::Failed(Error::NotFound(_))) => Err(Obstacle::Gone.into()),
        pending => pending,
    }
}
