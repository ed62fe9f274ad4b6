//! The rollout of a flag in an environment.

use pennon_core::rollout::Rollout;
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::targeting::FlagRollout;

use super::step::{Step, commit};
use super::{find, find_writable};
use crate::admin::Admin;
use crate::admin::precondition::Precondition;
use crate::auth::actor::Actor;
use crate::auth::authority::AnyEditor;
use crate::error::{Entity, Error};
use crate::store;

/// The result of an upsert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upserted {
    Inserted,
    Updated,
}

/// Returns the rollout of a flag in an environment.
pub(crate) async fn rollout(
    admin: &Admin,
    _actor: &Actor,
    id: FlagEnvironmentId,
) -> Result<FlagRollout, Error> {
    let mut tx = admin.db.read().await?;
    find(&mut tx, id).await?;
    store::rollouts::find(&mut tx, id.flag, id.environment)
        .await?
        .ok_or(Error::NotFound(Entity::Rollout))
}

/// Sets the rollout of a flag in an environment, and reports whether it is the first one.
pub(crate) async fn set_rollout(
    admin: &Admin,
    actor: &AnyEditor,
    id: FlagEnvironmentId,
    precondition: &Precondition,
    rollout: Rollout,
) -> Result<(FlagRollout, Upserted), Error> {
    let mut tx = admin.db.write().await?;
    let (target, actor) = find_writable(&mut tx, actor, id).await?;
    let old = store::rollouts::find(&mut tx, id.flag, id.environment).await?;
    match &old {
        Some(old) => precondition.check(old.revision)?,
        None => precondition.check_absent()?,
    }
    if let Some(old) = old.clone().filter(|old| old.rollout == rollout) {
        return Ok((old, Upserted::Updated));
    }
    let upserted = match old {
        Some(_) => Upserted::Updated,
        None => Upserted::Inserted,
    };
    let mut new = changed(admin, id, old.as_ref(), rollout);
    let step = Step::SetRollout {
        old,
        new: new.clone(),
    };
    let revision = commit(admin, tx, &actor, &target, vec![step]).await?;
    if upserted == Upserted::Inserted {
        new.revision = revision;
    }
    Ok((new, upserted))
}

/// Deletes the rollout of a flag in an environment.
pub(crate) async fn delete_rollout(
    admin: &Admin,
    actor: &AnyEditor,
    id: FlagEnvironmentId,
    precondition: &Precondition,
) -> Result<(), Error> {
    let mut tx = admin.db.write().await?;
    let (target, actor) = find_writable(&mut tx, actor, id).await?;
    let old = store::rollouts::find(&mut tx, id.flag, id.environment).await?;
    let old = old.ok_or(Error::NotFound(Entity::Rollout))?;
    precondition.check(old.revision)?;
    let step = Step::DeleteRollout(old);
    commit(admin, tx, &actor, &target, vec![step])
        .await
        .map(drop)
}

/// Returns the record of a new rollout, or of one that replaces `old`. A new rollout gets its revision from the
/// environment when it is written.
pub(super) fn changed(
    admin: &Admin,
    id: FlagEnvironmentId,
    old: Option<&FlagRollout>,
    rollout: Rollout,
) -> FlagRollout {
    let now = admin.clock.now();
    FlagRollout {
        flag_id: id.flag,
        environment_id: id.environment,
        rollout,
        created_at: old.map_or(now, |old| old.created_at),
        updated_at: now,
        revision: old.map_or(0, |old| old.revision + 1),
    }
}
