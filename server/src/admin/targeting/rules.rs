//! The targeting rules of a flag in an environment.

use pennon_core::rule::{MAX_RULES, Rule};
use pennon_model::audit::AuditAction;
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::id::RuleId;
use pennon_model::targeting::TargetingRule;

use super::{FlagEnvironment, commit};
use crate::admin::precondition::Precondition;
use crate::admin::{Admin, Existence, audit};
use crate::auth::actor::{Actor, Editor};
use crate::error::{Conflict, Entity, Error};
use crate::store::{self, Tx};

/// All rules of a pair, by ascending priority, and the pair's revision.
pub(crate) struct Rules {
    pub(crate) rules: Vec<TargetingRule>,
    pub(crate) revision: i64,
}

/// The rules of a flag in an environment.
pub(crate) async fn rules(
    admin: &Admin,
    _actor: &Actor,
    id: FlagEnvironmentId,
) -> Result<Rules, Error> {
    let mut tx = admin.db.read().await?;
    let target = FlagEnvironment::find(&mut tx, id).await?;
    Ok(Rules {
        rules: list(&mut tx, &target).await?,
        revision: target.revision(&mut tx).await?,
    })
}

/// Adds a rule to a flag in an environment.
pub(crate) async fn create_rule(
    admin: &Admin,
    actor: &Editor,
    id: FlagEnvironmentId,
    precondition: &Precondition,
    rule: Rule,
) -> Result<TargetingRule, Error> {
    let mut tx = admin.db.write().await?;
    let target = FlagEnvironment::find_writable(&mut tx, id).await?;
    precondition.check(target.revision(&mut tx).await?)?;
    let count = store::rules::count(&mut tx, id.flag, id.environment).await?;
    if usize::try_from(count).unwrap_or(usize::MAX) >= MAX_RULES {
        return Err(Conflict::TooManyRules.into());
    }
    let rule = insert(admin, &mut tx, actor, &target, rule).await?;
    commit(admin, tx, id).await?;
    Ok(rule)
}

impl Existence for RuleId {
    async fn check(&self, admin: &Admin, _actor: &Actor) -> Result<(), Error> {
        find(&mut admin.db.read().await?, *self).await.map(drop)
    }
}

/// Puts another rule in the place of one.
pub(crate) async fn replace_rule(
    admin: &Admin,
    actor: &Editor,
    id: RuleId,
    precondition: &Precondition,
    rule: Rule,
) -> Result<TargetingRule, Error> {
    let mut tx = admin.db.write().await?;
    let old = find(&mut tx, id).await?;
    precondition.check(old.revision)?;
    let target = FlagEnvironment::find_writable(&mut tx, FlagEnvironmentId::of(&old)).await?;
    if old.rule == rule {
        return Ok(old);
    }
    let new = update(admin, &mut tx, actor, &target, &old, rule).await?;
    commit(admin, tx, target.id()).await?;
    Ok(new)
}

/// Deletes a rule.
pub(crate) async fn delete_rule(
    admin: &Admin,
    actor: &Editor,
    id: RuleId,
    precondition: &Precondition,
) -> Result<(), Error> {
    let mut tx = admin.db.write().await?;
    let old = find(&mut tx, id).await?;
    precondition.check(old.revision)?;
    let target = FlagEnvironment::find_writable(&mut tx, FlagEnvironmentId::of(&old)).await?;
    delete(admin, &mut tx, actor, &target, &old).await?;
    commit(admin, tx, target.id()).await.map(drop)
}

/// Brings the rules of a flag in an environment into another order: their priorities stay, and are dealt anew.
pub(crate) async fn reorder_rules(
    admin: &Admin,
    actor: &Editor,
    id: FlagEnvironmentId,
    precondition: &Precondition,
    order: &[RuleId],
) -> Result<Rules, Error> {
    let mut tx = admin.db.write().await?;
    let target = FlagEnvironment::find_writable(&mut tx, id).await?;
    let revision = target.revision(&mut tx).await?;
    precondition.check(revision)?;
    let old = list(&mut tx, &target).await?;
    let moves = moves(&old, order)?;
    if moves.is_empty() {
        let rules = old;
        return Ok(Rules { rules, revision });
    }
    for (rule, _) in &moves {
        store::rules::set_aside(&mut tx, rule.id).await?;
    }
    for (old, new) in moves {
        update(admin, &mut tx, actor, &target, old, new).await?;
    }
    let rules = list(&mut tx, &target).await?;
    let revision = commit(admin, tx, id).await?;
    Ok(Rules { rules, revision })
}

