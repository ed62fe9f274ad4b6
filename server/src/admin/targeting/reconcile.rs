//! How a flag is set up in an environment, taken as a whole: told apart from how it should be, and brought there.

use pennon_core::FlagConfig;
use pennon_core::rollout::Rollout;
use pennon_core::rule::{MAX_RULES, Rule};
use pennon_model::audit::AuditAction;
use pennon_model::configuration::{
    Configuration, ConfigurationDiff, Difference, FlagEnvironmentId, Part, Switch,
};
use pennon_model::environment::Environment;
use pennon_model::flag::Flag;
use pennon_model::id::{EnvironmentId, RuleId};
use pennon_model::targeting::{FlagRollout, TargetingRule};
use serde::Serialize;

use super::{FlagEnvironment, commit, configuration, rollout, rules, touch};
use crate::admin::Admin;
use crate::admin::changes::EnvironmentChange;
use crate::admin::precondition::Precondition;
use crate::auth::actor::{Actor, Editor};
use crate::error::{Conflict, Error};
use crate::store::{self, Tx};

/// How a flag is set up in an environment: what can be carried from one to another. By default it is as in a new pair.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ConfigurationContent {
    #[serde(flatten)]
    pub(crate) switch: Switch,
    pub(crate) rules: Vec<Rule>,
    pub(crate) rollout: Option<Rollout>,
}

/// How a flag is set up, with what the database knows beside it.
pub(in crate::admin) struct CurrentConfiguration {
    pub(super) target: FlagEnvironment,
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
pub(in crate::admin) enum ConfigurationStep {
    Switch(Switch),
    DeleteRule(TargetingRule),
    ReplaceRule(TargetingRule, Rule),
    CreateRule(Rule),
    SetRollout(Rollout),
    DeleteRollout(FlagRollout),
}

/// What a caller has seen of the two environments of a copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct CopyPreconditions {
    pub(crate) from: Precondition,
    pub(crate) to: Precondition,
}

