//! The targeting rules of a flag in an environment.

use pennon_core::rule::{MAX_RULES, Rule};
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::id::RuleId;
use pennon_model::targeting::TargetingRule;

use super::step::{Step, apply_steps, commit};
use super::{find, find_writable};
use crate::admin::precondition::Precondition;
use crate::admin::{Admin, Existence, changes};
use crate::auth::actor::Actor;
use crate::auth::authority::AnyEditor;
use crate::error::{Conflict, Entity, Error};
use crate::store::{self, Tx};

/// All rules of a flag in an environment, by ascending priority, and the revision of its configuration there.
pub(crate) struct Rules {
    pub(crate) rules: Vec<TargetingRule>,
    pub(crate) revision: i64,
}

/// Returns the rules of a flag in an environment.
pub(crate) async fn rules(
    admin: &Admin,
    _actor: &Actor,
    id: FlagEnvironmentId,
) -> Result<Rules, Error> {
    let mut tx = admin.db.read().await?;
    let target = find(&mut tx, id).await?;
    Ok(Rules {
        rules: store::rules::list(&mut tx, id.flag, id.environment).await?,
        revision: target.configuration.config_revision,
    })
}

/// Returns a rule.
pub(crate) async fn rule(
    admin: &Admin,
    _actor: &Actor,
    id: RuleId,
) -> Result<TargetingRule, Error> {
    find_rule(&mut admin.db.read().await?, id).await
}

/// Adds a rule to a flag in an environment.
pub(crate) async fn create_rule(
    admin: &Admin,
    actor: &AnyEditor,
    id: FlagEnvironmentId,
    precondition: &Precondition,
    rule: Rule,
) -> Result<TargetingRule, Error> {
    let mut tx = admin.db.write().await?;
    let (target, actor) = find_writable(&mut tx, actor, id).await?;
    precondition.check(target.configuration.config_revision)?;
    let count = store::rules::count(&mut tx, id.flag, id.environment).await?;
    if usize::try_from(count).unwrap_or(usize::MAX) >= MAX_RULES {
        return Err(Conflict::TooManyRules.into());
    }
    let rule = created(admin, id, rule);
    let step = Step::CreateRule(rule.clone());
    commit(admin, tx, &actor, &target, vec![step]).await?;
    Ok(rule)
}

impl Existence<AnyEditor> for RuleId {
    async fn check(&self, admin: &Admin, actor: &AnyEditor) -> Result<(), Error> {
        let rule = find_rule(&mut admin.db.read().await?, *self).await?;
        FlagEnvironmentId::of(&rule).check(admin, actor).await
    }
}

/// Replaces a rule.
pub(crate) async fn replace_rule(
    admin: &Admin,
    actor: &AnyEditor,
    id: RuleId,
    precondition: &Precondition,
    rule: Rule,
) -> Result<TargetingRule, Error> {
    let mut tx = admin.db.write().await?;
    let old = find_rule(&mut tx, id).await?;
    let of = FlagEnvironmentId::of(&old);
    let (target, actor) = find_writable(&mut tx, actor, of).await?;
    precondition.check(old.revision)?;
    if old.rule == rule {
        return Ok(old);
    }
    let new = replaced(admin, &old, rule);
    let step = Step::ReplaceRule {
        old,
        new: new.clone(),
    };
    commit(admin, tx, &actor, &target, vec![step]).await?;
    Ok(new)
}

/// Deletes a rule.
pub(crate) async fn delete_rule(
    admin: &Admin,
    actor: &AnyEditor,
    id: RuleId,
    precondition: &Precondition,
) -> Result<(), Error> {
    let mut tx = admin.db.write().await?;
    let old = find_rule(&mut tx, id).await?;
    let of = FlagEnvironmentId::of(&old);
    let (target, actor) = find_writable(&mut tx, actor, of).await?;
    precondition.check(old.revision)?;
    let step = Step::DeleteRule(old);
    commit(admin, tx, &actor, &target, vec![step])
        .await
        .map(drop)
}

/// Reorders the rules of a flag in an environment by reassigning the existing priorities.
pub(crate) async fn reorder_rules(
    admin: &Admin,
    actor: &AnyEditor,
    id: FlagEnvironmentId,
    precondition: &Precondition,
    order: &[RuleId],
) -> Result<Rules, Error> {
    let mut tx = admin.db.write().await?;
    let (target, actor) = find_writable(&mut tx, actor, id).await?;
    let revision = target.configuration.config_revision;
    precondition.check(revision)?;
    let rules = store::rules::list(&mut tx, id.flag, id.environment).await?;
    let moves = moves(admin, &rules, order)?;
    if moves.is_empty() {
        return Ok(Rules { rules, revision });
    }
    let flags = [(&target, moves)];
    let change = apply_steps(admin, &mut tx, &actor, id.environment, &flags).await?;
    let rules = store::rules::list(&mut tx, id.flag, id.environment).await?;
    let revision = change.revision;
    changes::commit(admin, tx, &actor, vec![change]).await?;
    Ok(Rules { rules, revision })
}

/// Returns the steps that put `rules`, given by ascending priority, into this order.
fn moves(admin: &Admin, rules: &[TargetingRule], order: &[RuleId]) -> Result<Vec<Step>, Conflict> {
    let mut left: Vec<&TargetingRule> = rules.iter().collect();
    let mut moves = Vec::new();
    for (id, place) in order.iter().zip(rules) {
        let index = left.iter().position(|rule| rule.id == *id);
        let rule = left.swap_remove(index.ok_or(Conflict::RulesDiffer)?);
        if rule.id != place.id {
            let rule_there = Rule {
                priority: place.rule.priority,
                ..rule.rule.clone()
            };
            moves.push(Step::ReplaceRule {
                old: rule.clone(),
                new: replaced(admin, rule, rule_there),
            });
        }
    }
    if order.len() == rules.len() {
        Ok(moves)
    } else {
        Err(Conflict::RulesDiffer)
    }
}

async fn find_rule(tx: &mut Tx, id: RuleId) -> Result<TargetingRule, Error> {
    store::rules::find(tx, id)
        .await?
        .ok_or(Error::NotFound(Entity::Rule))
}

/// Builds a new rule. The caller stores it.
pub(super) fn created(admin: &Admin, id: FlagEnvironmentId, rule: Rule) -> TargetingRule {
    let now = admin.clock.now();
    TargetingRule {
        id: RuleId::new(admin.entropy.id(now)),
        flag_id: id.flag,
        environment_id: id.environment,
        rule,
        created_at: now,
        updated_at: now,
        revision: 1,
    }
}

/// Returns the record of a rule after its replacement.
pub(super) fn replaced(admin: &Admin, old: &TargetingRule, rule: Rule) -> TargetingRule {
    TargetingRule {
        rule,
        updated_at: admin.clock.now(),
        revision: old.revision + 1,
        ..old.clone()
    }
}
