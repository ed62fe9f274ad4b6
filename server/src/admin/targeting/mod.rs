//! A flag in an environment: its configuration, its targeting rules and its rollout.

mod configuration;
mod explain;
mod overview;
mod preview;
mod reconcile;
mod rollout;
mod rules;
mod step;

use std::collections::HashMap;

use pennon_model::configuration::{FlagConfiguration, FlagEnvironment, FlagEnvironmentId};
use pennon_model::environment::EnvironmentStatus;
use pennon_model::flag_table::FlagCell;
use pennon_model::id::{EnvironmentId, FlagId};

pub(crate) use self::configuration::{ConfigurationPatch, configuration, configure};
pub(crate) use self::explain::{explain, flag_config};
pub(crate) use self::overview::{attributes, comparison, overview};
pub(crate) use self::preview::{MAX_CONTEXTS, Preview, Proposal, preview};
pub(crate) use self::reconcile::{ConfigurationContent, CopyPreconditions, copy, extend_targeting};
pub(super) use self::reconcile::{DesiredConfiguration, apply, steps_to, steps_to_content};
pub(crate) use self::rollout::{Upserted, delete_rollout, rollout, set_rollout};
pub(crate) use self::rules::{
    Rules, create_rule, delete_rule, reorder_rules, replace_rule, rule, rules,
};
pub(super) use self::step::{Step, differences};

use super::{Admin, Existence, environments, flags};
use crate::auth::actor::Actor;
use crate::auth::authority::{AnyEditor, Editor};
use crate::error::{Conflict, Entity, Error};
use crate::store::{self, Tx};

/// Returns a flag in an environment, within a transaction.
async fn find(tx: &mut Tx, id: FlagEnvironmentId) -> Result<FlagEnvironment, Error> {
    match store::configurations::find(tx, id).await? {
        Some(target) => Ok(target),
        None => Err(missing(tx, id).await),
    }
}

/// Returns the reason that a flag has no configuration in an environment.
async fn missing(tx: &mut Tx, id: FlagEnvironmentId) -> Error {
    if let Err(error) = flags::find(tx, id.flag).await {
        return error;
    }
    match environments::find(tx, id.environment).await {
        Ok(_) => Error::NotFound(Entity::Configuration),
        Err(error) => error,
    }
}

/// Returns a flag in an environment that can be changed, and the actor as one who may change it: the flag is not
/// archived, and the environment is not revoked.
async fn find_writable(
    tx: &mut Tx,
    actor: &AnyEditor,
    id: FlagEnvironmentId,
) -> Result<(FlagEnvironment, Editor), Error> {
    let target = find(tx, id).await?;
    let actor = check_writable(actor, &target)?;
    Ok((target, actor))
}

/// Returns the actor as one who may change a flag in an environment. Fails if the flag is archived, or the environment
/// is revoked.
fn check_writable(actor: &AnyEditor, target: &FlagEnvironment) -> Result<Editor, Error> {
    let actor = actor.of(&target.environment)?;
    if target.environment.status == EnvironmentStatus::Revoked {
        return Err(Conflict::EnvironmentRevoked.into());
    }
    flags::check_active(&target.flag)?;
    Ok(actor)
}

/// Returns a flag in an environment with its rules and rollout, within a transaction.
pub(super) async fn find_with_targeting(
    tx: &mut Tx,
    id: FlagEnvironmentId,
) -> Result<FlagConfiguration, Error> {
    let target = find(tx, id).await?;
    with_targeting(tx, target).await
}

/// Returns those of the flags that are configured in an environment, with their rules and rollouts, within a
/// transaction.
pub(super) async fn find_all_with_targeting(
    tx: &mut Tx,
    flags: &[FlagId],
    environment: EnvironmentId,
) -> Result<HashMap<FlagId, FlagConfiguration>, Error> {
    let mut found = HashMap::new();
    for target in store::configurations::of_flags(tx, flags, environment).await? {
        let configuration = FlagConfiguration {
            target,
            rules: Vec::new(),
            rollout: None,
        };
        found.insert(configuration.target.flag.id, configuration);
    }
    for rule in store::rules::of_flags(tx, flags, environment).await? {
        if let Some(configuration) = found.get_mut(&rule.flag_id) {
            configuration.rules.push(rule);
        }
    }
    for rollout in store::rollouts::of_flags(tx, flags, environment).await? {
        if let Some(configuration) = found.get_mut(&rollout.flag_id) {
            configuration.rollout = Some(rollout);
        }
    }
    Ok(found)
}

/// Returns a flag in an environment like [`find_with_targeting`], even if the flag has left the environment, and
/// whether it has.
pub(super) async fn find_even_hidden(
    tx: &mut Tx,
    id: FlagEnvironmentId,
) -> Result<(FlagConfiguration, bool), Error> {
    match store::configurations::find_even_hidden(tx, id).await? {
        Some((target, is_hidden)) => Ok((with_targeting(tx, target).await?, is_hidden)),
        None => Err(missing(tx, id).await),
    }
}

async fn with_targeting(tx: &mut Tx, target: FlagEnvironment) -> Result<FlagConfiguration, Error> {
    let FlagEnvironmentId { flag, environment } = target.id();
    Ok(FlagConfiguration {
        rules: store::rules::list(tx, flag, environment).await?,
        rollout: store::rollouts::find(tx, flag, environment).await?,
        target,
    })
}

/// A flag in an environment, and another environment. Only the former is checked.
impl Existence<AnyEditor> for (FlagEnvironmentId, EnvironmentId) {
    async fn check(&self, admin: &Admin, actor: &AnyEditor) -> Result<(), Error> {
        self.0.check(admin, actor).await
    }
}

impl Existence<AnyEditor> for FlagEnvironmentId {
    async fn check(&self, admin: &Admin, actor: &AnyEditor) -> Result<(), Error> {
        let target = find(&mut admin.db.read().await?, *self).await?;
        actor.of(&target.environment).map(drop)
    }
}

impl Existence for FlagEnvironmentId {
    async fn check(&self, admin: &Admin, _actor: &Actor) -> Result<(), Error> {
        find(&mut admin.db.read().await?, *self).await.map(drop)
    }
}

/// Returns the cell of a flag and an environment in the flag list.
pub(crate) async fn cell(
    admin: &Admin,
    _actor: &Actor,
    id: FlagEnvironmentId,
) -> Result<FlagCell, Error> {
    let mut tx = admin.db.read().await?;
    let mut cells = store::configurations::cells(&mut tx, &[id.flag]).await?;
    cells
        .remove(&(id.flag, id.environment))
        .ok_or(Error::NotFound(Entity::Configuration))
}