/// Sets a flag up in one environment as it is in another; if it is a dry run, it only tells what differs.
pub(crate) async fn copy(
    admin: &Admin,
    actor: &Editor,
    to: FlagEnvironmentId,
    from: EnvironmentId,
    preconditions: &CopyPreconditions,
    dry_run: bool,
) -> Result<ConfigurationDiff, Error> {
    let mut tx = if dry_run {
        admin.db.read().await?
    } else {
        admin.db.write().await?
    };
    let from = FlagEnvironmentId {
        environment: from,
        ..to
    };
    let target = FlagEnvironment::find_writable(&mut tx, to).await?;
    let source = FlagEnvironment::find(&mut tx, from).await?;
    let revisions = (
        source.revision(&mut tx).await?,
        target.revision(&mut tx).await?,
    );
    preconditions.from.check(revisions.0)?;
    preconditions.to.check(revisions.1)?;
    let wanted = CurrentConfiguration::of(&mut tx, source).await?.content();
    let current = CurrentConfiguration::of(&mut tx, target).await?;
    let differences = if dry_run {
        current.differences(&current.steps_to(&wanted))
    } else {
        let steps = current.steps_to(&wanted);
        let differences = current.differences(&steps);
        current.reconcile(admin, &mut tx, actor, steps).await?;
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
    id: FlagEnvironmentId,
    wanted: &DesiredConfiguration,
) -> Result<Option<EnvironmentChange>, Error> {
    if wanted.rules.len() > MAX_RULES {
        return Err(Conflict::TooManyRules.into());
    }
    let target = FlagEnvironment::find_writable(tx, id).await?;
    let current = CurrentConfiguration::of(tx, target).await?;
    let steps = current.steps_to_desired(wanted);
    if steps.is_empty() {
        return Ok(None);
    }
    current.reconcile(admin, tx, actor, steps).await?;
    touch(tx, id).await.map(Some)
}

impl CurrentConfiguration {
    /// A flag in an environment with all that belongs to it; the rules by ascending priority.
    pub(in crate::admin) fn new(
        flag: Flag,
        environment: Environment,
        configuration: Configuration,
        rules: Vec<TargetingRule>,
        rollout: Option<FlagRollout>,
    ) -> Self {
        let target = FlagEnvironment {
            flag,
            environment,
            configuration,
        };
        Self {
            target,
            rules,
            rollout,
        }
    }

    /// A flag in an environment as the database has it.
    pub(in crate::admin) async fn find(tx: &mut Tx, id: FlagEnvironmentId) -> Result<Self, Error> {
        let target = FlagEnvironment::find(tx, id).await?;
        Self::of(tx, target).await
    }

    /// Takes steps, within a transaction.
    async fn reconcile(
        &self,
        admin: &Admin,
        tx: &mut Tx,
        actor: &Actor,
        steps: Vec<ConfigurationStep>,
    ) -> Result<(), Error> {
        // Rules that go or move make room for others first.
        for step in &steps {
            match step {
                ConfigurationStep::DeleteRule(old) => store::rules::set_aside(tx, old.id).await?,
                ConfigurationStep::ReplaceRule(old, new) if old.rule.priority != new.priority => {
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
    pub(in crate::admin) fn id(&self) -> FlagEnvironmentId {
        self.target.id()
    }

    /// The flag, and the environment.
    pub(in crate::admin) fn about(&self) -> (&Flag, &Environment) {
        (&self.target.flag, &self.target.environment)
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
            key: self.target.flag.key.as_str().into(),
            archived: self.target.flag.archived_at.is_some(),
            enabled: desired.switch.is_enabled,
            rules: rules.map(|(_, rule)| rule.clone()).collect(),
            rollout: desired.rollout,
            ttl: desired.switch.ttl,
        }
    }

    async fn of(tx: &mut Tx, target: FlagEnvironment) -> Result<Self, Error> {
        Ok(Self {
            rules: rules::list(tx, &target).await?,
            rollout: rollout::find(tx, &target).await?,
            target,
        })
    }

    fn switch(&self) -> Switch {
        Switch {
            is_enabled: self.target.configuration.is_enabled,
            ttl: self.target.configuration.ttl,
        }
    }

    /// The set-up alone.
    pub(in crate::admin) fn content(self) -> ConfigurationContent {
        ConfigurationContent {
            switch: self.switch(),
            rules: self.rules.into_iter().map(|rule| rule.rule).collect(),
            rollout: self.rollout.map(|rollout| rollout.rollout),
        }
    }

    /// The changes that lead to another set-up. A rule takes the place of the one that has its priority, which keeps its
    /// id.
    pub(super) fn steps_to(&self, wanted: &ConfigurationContent) -> Vec<ConfigurationStep> {
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
    pub(in crate::admin) fn steps_to_desired(
        &self,
        wanted: &DesiredConfiguration,
    ) -> Vec<ConfigurationStep> {
        let switch =
            (self.switch() != wanted.switch).then_some(ConfigurationStep::Switch(wanted.switch));
        let of_old = self.rules.iter().filter_map(|old| {
            let mut new = wanted.rules.iter();
            match new.find(|(id, _)| *id == Some(old.id)) {
                None => Some(ConfigurationStep::DeleteRule(old.clone())),
                Some((_, new)) if *new == old.rule => None,
                Some((_, new)) => Some(ConfigurationStep::ReplaceRule(old.clone(), new.clone())),
            }
        });
        let is_new = |(id, _): &&(Option<RuleId>, Rule)| {
            let mut old = self.rules.iter();
            old.all(|old| Some(old.id) != *id)
        };
        let of_new = wanted.rules.iter().filter(is_new);
        let of_new = of_new.map(|(_, rule)| rule.clone());
        let rollout = match (&self.rollout, wanted.rollout) {
            (Some(old), None) => Some(ConfigurationStep::DeleteRollout(old.clone())),
            (old, Some(new)) if old.as_ref().map(|old| old.rollout) != Some(new) => {
                Some(ConfigurationStep::SetRollout(new))
            }
            _ => None,
        };
        let steps = switch.into_iter().chain(of_old);
        steps
            .chain(of_new.map(ConfigurationStep::CreateRule))
            .chain(rollout)
            .collect()
    }

    pub(in crate::admin) fn differences(&self, steps: &[ConfigurationStep]) -> Vec<Difference> {
        steps.iter().map(|step| self.difference(step)).collect()
    }

    fn difference(&self, step: &ConfigurationStep) -> Difference {
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
            ConfigurationStep::Switch(new) => of(
                AuditAction::FlagEnvironmentUpdated,
                Some(Part::Switch(self.switch())),
                Some(Part::Switch(*new)),
            ),
            ConfigurationStep::DeleteRule(old) => of_rule(old, AuditAction::RuleDeleted, None),
            ConfigurationStep::ReplaceRule(old, new) => {
                of_rule(old, AuditAction::RuleUpdated, Some(Part::Rule(new.clone())))
            }
            ConfigurationStep::CreateRule(new) => of(
                AuditAction::RuleCreated,
                None,
                Some(Part::Rule(new.clone())),
            ),
            ConfigurationStep::SetRollout(new) => of(
                AuditAction::RolloutConfigured,
                self.rollout.as_ref().map(|old| Part::Rollout(old.rollout)),
                Some(Part::Rollout(*new)),
            ),
            ConfigurationStep::DeleteRollout(old) => of(
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
        step: ConfigurationStep,
    ) -> Result<(), Error> {
        let target = &self.target;
        match step {
            ConfigurationStep::Switch(Switch { is_enabled, ttl }) => {
                configuration::update(admin, tx, actor, target, is_enabled, ttl)
                    .await
                    .map(drop)
            }
            ConfigurationStep::DeleteRule(old) => {
                rules::delete(admin, tx, actor, target, &old).await
            }
            ConfigurationStep::ReplaceRule(old, new) => {
                rules::update(admin, tx, actor, target, &old, new)
                    .await
                    .map(drop)
            }
            ConfigurationStep::CreateRule(new) => {
                rules::insert(admin, tx, actor, target, new).await.map(drop)
            }
            ConfigurationStep::SetRollout(new) => {
                let old = self.rollout.as_ref();
                rollout::upsert(admin, tx, actor, target, old, new)
                    .await
                    .map(drop)
            }
            ConfigurationStep::DeleteRollout(old) => {
                rollout::delete(admin, tx, actor, target, &old).await
            }
        }
    }
}
