//! The rollout of a flag in an environment.

use pennon_core::rollout::Rollout;
use pennon_model::audit::AuditAction;
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::targeting::FlagRollout;

use super::{FlagEnvironment, commit};
use crate::admin::precondition::Precondition;
use crate::admin::{Admin, audit};
use crate::auth::actor::{Actor, Editor};
use crate::error::{Entity, Error};
use crate::store::{self, Tx};

/// What became of something that is set whether or not it was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upserted {
    Inserted,
    Updated,
}

/// The rollout of a flag in an environment.
pub(crate) async fn rollout(
    admin: &Admin,
    _actor: &Actor,
    id: FlagEnvironmentId,
) -> Result<FlagRollout, Error> {
    let mut tx = admin.db.read().await?;
    let target = FlagEnvironment::find(&mut tx, id).await?;
    find(&mut tx, &target)
        .await?
        .ok_or(Error::NotFound(Entity::Rollout))
}

/// Sets the rollout of a flag in an environment, and tells whether it is the first one.
pub(crate) async fn set_rollout(
    admin: &Admin,
    actor: &Editor,
    id: FlagEnvironmentId,
    precondition: &Precondition,
    rollout: Rollout,
) -> Result<(FlagRollout, Upserted), Error> {
    let mut tx = admin.db.write().await?;
    let target = FlagEnvironment::find_writable(&mut tx, id).await?;
    let old = find(&mut tx, &target).await?;
    match &old {
        Some(old) => precondition.check(old.revision)?,
        None => precondition.check_absent()?,
    }
    if let Some(old) = old.clone().filter(|old| old.rollout == rollout) {
        return Ok((old, Upserted::Updated));
    }
    let new = upsert(admin, &mut tx, actor, &target, old.as_ref(), rollout).await?;
    commit(admin, tx, id).await?;
    let upserted = match old {
        Some(_) => Upserted::Updated,
        None => Upserted::Inserted,
    };
    Ok((new, upserted))
}

/// Deletes the rollout of a flag in an environment.
pub(crate) async fn delete_rollout(
    admin: &Admin,
    actor: &Editor,
    id: FlagEnvironmentId,
    precondition: &Precondition,
) -> Result<(), Error> {
    let mut tx = admin.db.write().await?;
    let target = FlagEnvironment::find_writable(&mut tx, id).await?;
    let old = find(&mut tx, &target).await?;
    let old = old.ok_or(Error::NotFound(Entity::Rollout))?;
    precondition.check(old.revision)?;
    delete(admin, &mut tx, actor, &target, &old).await?;
    commit(admin, tx, id).await.map(drop)
}

/// The rollout of a pair, within a transaction.
pub(super) async fn find(
    tx: &mut Tx,
    target: &FlagEnvironment,
) -> Result<Option<FlagRollout>, Error> {
    store::rollouts::find(tx, target.flag.id, target.environment.id).await
}

/// Keeps a rollout, within a transaction.
pub(super) async fn upsert(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    target: &FlagEnvironment,
    old: Option<&FlagRollout>,
    rollout: Rollout,
) -> Result<FlagRollout, Error> {
    let (flag, environment) = (target.flag.id, target.environment.id);
    let now = admin.clock.now();
    let new = store::rollouts::upsert(tx, flag, environment, rollout, now).await?;
    configured(target, old, &new)?
        .record(admin, tx, actor)
        .await?;
    Ok(new)
}

/// The audit entry of a new or changed rollout.
pub(super) fn configured<'a>(
    target: &'a FlagEnvironment,
    old: Option<&FlagRollout>,
    new: &FlagRollout,
) -> Result<audit::Entry<'a>, Error> {
    let entry = target.entry(AuditAction::RolloutConfigured);
    entry.from(old)?.to(new)
}

/// Deletes a rollout, within a transaction.
pub(super) async fn delete(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    target: &FlagEnvironment,
    old: &FlagRollout,
) -> Result<(), Error> {
    store::rollouts::delete(tx, old.flag_id, old.environment_id).await?;
    deleted(target, old)?.record(admin, tx, actor).await
}

/// The audit entry of a deletion.
pub(super) fn deleted<'a>(
    target: &'a FlagEnvironment,
    old: &FlagRollout,
) -> Result<audit::Entry<'a>, Error> {
    target.entry(AuditAction::RolloutDeleted).from(Some(old))
}
