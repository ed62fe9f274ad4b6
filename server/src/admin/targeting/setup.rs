//! How a flag is set up in an environment, taken as a whole: told apart from how it should be, and brought there.

use pennon_core::FlagConfig;
use pennon_core::rollout::Rollout;
use pennon_core::rule::{MAX_RULES, Rule};
use pennon_model::audit::AuditAction;
use pennon_model::configuration::{
    Configuration, ConfigurationDiff, Difference, PairId, Part, Switch,
};
use pennon_model::environment::Environment;
use pennon_model::flag::Flag;
use pennon_model::id::{EnvironmentId, RuleId};
use pennon_model::targeting::{FlagRollout, TargetingRule};
use serde::Serialize;

use super::{Pair, commit, configuration, rollout, rules, touch};
use crate::admin::Admin;
use crate::admin::changes::Change;
use crate::admin::precondition::Precondition;
use crate::auth::actor::{Actor, Editor};
use crate::error::{Conflict, Error};
use crate::store::{self, Tx};

/// How a flag is set up in an environment: what can be carried from one to another. By default it is as in a new pair.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Setup {
    #[serde(flatten)]
    pub(crate) switch: Switch,
    pub(crate) rules: Vec<Rule>,
    pub(crate) rollout: Option<Rollout>,
}

/// How a flag is set up, with what the database knows beside it.
pub(in crate::admin) struct Standing {
    pub(super) pair: Pair,
    pub(super) rules: Vec<TargetingRule>,
    pub(super) rollout: Option<FlagRollout>,
}

/// How a flag is to be set up, where rules may be those that it has already.
pub(in crate::admin) struct DesiredConfiguration {
    pub(in crate::admin) switch: Switch,
    /// Each with the id of the rule whose place it takes, if there is one.
    pub(in crate::admin) rules: Vec<(Option<RuleId>, Rule)>,
    pub(in crate::admin) rollout: Option<Rollout>,
}

/// One change on the way from one set-up to another.
pub(in crate::admin) enum Step {
    Switch(Switch),
    DeleteRule(TargetingRule),
    ReplaceRule(TargetingRule, Rule),
    CreateRule(Rule),
    SetRollout(Rollout),
    DeleteRollout(FlagRollout),
}

/// What a caller has seen of the two environments of a copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenOfCopy {
    pub(crate) from: Precondition,
    pub(crate) to: Precondition,
}

/// Sets a flag up in one environment as it is in another; if it is a dry run, it only tells what differs.
pub(crate) async fn copy(
    admin: &Admin,
    actor: &Editor,
    to: PairId,
    from: EnvironmentId,
    seen: &SeenOfCopy,
    dry_run: bool,
) -> Result<ConfigurationDiff, Error> {
    let mut tx = if dry_run {
        admin.db.read().await?
    } else {
        admin.db.write().await?
    };
    let from = PairId {
        environment: from,
        ..to
    };
    let pair = Pair::find_writable(&mut tx, to).await?;
    let source = Pair::find(&mut tx, from).await?;
    let revisions = (
        source.revision(&mut tx).await?,
        pair.revision(&mut tx).await?,
    );
    seen.from.check(revisions.0)?;
    seen.to.check(revisions.1)?;
    let wanted = Standing::of(&mut tx, source).await?.setup();
    let standing = Standing::of(&mut tx, pair).await?;
    let differences = if dry_run {
        standing.differences(&standing.steps_to(&wanted))
    } else {
        let steps = standing.steps_to(&wanted);
        let differences = standing.differences(&steps);
        standing.reach(admin, &mut tx, actor, steps).await?;
        differences
    };
    if !dry_run && !differences.is_empty() {
        commit(admin, tx, to).await?;
    }
    Ok(ConfigurationDiff {
        differences,
        from: revisions.0,
        to: revisions.1,
    })
}