/// The rules that get another priority when `rules`, by ascending priority, are to follow in this order.
fn moves<'a>(
    rules: &'a [TargetingRule],
    order: &[RuleId],
) -> Result<Vec<(&'a TargetingRule, Rule)>, Conflict> {
    let mut left: Vec<&TargetingRule> = rules.iter().collect();
    let mut moves = Vec::new();
    for (id, place) in order.iter().zip(rules) {
        let index = left.iter().position(|rule| rule.id == *id);
        let rule = left.swap_remove(index.ok_or(Conflict::RulesDiffer)?);
        if rule.id != place.id {
            let priority = place.rule.priority;
            let rule_there = Rule {
                priority,
                ..rule.rule.clone()
            };
            moves.push((rule, rule_there));
        }
    }
    if order.len() == rules.len() {
        Ok(moves)
    } else {
        Err(Conflict::RulesDiffer)
    }
}

async fn find(tx: &mut Tx, id: RuleId) -> Result<TargetingRule, Error> {
    store::rules::find(tx, id)
        .await?
        .ok_or(Error::NotFound(Entity::Rule))
}

/// The rules of a pair by ascending priority, within a transaction.
pub(super) async fn list(
    tx: &mut Tx,
    target: &FlagEnvironment,
) -> Result<Vec<TargetingRule>, Error> {
    store::rules::list(tx, target.flag.id, target.environment.id).await
}

/// Adds a rule, within a transaction.
pub(super) async fn insert(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    target: &FlagEnvironment,
    rule: Rule,
) -> Result<TargetingRule, Error> {
    let (rule, entry) = created(admin, target, rule)?;
    store::rules::insert(tx, &rule).await?;
    entry.record(admin, tx, actor).await?;
    Ok(rule)
}

/// A rule that does not exist yet, and the audit entry of its creation.
pub(super) fn created<'a>(
    admin: &Admin,
    target: &'a FlagEnvironment,
    rule: Rule,
) -> Result<(TargetingRule, audit::Entry<'a>), Error> {
    let now = admin.clock.now();
    let rule = TargetingRule {
        id: RuleId::new(admin.entropy.id(now)),
        flag_id: target.flag.id,
        environment_id: target.environment.id,
        rule,
        created_at: now,
        updated_at: now,
        revision: 1,
    };
    let entry = target.entry(AuditAction::RuleCreated).rule(rule.id);
    let entry = entry.to(&rule)?;
    Ok((rule, entry))
}

/// Keeps another rule in the place of one, within a transaction.
pub(super) async fn update(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    target: &FlagEnvironment,
    old: &TargetingRule,
    rule: Rule,
) -> Result<TargetingRule, Error> {
    let (new, entry) = replaced(admin, target, old, rule)?;
    store::rules::update(tx, &new).await?;
    entry.record(admin, tx, actor).await?;
    Ok(new)
}

/// A rule in the place of one, and the audit entry of the change.
pub(super) fn replaced<'a>(
    admin: &Admin,
    target: &'a FlagEnvironment,
    old: &TargetingRule,
    rule: Rule,
) -> Result<(TargetingRule, audit::Entry<'a>), Error> {
    let new = TargetingRule {
        rule,
        updated_at: admin.clock.now(),
        revision: old.revision + 1,
        ..old.clone()
    };
    let entry = target.entry(AuditAction::RuleUpdated).rule(old.id);
    let entry = entry.from(Some(old))?.to(&new)?;
    Ok((new, entry))
}

/// Deletes a rule, within a transaction.
pub(super) async fn delete(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    target: &FlagEnvironment,
    old: &TargetingRule,
) -> Result<(), Error> {
    store::rules::delete(tx, old.id).await?;
    deleted(target, old)?.record(admin, tx, actor).await
}

/// The audit entry of a deletion.
pub(super) fn deleted<'a>(
    target: &'a FlagEnvironment,
    old: &TargetingRule,
) -> Result<audit::Entry<'a>, Error> {
    let entry = target.entry(AuditAction::RuleDeleted).rule(old.id);
    entry.from(Some(old))
}
