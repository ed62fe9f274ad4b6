//! The rollout of a flag in an environment.

use pennon_core::rollout::Rollout;
use pennon_model::audit::AuditAction;
use pennon_model::configuration::PairId;
use pennon_model::targeting::FlagRollout;

use super::{Pair, commit};
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
    id: PairId,
) -> Result<FlagRollout, Error> {
    let mut tx = admin.db.read().await?;
    let pair = Pair::find(&mut tx, id).await?;
    find(&mut tx, &pair)
        .await?
        .ok_or(Error::NotFound(Entity::Rollout))
}

/// Sets the rollout of a flag in an environment, and tells whether it is the first one.
pub(crate) async fn set_rollout(
    admin: &Admin,
    actor: &Editor,
    id: PairId,
    precondition: &Precondition,
    rollout: Rollout,
) -> Result<(FlagRollout, Upserted), Error> {
    let mut tx = admin.db.write().await?;
    let pair = Pair::find_writable(&mut tx, id).await?;
    let old = find(&mut tx, &pair).await?;
    match &old {
        Some(old) => precondition.check(old.revision)?,
        None => precondition.check_absent()?,
    }
    if let Some(old) = old.clone().filter(|old| old.rollout == rollout) {
        return Ok((old, Upserted::Updated));
    }
    let new = upsert(admin, &mut tx, actor, &pair, old.as_ref(), rollout).await?;
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
    id: PairId,
    precondition: &Precondition,
) -> Result<(), Error> {
    let mut tx = admin.db.write().await?;
    let pair = Pair::find_writable(&mut tx, id).await?;
    let old = find(&mut tx, &pair).await?;
    let old = old.ok_or(Error::NotFound(Entity::Rollout))?;
    precondition.check(old.revision)?;
    delete(admin, &mut tx, actor, &pair, &old).await?;
    commit(admin, tx, id).await.map(drop)
}

/// The rollout of a pair, within a transaction.
pub(super) async fn find(tx: &mut Tx, pair: &Pair) -> Result<Option<FlagRollout>, Error> {
    store::rollouts::find(tx, pair.flag.id, pair.environment.id).await
}

/// Keeps a rollout, within a transaction.
pub(super) async fn upsert(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    pair: &Pair,
    old: Option<&FlagRollout>,
    rollout: Rollout,
) -> Result<FlagRollout, Error> {
    let (flag, environment) = (pair.flag.id, pair.environment.id);
    let now = admin.clock.now();
    let new = store::rollouts::upsert(tx, flag, environment, rollout, now).await?;
    configured(pair, old, &new)?
        .record(admin, tx, actor)
        .await?;
    Ok(new)
}

/// The audit entry of a new or changed rollout.
pub(super) fn configured<'a>(
    pair: &'a Pair,
    old: Option<&FlagRollout>,
    new: &FlagRollout,
) -> Result<audit::Entry<'a>, Error> {
    let entry = pair.entry(AuditAction::RolloutConfigured);
    entry.from(old)?.to(new)
}

/// Deletes a rollout, within a transaction.
pub(super) async fn delete(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    pair: &Pair,
    old: &FlagRollout,
) -> Result<(), Error> {
    store::rollouts::delete(tx, old.flag_id, old.environment_id).await?;
    deleted(pair, old)?.record(admin, tx, actor).await
}

/// The audit entry of a deletion.
pub(super) fn deleted<'a>(pair: &'a Pair, old: &FlagRollout) -> Result<audit::Entry<'a>, Error> {
    pair.entry(AuditAction::RolloutDeleted).from(Some(old))
}