/// Sets a flag up in another way, within a transaction, and answers what that changed.
pub(in crate::admin) async fn apply(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    id: PairId,
    wanted: &DesiredConfiguration,
) -> Result<Option<Change>, Error> {
    if wanted.rules.len() > MAX_RULES {
        return Err(Conflict::TooManyRules.into());
    }
    let pair = Pair::find_writable(tx, id).await?;
    let standing = Standing::of(tx, pair).await?;
    let steps = standing.steps_to_desired(wanted);
    if steps.is_empty() {
        return Ok(None);
    }
    standing.reach(admin, tx, actor, steps).await?;
    touch(tx, id).await.map(Some)
}

impl Standing {
    /// A flag in an environment with all that belongs to it; the rules by ascending priority.
    pub(in crate::admin) fn new(
        flag: Flag,
        environment: Environment,
        configuration: Configuration,
        rules: Vec<TargetingRule>,
        rollout: Option<FlagRollout>,
    ) -> Self {
        let pair = Pair {
            flag,
            environment,
            configuration,
        };
        Self {
            pair,
            rules,
            rollout,
        }
    }

    /// A flag in an environment as the database has it.
    pub(in crate::admin) async fn find(tx: &mut Tx, id: PairId) -> Result<Self, Error> {
        let pair = Pair::find(tx, id).await?;
        Self::of(tx, pair).await
    }

    /// Takes steps, within a transaction.
    async fn reach(
        &self,
        admin: &Admin,
        tx: &mut Tx,
        actor: &Actor,
        steps: Vec<Step>,
    ) -> Result<(), Error> {
        // Rules that go or move make room for others first.
        for step in &steps {
            match step {
                Step::DeleteRule(old) => store::rules::set_aside(tx, old.id).await?,
                Step::ReplaceRule(old, new) if old.rule.priority != new.priority => {
                    store::rules::set_aside(tx, old.id).await?;
                }
                _ => {}
            }
        }
        for step in steps {
            self.take(admin, tx, actor, step).await?;
        }
        Ok(())
    }

    /// The flag in the environment.
    pub(in crate::admin) fn id(&self) -> PairId {
        self.pair.id()
    }

    /// The flag, and the environment.
    pub(in crate::admin) fn about(&self) -> (&Flag, &Environment) {
        (&self.pair.flag, &self.pair.environment)
    }

    /// How it is set up now.
    pub(in crate::admin) fn desired(&self) -> DesiredConfiguration {
        let rules = self.rules.iter();
        DesiredConfiguration {
            switch: self.switch(),
            rules: rules.map(|old| (Some(old.id), old.rule.clone())).collect(),
            rollout: self.rollout.as_ref().map(|rollout| rollout.rollout),
        }
    }

    /// The flag's entry of the config document if it had this configuration.
    pub(in crate::admin) fn config(&self, desired: &DesiredConfiguration) -> FlagConfig {
        let rules = desired.rules.iter();
        FlagConfig {
            key: self.pair.flag.key.as_str().into(),
            archived: self.pair.flag.archived_at.is_some(),
            enabled: desired.switch.is_enabled,
            rules: rules.map(|(_, rule)| rule.clone()).collect(),
            rollout: desired.rollout,
            ttl: desired.switch.ttl,
        }
    }

    async fn of(tx: &mut Tx, pair: Pair) -> Result<Self, Error> {
        Ok(Self {
            rules: rules::list(tx, &pair).await?,
            rollout: rollout::find(tx, &pair).await?,
            pair,
        })
    }

    fn switch(&self) -> Switch {
        Switch {
            is_enabled: self.pair.configuration.is_enabled,
            ttl: self.pair.configuration.ttl,
        }
    }

    /// The set-up alone.
    pub(in crate::admin) fn setup(self) -> Setup {
        Setup {
            switch: self.switch(),
            rules: self.rules.into_iter().map(|rule| rule.rule).collect(),
            rollout: self.rollout.map(|rollout| rollout.rollout),
        }
    }

    /// The changes that lead to another set-up. A rule takes the place of the one that has its priority, which keeps its
    /// id.
    pub(super) fn steps_to(&self, wanted: &Setup) -> Vec<Step> {
        let in_place = |new: &Rule| {
            let mut old = self.rules.iter();
            let old = old.find(|old| old.rule.priority == new.priority);
            (old.map(|old| old.id), new.clone())
        };
        self.steps_to_desired(&DesiredConfiguration {
            switch: wanted.switch,
            rules: wanted.rules.iter().map(in_place).collect(),
            rollout: wanted.rollout,
        })
    }

