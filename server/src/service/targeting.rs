//! A flag in an environment: its configuration, its targeting rules and its rollout.

use pennon_core::model::audit::AuditAction;
use pennon_core::model::configuration::{Configuration, Ttl};
use pennon_core::model::environment::{Environment, EnvironmentStatus};
use pennon_core::model::flag::Flag;
use pennon_core::model::id::{EnvironmentId, FlagId, RuleId};
use pennon_core::model::rollout::Rollout;
use pennon_core::model::rule::{MAX_RULES, Rule};
use pennon_core::model::targeting::{FlagRollout, TargetingRule};

use super::changes::Change;
use super::patch::Patch;
use super::precondition::Precondition;
use super::{Service, audit, changes, environments, flags};
use crate::auth::actor::{Actor, Editor};
use crate::error::{Conflict, Entity, Error};
use crate::store::{self, Tx};

/// The ids of a flag and an environment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairId {
    pub(crate) flag: FlagId,
    pub(crate) environment: EnvironmentId,
}

impl PairId {
    fn of(rule: &TargetingRule) -> Self {
        Self {
            flag: rule.flag_id,
            environment: rule.environment_id,
        }
    }
}

/// A change of a configuration: what is absent stays as it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConfigurationPatch {
    pub(crate) is_enabled: Option<bool>,
    pub(crate) ttl: Patch<Ttl>,
}

/// A flag in an environment, as it stands.
struct Pair {
    flag: Flag,
    environment: Environment,
    configuration: Configuration,
}

impl Pair {
    async fn find(tx: &mut Tx, id: PairId) -> Result<Self, Error> {
        let flag = flags::find(tx, id.flag).await?;
        let environment = environments::find(tx, id.environment).await?;
        let configuration = store::configurations::find(tx, id.flag, id.environment).await?;
        let configuration = configuration.ok_or(Error::NotFound(Entity::Configuration))?;
        Ok(Self {
            flag,
            environment,
            configuration,
        })
    }

    /// The pair, if it can be changed: neither is the flag archived nor the environment revoked.
    async fn find_writable(tx: &mut Tx, id: PairId) -> Result<Self, Error> {
        let pair = Self::find(tx, id).await?;
        if pair.environment.status == EnvironmentStatus::Revoked {
            return Err(Conflict::EnvironmentRevoked.into());
        }
        if pair.flag.archived_at.is_some() {
            return Err(Conflict::FlagArchived.into());
        }
        Ok(pair)
    }
}

/// Makes sure that the flag is configured in the environment.
pub(crate) async fn check(service: &Service, _actor: &Actor, id: PairId) -> Result<(), Error> {
    Pair::find(&mut service.db.read().await?, id)
        .await
        .map(drop)
}

/// The configuration of a flag in an environment.
pub(crate) async fn configuration(
    service: &Service,
    _actor: &Actor,
    id: PairId,
) -> Result<Configuration, Error> {
    Ok(Pair::find(&mut service.db.read().await?, id)
        .await?
        .configuration)
}

/// Changes the configuration of a flag in an environment, and answers it as it is then.
pub(crate) async fn configure(
    service: &Service,
    actor: &Editor,
    id: PairId,
    precondition: &Precondition,
    patch: ConfigurationPatch,
) -> Result<Configuration, Error> {
    let mut tx = service.db.write().await?;
    let pair = Pair::find_writable(&mut tx, id).await?;
    let old = &pair.configuration;
    precondition.check(old.revision)?;
    let is_enabled = patch.is_enabled.unwrap_or(old.is_enabled);
    let ttl = patch.ttl.applied_to(old.ttl);
    if (is_enabled, ttl) == (old.is_enabled, old.ttl) {
        return Ok(pair.configuration);
    }
    let new = Configuration {
        is_enabled,
        ttl,
        revision: old.revision + 1,
        ..old.clone()
    };
    store::configurations::update(&mut tx, &new).await?;
    audit::Entry::of(AuditAction::FlagEnvironmentUpdated)
        .flag(&pair.flag)
        .environment(&pair.environment)
        .from(Some(old))?
        .to(&new)?
        .record(service, &mut tx, actor)
        .await?;
    commit(service, tx, id).await?;
    Ok(new)
}

/// The rules of a flag in an environment, by ascending priority.
pub(crate) async fn rules(
    service: &Service,
    _actor: &Actor,
    id: PairId,
) -> Result<Vec<TargetingRule>, Error> {
    let mut tx = service.db.read().await?;
    Pair::find(&mut tx, id).await?;
    store::rules::list(&mut tx, id.flag, id.environment).await
}

/// Adds a rule to a flag in an environment.
pub(crate) async fn create_rule(
    service: &Service,
    actor: &Editor,
    id: PairId,
    rule: Rule,
) -> Result<TargetingRule, Error> {
    let mut tx = service.db.write().await?;
    let pair = Pair::find_writable(&mut tx, id).await?;
    let count = store::rules::count(&mut tx, id.flag, id.environment).await?;
    if usize::try_from(count).unwrap_or(usize::MAX) >= MAX_RULES {
        return Err(Conflict::TooManyRules.into());
    }
    let now = service.clock.now();
    let rule = TargetingRule {
        id: RuleId::new(service.entropy.id(now)),
        flag_id: id.flag,
        environment_id: id.environment,
        rule,
        created_at: now,
        updated_at: now,
        revision: 1,
    };
    store::rules::insert(&mut tx, &rule).await?;
    audit::Entry::of(AuditAction::RuleCreated)
        .flag(&pair.flag)
        .environment(&pair.environment)
        .rule(rule.id)
        .to(&rule)?
        .record(service, &mut tx, actor)
        .await?;
    commit(service, tx, id).await?;
    Ok(rule)
}

