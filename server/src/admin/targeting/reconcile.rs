//! Whole flag configurations: comparing the current one with the desired one, and applying the difference.

use pennon_core::FlagConfig;
use pennon_core::rollout::Rollout;
use pennon_core::rule::{MAX_RULES, Rule};
use pennon_model::configuration::{
    ConfigurationDiff, ConfigurationPart, FlagConfiguration, FlagEnvironmentId, Switch,
};
use pennon_model::flag::FlagKey;
use pennon_model::id::{EnvironmentId, FlagId, RuleId};
use pennon_model::targeting::{TargetingRule, make_room_at_end};
use serde::Serialize;

use super::step::{Step, apply_steps, commit, differences};
use super::{
    check_writable, configuration, find, find_all_with_targeting, find_writable, rollout, rules,
    with_targeting,
};
use crate::admin::Admin;
use crate::admin::changes::{self, EnvironmentChange};
use crate::admin::patch::Patch;
use crate::admin::precondition::Precondition;
use crate::auth::authority::AnyEditor;
use crate::error::{Conflict, Entity, Error};
use crate::store::{self, Tx};

/// The part of a flag configuration that can be copied to another environment. The default is that of a new flag.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ConfigurationContent {
    #[serde(flatten)]
    pub(crate) switch: Switch,
    pub(crate) rules: Vec<Rule>,
    pub(crate) rollout: Option<Rollout>,
}

impl From<FlagConfiguration> for ConfigurationContent {
    fn from(whole: FlagConfiguration) -> Self {
        Self {
            switch: whole.target.configuration.switch(),
            rules: whole.rules.into_iter().map(|rule| rule.rule).collect(),
            rollout: whole.rollout.map(|rollout| rollout.rollout),
        }
    }
}

impl ConfigurationContent {
    /// Returns the entry of a flag with this configuration in the config document. Its rules are in order of priority.
    pub(in crate::admin) fn config(mut self, key: &FlagKey, archived: bool) -> FlagConfig {
        self.rules.sort_by_key(|rule| rule.priority);
        FlagConfig {
            key: key.as_str().into(),
            archived,
            enabled: self.switch.is_enabled,
            rules: self.rules,
            rollout: self.rollout,
            ttl: self.switch.ttl,
        }
    }

    /// Returns the configuration with a part of another one.
    fn with_part_of(self, other: Self, part: ConfigurationPart) -> Self {
        match part {
            ConfigurationPart::Switch => Self {
                switch: Switch {
                    is_enabled: other.switch.is_enabled,
                    ..self.switch
                },
                ..self
            },
            ConfigurationPart::Ttl => Self {
                switch: Switch {
                    ttl: other.switch.ttl,
                    ..self.switch
                },
                ..self
            },
            ConfigurationPart::Rules => Self {
                rules: other.rules,
                ..self
            },
            ConfigurationPart::Rollout => Self {
                rollout: other.rollout,
                ..self
            },
        }
    }
}

/// The desired configuration of a flag. It may contain existing rules.
#[derive(Clone)]
pub(in crate::admin) struct DesiredConfiguration {
    pub(in crate::admin) switch: Switch,
    /// The rules, each with the ID of the existing rule that it replaces, if any.
    pub(in crate::admin) rules: Vec<(Option<RuleId>, Rule)>,
    pub(in crate::admin) rollout: Option<Rollout>,
}

impl DesiredConfiguration {
    /// Returns the current configuration as the desired one.
    pub(in crate::admin) fn of(current: &FlagConfiguration) -> Self {
        let rules = current.rules.iter();
        Self {
            switch: current.target.configuration.switch(),
            rules: rules.map(|old| (Some(old.id), old.rule.clone())).collect(),
            rollout: current.rollout.as_ref().map(|rollout| rollout.rollout),
        }
    }

    /// Returns the flag's entry in the config document for this configuration.
    pub(in crate::admin) fn config(&self, current: &FlagConfiguration) -> FlagConfig {
        let content = ConfigurationContent {
            switch: self.switch,
            rules: self.rules.iter().map(|(_, rule)| rule.clone()).collect(),
            rollout: self.rollout,
        };
        let flag = &current.target.flag;
        content.config(&flag.key, flag.archived_at.is_some())
    }
}

/// The expected revisions of the two environments of a copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct CopyPreconditions {
    pub(crate) from: Precondition,
    pub(crate) to: Precondition,
}

/// Copies a flag's configuration, or a part of it, from one environment to another, and returns the differences. A dry
/// run changes nothing.
pub(crate) async fn copy(
    admin: &Admin,
    actor: &AnyEditor,
    to: FlagEnvironmentId,
    from: EnvironmentId,
    part: Option<ConfigurationPart>,
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
    let (target, actor) = find_writable(&mut tx, actor, to).await?;
    let source = find(&mut tx, from).await?;
    let from = source.configuration.config_revision;
    let to = target.configuration.config_revision;
    preconditions.from.check(from)?;
    preconditions.to.check(to)?;
    let source: ConfigurationContent = with_targeting(&mut tx, source).await?.into();
    let current = with_targeting(&mut tx, target).await?;
    let wanted = match part {
        None => source,
        Some(part) => ConfigurationContent::from(current.clone()).with_part_of(source, part),
    };
    let steps = steps_to_content(admin, &current, &wanted);
    let target = &current.target;
    let differences = differences(target, &steps);
    if !dry_run && !steps.is_empty() {
        commit(admin, tx, &actor, target, steps).await?;
    }
    Ok(ConfigurationDiff {
        differences,
        from,
        to,
    })
}

