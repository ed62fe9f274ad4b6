//! Reverting several actions as one action, to the state before all of them.

use std::collections::HashSet;

use pennon_model::audit::{AuditAction, AuditRecord};
use pennon_model::id::AuditId;
use pennon_model::plan::Plan;

use super::super::desired::{Applied, carry_out, check_fingerprint, fingerprint};
use super::super::{Admin, audit};
use super::undo::PendingRevert;
use super::{MAX_ENTRIES, Obstacle, RevertError, entries_of, previewed};
use crate::auth::actor::Actor;
use crate::error::{Conflict, Error};
use crate::store::Tx;

/// The maximum number of actions that can be reverted together.
pub(crate) const MAX_ACTIONS: usize = 50;

/// Selected actions, and the plan of their reversal as one.
pub(crate) struct JointReversal {
    /// The actions, newest first.
    pub(crate) actions: Vec<SelectedAction>,
    /// The plan of the actions that can be reverted.
    pub(crate) plan: Result<Plan, RevertError>,
}

/// An action that was selected to be reverted.
pub(crate) struct SelectedAction {
    /// All entries of the action, newest first.
    pub(crate) entries: Vec<AuditRecord>,
    /// The reason that the reversal omits the action, as a clause; none if it is reverted.
    pub(crate) omitted: Option<String>,
}

/// Plans the reversal of the actions that wrote these entries.
pub(crate) async fn preview(
    admin: &Admin,
    actor: &Actor,
    ids: &[AuditId],
) -> Result<JointReversal, Error> {
    let mut tx = admin.db.read().await?;
    let mut actions = selected(&mut tx, actor, ids).await?;
    let planned = plan_together(admin, &mut tx, actor, &mut actions).await;
    drop(tx);
    let plan = previewed(admin, actor, planned).await?;
    Ok(JointReversal { actions, plan })
}

/// Reverts the actions that wrote these entries, except those that the preview with the expected fingerprint omits.
/// Fails if a preview would differ now.
pub(crate) async fn revert(
    admin: &Admin,
    actor: &Actor,
    ids: &[AuditId],
    expected: &str,
) -> Result<Applied, RevertError> {
    let mut tx = admin.db.write().await?;
    let mut actions = selected(&mut tx, actor, ids).await?;
    let (pending, plan) = plan_together(admin, &mut tx, actor, &mut actions).await?;
    check_fingerprint(&plan, Some(expected))?;
    let applied = carry_out(admin, tx, actor, pending.desired, plan).await;
    Ok(applied?)
}

/// Returns the actions that wrote these entries, newest first, each once. Reads no further actions once there are too
/// many entries.
async fn selected(
    tx: &mut Tx,
    actor: &Actor,
    ids: &[AuditId],
) -> Result<Vec<SelectedAction>, Error> {
    actor.any_editor()?;
    let mut groups = HashSet::new();
    let mut actions = Vec::new();
    let mut count: usize = 0;
    for id in ids.iter().take(MAX_ACTIONS.saturating_add(1)) {
        let group = audit::find(tx, actor, *id).await?.entry.group_id;
        if count > MAX_ENTRIES || !groups.insert(group) {
            continue;
        }
        let entries = entries_of(tx, group).await?;
        let obstacle = selection_obstacle(&entries);
        if obstacle.is_none() {
            count = count.saturating_add(entries.len());
        }
        actions.push(SelectedAction {
            omitted: obstacle.map(|obstacle| obstacle.to_string()),
            entries,
        });
    }
    let newest = |action: &SelectedAction| {
        let newest = action.entries.first();
        newest.map(|recorded| (recorded.entry.occurred_at, recorded.entry.id))
    };
    actions.sort_by_key(|action| std::cmp::Reverse(newest(action)));
    Ok(actions)
}

/// Returns the reason that an action is never reverted together with others. A reader of one entry may read its whole
/// group, and only administrators may read about accounts, so no group of entries has both.
fn selection_obstacle(entries: &[AuditRecord]) -> Option<Obstacle> {
    if entries.len() > MAX_ENTRIES {
        return Some(Obstacle::TooMany);
    }
    let mut actions = entries.iter().map(|recorded| recorded.entry.action);
    actions
        .any(AuditAction::is_about_accounts)
        .then_some(Obstacle::Account)
}

/// Undoes the actions, newest first, so the oldest of several values is restored. An action that cannot be undone is
/// marked, and leaves no trace in the result.
async fn plan_together(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    actions: &mut [SelectedAction],
) -> Result<(PendingRevert, Plan), RevertError> {
    check_limits(actions)?;
    let mut pending = PendingRevert::default();
    let mut reverted = Vec::new();
    for action in actions.iter_mut().filter(|action| action.omitted.is_none()) {
        let mut with_action = pending.clone();
        match undo(admin, tx, actor, &mut with_action, action).await {
            Ok(()) => {
                pending = with_action;
                let newest = action.entries.first();
                reverted.extend(newest.map(|recorded| recorded.entry.group_id.to_string()));
            }
            Err(error) => action.omitted = Some(reason_to_omit(error)?),
        }
    }
    let mut plan = pending.plan(admin)?;
    if plan.changes.is_empty() {
        return Err(Obstacle::NothingToRevert.into());
    }
    // An action that can be reverted only since the preview is not part of it, even if it concerns the same objects.
    reverted.insert(0, plan.fingerprint);
    plan.fingerprint = fingerprint(&reverted);
    Ok((pending, plan))
}

/// Fails if the actions, or the entries of those that are not omitted, are too many.
fn check_limits(actions: &[SelectedAction]) -> Result<(), Obstacle> {
    if actions.len() > MAX_ACTIONS {
        return Err(Obstacle::TooManyActions);
    }
    let included = actions.iter().filter(|action| action.omitted.is_none());
    let entries: usize = included.map(|action| action.entries.len()).sum();
    if entries > MAX_ENTRIES {
        return Err(Obstacle::TooManyTogether);
    }
    Ok(())
}

/// Adds the undoing of an action. If this fails, the pending revert has a part of it.
async fn undo(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    pending: &mut PendingRevert,
    action: &SelectedAction,
) -> Result<(), RevertError> {
    pending.undo_all(admin, tx, actor, &action.entries).await?;
    pending.check_disabled(tx).await
}

/// Returns the reason to omit an action that cannot be undone, or the error if it concerns more than this action.
fn reason_to_omit(error: RevertError) -> Result<String, Error> {
    match error {
        RevertError::Obstacle(obstacle) => Ok(obstacle.to_string()),
        RevertError::Failed(Error::NotFound(_)) => Ok(Obstacle::Gone.to_string()),
        RevertError::Failed(
            error @ (Error::Forbidden(_)
            | Error::ForbiddenFor(..)
            | Error::Conflict(Conflict::FlagEnabled(_))),
        ) => Ok(error.to_string()),
        RevertError::Failed(error) => Err(error),
    }
}
