//! The steps that change a flag in an environment, and their execution.

use pennon_model::audit::AuditAction;
use pennon_model::configuration::{Configuration, Difference, FlagEnvironment, Part};
use pennon_model::id::EnvironmentId;
use pennon_model::targeting::{FlagRollout, TargetingRule};

use crate::admin::changes::{self, EnvironmentChange};
use crate::admin::{Admin, audit};
use crate::auth::authority::Editor;
use crate::error::Error;
use crate::store::{self, Tx};

/// One change of a flag in an environment, with the rows before and after.
pub(in crate::admin) enum Step {
    /// The new configuration. The current one is that of the [`FlagEnvironment`].
    Configure(Configuration),
    DeleteRule(TargetingRule),
    ReplaceRule {
        old: TargetingRule,
        new: TargetingRule,
    },
    CreateRule(TargetingRule),
    /// A new rollout gets its revision when it is written.
    SetRollout {
        old: Option<FlagRollout>,
        new: FlagRollout,
    },
    DeleteRollout(FlagRollout),
}

impl Step {
    /// Starts the audit entry of the change.
    pub(in crate::admin) fn entry(&self, target: &FlagEnvironment) -> Result<audit::Entry, Error> {
        let entry = |action| {
            audit::Entry::of(action)
                .flag(&target.flag)
                .environment(&target.environment)
        };
        match self {
            Self::Configure(new) => entry(AuditAction::FlagEnvironmentUpdated)
                .from(Some(&target.configuration))?
                .to(new),
            Self::DeleteRule(old) => entry(AuditAction::RuleDeleted).rule(old.id).from(Some(old)),
            Self::ReplaceRule { old, new } => entry(AuditAction::RuleUpdated)
                .rule(old.id)
                .from(Some(old))?
                .to(new),
            Self::CreateRule(new) => entry(AuditAction::RuleCreated).rule(new.id).to(new),
            Self::SetRollout { old, new } => entry(AuditAction::RolloutConfigured)
                .from(old.as_ref())?
                .to(new),
            Self::DeleteRollout(old) => entry(AuditAction::RolloutDeleted).from(Some(old)),
        }
    }

    fn difference(&self, target: &FlagEnvironment) -> Difference {
        let switch = |of: &Configuration| Some(Part::Switch(of.switch()));
        let rule = |of: &TargetingRule| Some(Part::Rule(of.rule.clone()));
        let rollout = |of: &FlagRollout| Some(Part::Rollout(of.rollout));
        let (action, old_value, new_value) = match self {
            Self::Configure(new) => (
                AuditAction::FlagEnvironmentUpdated,
                switch(&target.configuration),
                switch(new),
            ),
            Self::DeleteRule(old) => (AuditAction::RuleDeleted, rule(old), None),
            Self::ReplaceRule { old, new } => (AuditAction::RuleUpdated, rule(old), rule(new)),
            Self::CreateRule(new) => (AuditAction::RuleCreated, None, rule(new)),
            Self::SetRollout { old, new } => (
                AuditAction::RolloutConfigured,
                old.as_ref().and_then(rollout),
                rollout(new),
            ),
            Self::DeleteRollout(old) => (AuditAction::RolloutDeleted, rollout(old), None),
        };
        let rule_id = match self {
            Self::DeleteRule(old) | Self::ReplaceRule { old, .. } => Some(old.id),
            _ => None,
        };
        Difference {
            action,
            rule_id,
            old_value,
            new_value,
        }
    }
}

/// Returns the differences that the steps make.
pub(in crate::admin) fn differences(target: &FlagEnvironment, steps: &[Step]) -> Vec<Difference> {
    steps.iter().map(|step| step.difference(target)).collect()
}

/// Applies the steps of one flag, commits, and returns the environment's new config revision.
pub(super) async fn commit(
    admin: &Admin,
    mut tx: Tx,
    actor: &Editor,
    target: &FlagEnvironment,
    steps: Vec<Step>,
) -> Result<i64, Error> {
    let environment = target.environment.id;
    let change = apply_steps(admin, &mut tx, actor, environment, &[(target, steps)]).await?;
    let revision = change.revision;
    changes::commit(admin, tx, actor, vec![change]).await?;
    Ok(revision)
}

/// Applies the steps of flags in one environment, within a transaction: writes the changes and their audit entries as
/// the environment's next config revision.
pub(super) async fn apply_steps(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Editor,
    environment: EnvironmentId,
    flags: &[(&FlagEnvironment, Vec<Step>)],
) -> Result<EnvironmentChange, Error> {
    actor.confirm(tx, admin.clock.now()).await?;
    let raised = store::environments::raise_config_revision(tx, environment).await?;
    for (target, steps) in flags {
        write(admin, tx, actor, target, steps).await?;
    }
    Ok(match flags {
        [(target, _)] => EnvironmentChange::of_configuration(target.flag.id, raised),
        _ => EnvironmentChange::of_environment(raised),
    })
}

/// Writes the changes of one flag and their audit entries.
async fn write(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Editor,
    target: &FlagEnvironment,
    steps: &[Step],
) -> Result<(), Error> {
    free_priorities(tx, steps).await?;
    let mut configuration = &target.configuration;
    for step in steps {
        match step {
            Step::Configure(new) => configuration = new,
            Step::DeleteRule(_) => {}
            Step::ReplaceRule { new, .. } => store::rules::update(tx, new).await?,
            Step::CreateRule(new) => store::rules::insert(tx, new).await?,
            Step::SetRollout { new, .. } => store::rollouts::upsert(tx, new).await?,
            Step::DeleteRollout(old) => {
                store::rollouts::delete(tx, old.flag_id, old.environment_id).await?;
            }
        }
        step.entry(target)?
            .record_confirmed(admin, tx, actor)
            .await?;
    }
    // The row has the config revision of the last step.
    store::configurations::update(tx, configuration).await
}

/// Deletes rules, and sets moved rules aside, so that their priorities are free for other rules.
async fn free_priorities(tx: &mut Tx, steps: &[Step]) -> Result<(), Error> {
    for step in steps {
        match step {
            Step::DeleteRule(old) => store::rules::delete(tx, old.id).await?,
            Step::ReplaceRule { old, new }
                if steps.len() > 1 && old.rule.priority != new.rule.priority =>
            {
                store::rules::set_aside(tx, old.id).await?;
            }
            _ => {}
        }
    }
    Ok(())
}
