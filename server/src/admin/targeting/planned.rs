//! Plans of the rows and audit entries that turn one flag configuration into another, without writing them.

use pennon_core::rollout::Rollout;
use pennon_model::configuration::{Configuration, Difference, Switch};
use pennon_model::targeting::FlagRollout;

use super::reconcile::{ConfigurationContent, ConfigurationStep, CurrentConfiguration};
use super::{configuration, rollout, rules};
use crate::admin::{Admin, audit};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store::batch::Batch;

/// The rows and audit entries of one flag in one environment, on their way into a batch.
struct Planning<'a> {
    admin: &'a Admin,
    actor: &'a Actor,
    current: &'a CurrentConfiguration,
    configuration: Configuration,
    batch: &'a mut Batch,
}

impl CurrentConfiguration {
    /// Adds all that sets the flag up in another way to a batch, save the configuration, which is answered beside the
    /// differences: the caller may have other reasons to write it.
    pub(in crate::admin) fn plan(
        &self,
        admin: &Admin,
        actor: &Actor,
        wanted: &ConfigurationContent,
        batch: &mut Batch,
    ) -> Result<(Configuration, Vec<Difference>), Error> {
        let steps = self.steps_to(wanted);
        let differences = self.differences(&steps);
        let mut planning = Planning {
            admin,
            actor,
            current: self,
            configuration: self.target.configuration.clone(),
            batch,
        };
        for step in steps {
            planning.step(step)?;
        }
        Ok((planning.configuration, differences))
    }
}

impl Planning<'_> {
    fn step(&mut self, step: ConfigurationStep) -> Result<(), Error> {
        let target = &self.current.target;
        match step {
            ConfigurationStep::Switch(Switch { is_enabled, ttl }) => {
                let (new, entry) = configuration::changed(target, is_enabled, ttl)?;
                self.configuration = new;
                self.record(entry);
            }
            ConfigurationStep::DeleteRule(old) => {
                self.record(rules::deleted(target, &old)?);
                self.batch.deleted_rules.push(old.id);
            }
            ConfigurationStep::ReplaceRule(old, new) => {
                let (new, entry) = rules::replaced(self.admin, target, &old, new)?;
                self.record(entry);
                self.batch.rules.push(new);
            }
            ConfigurationStep::CreateRule(new) => {
                let (new, entry) = rules::created(self.admin, target, new)?;
                self.record(entry);
                self.batch.rules.push(new);
            }
            ConfigurationStep::SetRollout(new) => {
                let new = self.rollout(new);
                let old = self.current.rollout.as_ref();
                self.record(rollout::configured(target, old, &new)?);
                self.batch.rollouts.push(new);
            }
            ConfigurationStep::DeleteRollout(old) => {
                self.record(rollout::deleted(target, &old)?);
                self.batch.deleted_rollouts.push(old);
            }
        }
        Ok(())
    }

    /// A rollout as it will be, save for its revision, which the database finds.
    fn rollout(&self, rollout: Rollout) -> FlagRollout {
        let now = self.admin.clock.now();
        let id = self.current.target.id();
        let old = self.current.rollout.as_ref();
        FlagRollout {
            flag_id: id.flag,
            environment_id: id.environment,
            rollout,
            created_at: old.map_or(now, |old| old.created_at),
            updated_at: now,
            revision: 0,
        }
    }

    fn record(&mut self, entry: audit::Entry<'_>) {
        let entry = entry.made(self.admin, self.actor);
        self.batch.entries.push(entry);
    }
}