/// Makes sure that there is a rule.
pub(crate) async fn check_rule(service: &Service, _actor: &Actor, id: RuleId) -> Result<(), Error> {
    find_rule(&mut service.db.read().await?, id).await.map(drop)
}

/// Puts another rule in the place of one.
pub(crate) async fn replace_rule(
    service: &Service,
    actor: &Editor,
    id: RuleId,
    precondition: &Precondition,
    rule: Rule,
) -> Result<TargetingRule, Error> {
    let mut tx = service.db.write().await?;
    let old = find_rule(&mut tx, id).await?;
    precondition.check(old.revision)?;
    let pair = Pair::find_writable(&mut tx, PairId::of(&old)).await?;
    if old.rule == rule {
        return Ok(old);
    }
    let updated_at = service.clock.now();
    let new = TargetingRule {
        rule,
        updated_at,
        revision: old.revision + 1,
        ..old.clone()
    };
    store::rules::update(&mut tx, &new).await?;
    audit::Entry::of(AuditAction::RuleUpdated)
        .flag(&pair.flag)
        .environment(&pair.environment)
        .rule(id)
        .from(Some(&old))?
        .to(&new)?
        .record(service, &mut tx, actor)
        .await?;
    commit(service, tx, PairId::of(&old)).await?;
    Ok(new)
}

/// Deletes a rule.
pub(crate) async fn delete_rule(
    service: &Service,
    actor: &Editor,
    id: RuleId,
    precondition: &Precondition,
) -> Result<(), Error> {
    let mut tx = service.db.write().await?;
    let old = find_rule(&mut tx, id).await?;
    precondition.check(old.revision)?;
    let pair = Pair::find_writable(&mut tx, PairId::of(&old)).await?;
    store::rules::delete(&mut tx, id).await?;
    audit::Entry::of(AuditAction::RuleDeleted)
        .flag(&pair.flag)
        .environment(&pair.environment)
        .rule(id)
        .from(Some(&old))?
        .record(service, &mut tx, actor)
        .await?;
    commit(service, tx, PairId::of(&old)).await
}

async fn find_rule(tx: &mut Tx, id: RuleId) -> Result<TargetingRule, Error> {
    store::rules::find(tx, id)
        .await?
        .ok_or(Error::NotFound(Entity::Rule))
}

/// The rollout of a flag in an environment.
pub(crate) async fn rollout(
    service: &Service,
    _actor: &Actor,
    id: PairId,
) -> Result<FlagRollout, Error> {
    let mut tx = service.db.read().await?;
    Pair::find(&mut tx, id).await?;
    let rollout = store::rollouts::find(&mut tx, id.flag, id.environment).await?;
    rollout.ok_or(Error::NotFound(Entity::Rollout))
}

/// Sets the rollout of a flag in an environment, and tells whether it is the first one.
pub(crate) async fn set_rollout(
    service: &Service,
    actor: &Editor,
    id: PairId,
    precondition: &Precondition,
    rollout: Rollout,
) -> Result<(FlagRollout, Upserted), Error> {
    let mut tx = service.db.write().await?;
    let pair = Pair::find_writable(&mut tx, id).await?;
    let old = store::rollouts::find(&mut tx, id.flag, id.environment).await?;
    match &old {
        Some(old) => precondition.check(old.revision)?,
        None => precondition.check_absent()?,
    }
    if let Some(old) = &old
        && old.rollout == rollout
    {
        return Ok((old.clone(), Upserted::Updated));
    }
    let new = store::rollouts::upsert(
        &mut tx,
        id.flag,
        id.environment,
        rollout,
        service.clock.now(),
    )
    .await?;
    audit::Entry::of(AuditAction::RolloutConfigured)
        .flag(&pair.flag)
        .environment(&pair.environment)
        .from(old.as_ref())?
        .to(&new)?
        .record(service, &mut tx, actor)
        .await?;
    commit(service, tx, id).await?;
    Ok((
        new,
        if old.is_some() {
            Upserted::Updated
        } else {
            Upserted::Inserted
        },
    ))
}

/// Deletes the rollout of a flag in an environment.
pub(crate) async fn delete_rollout(
    service: &Service,
    actor: &Editor,
    id: PairId,
    precondition: &Precondition,
) -> Result<(), Error> {
    let mut tx = service.db.write().await?;
    let pair = Pair::find_writable(&mut tx, id).await?;
    let old = store::rollouts::find(&mut tx, id.flag, id.environment).await?;
    let old = old.ok_or(Error::NotFound(Entity::Rollout))?;
    precondition.check(old.revision)?;
    store::rollouts::delete(&mut tx, id.flag, id.environment).await?;
    audit::Entry::of(AuditAction::RolloutDeleted)
        .flag(&pair.flag)
        .environment(&pair.environment)
        .from(Some(&old))?
        .record(service, &mut tx, actor)
        .await?;
    commit(service, tx, id).await
}

/// What became of something that is set whether or not it was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upserted {
    Inserted,
    Updated,
}

async fn commit(service: &Service, mut tx: Tx, id: PairId) -> Result<(), Error> {
    let revision = store::configurations::touch(&mut tx, id.flag, id.environment).await?;
    let change = Change {
        environment: id.environment,
        flag: Some(id.flag),
        revision,
    };
    changes::commit(service, tx, vec![change]).await
}