/// Adds a rule after all others, and changes the rollout of a flag in an environment, as one action. The priority of
/// the rule is ignored. Returns the rules, of which the new one is the last.
pub(crate) async fn extend_targeting(
    admin: &Admin,
    actor: &AnyEditor,
    id: FlagEnvironmentId,
    precondition: &Precondition,
    rule: Option<Rule>,
    rollout: Patch<Rollout>,
) -> Result<Vec<TargetingRule>, Error> {
    let mut tx = admin.db.write().await?;
    let (target, _) = find_writable(&mut tx, actor, id).await?;
    precondition.check(target.configuration.config_revision)?;
    let current = with_targeting(&mut tx, target).await?;
    let mut wanted = DesiredConfiguration::of(&current);
    if let Some(rule) = rule {
        let priority = make_room_at_end(wanted.rules.iter_mut().map(|(_, rule)| rule));
        wanted.rules.push((None, Rule { priority, ..rule }));
    }
    wanted.rollout = rollout.applied_to(wanted.rollout);
    let pair = [(&current, &wanted)];
    let change = apply_to(admin, &mut tx, actor, id.environment, &pair).await?;
    let rules = store::rules::list(&mut tx, id.flag, id.environment).await?;
    if let Some(change) = change {
        changes::commit(admin, tx, actor, vec![change]).await?;
    }
    Ok(rules)
}

/// Applies desired configurations of flags in one environment, within a transaction, and returns the change to publish,
/// if there is one.
pub(in crate::admin) async fn apply(
    admin: &Admin,
    tx: &mut Tx,
    actor: &AnyEditor,
    desired: &[(FlagEnvironmentId, &DesiredConfiguration)],
) -> Result<Option<EnvironmentChange>, Error> {
    let Some((FlagEnvironmentId { environment, .. }, _)) = desired.first() else {
        return Ok(None);
    };
    let flags: Vec<FlagId> = desired.iter().map(|(id, _)| id.flag).collect();
    let current = find_all_with_targeting(tx, &flags, *environment).await?;
    let mut pairs = Vec::new();
    for (id, wanted) in desired {
        let current = current.get(&id.flag);
        let current = current.ok_or(Error::NotFound(Entity::Configuration))?;
        pairs.push((current, *wanted));
    }
    apply_to(admin, tx, actor, *environment, &pairs).await
}

/// Applies desired configurations like [`apply`], in place of the current ones, which the transaction has read.
async fn apply_to(
    admin: &Admin,
    tx: &mut Tx,
    actor: &AnyEditor,
    environment: EnvironmentId,
    flags: &[(&FlagConfiguration, &DesiredConfiguration)],
) -> Result<Option<EnvironmentChange>, Error> {
    let mut editor = None;
    let mut changed = Vec::new();
    for (current, wanted) in flags {
        let steps = steps_to(admin, current, wanted);
        if steps.is_empty() {
            continue;
        }
        editor = Some(check_writable(actor, &current.target)?);
        if wanted.rules.len() > MAX_RULES {
            return Err(Conflict::TooManyRules.into());
        }
        changed.push((&current.target, steps));
    }
    match editor {
        None => Ok(None),
        Some(editor) => apply_steps(admin, tx, &editor, environment, &changed)
            .await
            .map(Some),
    }
}

/// Returns the steps to another configuration. A rule replaces the one with the same priority, and keeps its ID.
pub(in crate::admin) fn steps_to_content(
    admin: &Admin,
    current: &FlagConfiguration,
    wanted: &ConfigurationContent,
) -> Vec<Step> {
    let in_place = |new: &Rule| {
        let mut old = current.rules.iter();
        let old = old.find(|old| old.rule.priority == new.priority);
        (old.map(|old| old.id), new.clone())
    };
    let wanted = DesiredConfiguration {
        switch: wanted.switch,
        rules: wanted.rules.iter().map(in_place).collect(),
        rollout: wanted.rollout,
    };
    steps_to(admin, current, &wanted)
}

/// Returns the steps to a desired flag configuration.
pub(in crate::admin) fn steps_to(
    admin: &Admin,
    current: &FlagConfiguration,
    wanted: &DesiredConfiguration,
) -> Vec<Step> {
    let mut steps = Vec::new();
    let configuration = &current.target.configuration;
    if configuration.switch() != wanted.switch {
        let new = configuration::switched(configuration, wanted.switch);
        steps.push(Step::Configure(new));
    }
    for old in &current.rules {
        let mut new = wanted.rules.iter();
        let old = old.clone();
        match new.find(|(id, _)| *id == Some(old.id)) {
            None => steps.push(Step::DeleteRule(old)),
            Some((_, new)) if *new == old.rule => {}
            Some((_, new)) => {
                let new = rules::replaced(admin, &old, new.clone());
                steps.push(Step::ReplaceRule { old, new });
            }
        }
    }
    let id = current.target.id();
    for (old_id, new) in &wanted.rules {
        if !current.rules.iter().any(|old| Some(old.id) == *old_id) {
            let new = rules::created(admin, id, new.clone());
            steps.push(Step::CreateRule(new));
        }
    }
    let old = current.rollout.clone();
    match (old, wanted.rollout) {
        (Some(old), None) => steps.push(Step::DeleteRollout(old)),
        (old, Some(new)) if old.as_ref().map(|old| old.rollout) != Some(new) => {
            let new = rollout::changed(admin, id, old.as_ref(), new);
            steps.push(Step::SetRollout { old, new });
        }
        _ => {}
    }
    steps
}