    /// The changes that lead to a desired.
    pub(in crate::admin) fn steps_to_desired(&self, wanted: &DesiredConfiguration) -> Vec<Step> {
        let switch = (self.switch() != wanted.switch).then_some(Step::Switch(wanted.switch));
        let of_old = self.rules.iter().filter_map(|old| {
            let mut new = wanted.rules.iter();
            match new.find(|(id, _)| *id == Some(old.id)) {
                None => Some(Step::DeleteRule(old.clone())),
                Some((_, new)) if *new == old.rule => None,
                Some((_, new)) => Some(Step::ReplaceRule(old.clone(), new.clone())),
            }
        });
        let is_new = |(id, _): &&(Option<RuleId>, Rule)| {
            let mut old = self.rules.iter();
            old.all(|old| Some(old.id) != *id)
        };
        let of_new = wanted.rules.iter().filter(is_new);
        let of_new = of_new.map(|(_, rule)| rule.clone());
        let rollout = match (&self.rollout, wanted.rollout) {
            (Some(old), None) => Some(Step::DeleteRollout(old.clone())),
            (old, Some(new)) if old.as_ref().map(|old| old.rollout) != Some(new) => {
                Some(Step::SetRollout(new))
            }
            _ => None,
        };
        let steps = switch.into_iter().chain(of_old);
        steps
            .chain(of_new.map(Step::CreateRule))
            .chain(rollout)
            .collect()
    }

    pub(in crate::admin) fn differences(&self, steps: &[Step]) -> Vec<Difference> {
        steps.iter().map(|step| self.difference(step)).collect()
    }

    fn difference(&self, step: &Step) -> Difference {
        let of = |action, old_value, new_value| Difference {
            action,
            rule_id: None,
            old_value,
            new_value,
        };
        let of_rule = |rule: &TargetingRule, action, new_value| Difference {
            rule_id: Some(rule.id),
            ..of(action, Some(Part::Rule(rule.rule.clone())), new_value)
        };
        match step {
            Step::Switch(new) => of(
                AuditAction::FlagEnvironmentUpdated,
                Some(Part::Switch(self.switch())),
                Some(Part::Switch(*new)),
            ),
            Step::DeleteRule(old) => of_rule(old, AuditAction::RuleDeleted, None),
            Step::ReplaceRule(old, new) => {
                of_rule(old, AuditAction::RuleUpdated, Some(Part::Rule(new.clone())))
            }
            Step::CreateRule(new) => of(
                AuditAction::RuleCreated,
                None,
                Some(Part::Rule(new.clone())),
            ),
            Step::SetRollout(new) => of(
                AuditAction::RolloutConfigured,
                self.rollout.as_ref().map(|old| Part::Rollout(old.rollout)),
                Some(Part::Rollout(*new)),
            ),
            Step::DeleteRollout(old) => of(
                AuditAction::RolloutDeleted,
                Some(Part::Rollout(old.rollout)),
                None,
            ),
        }
    }

    /// Takes a step: writes the change and its audit entry.
    async fn take(
        &self,
        admin: &Admin,
        tx: &mut Tx,
        actor: &Actor,
        step: Step,
    ) -> Result<(), Error> {
        let pair = &self.pair;
        match step {
            Step::Switch(Switch { is_enabled, ttl }) => {
                configuration::update(admin, tx, actor, pair, is_enabled, ttl)
                    .await
                    .map(drop)
            }
            Step::DeleteRule(old) => rules::delete(admin, tx, actor, pair, &old).await,
            Step::ReplaceRule(old, new) => rules::update(admin, tx, actor, pair, &old, new)
                .await
                .map(drop),
            Step::CreateRule(new) => rules::insert(admin, tx, actor, pair, new).await.map(drop),
            Step::SetRollout(new) => {
                let old = self.rollout.as_ref();
                rollout::upsert(admin, tx, actor, pair, old, new)
                    .await
                    .map(drop)
            }
            Step::DeleteRollout(old) => rollout::delete(admin, tx, actor, pair, &old).await,
        }
    }
}
