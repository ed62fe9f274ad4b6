//! Plans of the rows and audit entries that turn one flag configuration into another, without writing them.

use pennon_core::rollout::Rollout;
use pennon_model::configuration::{Configuration, Difference, Switch};
use pennon_model::targeting::FlagRollout;

use super::setup::{Setup, Standing, Step};
use super::{configuration, rollout, rules};
use crate::admin::{Admin, audit};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store::batch::Batch;

/// The rows and audit entries of one flag in one environment, on their way into a batch.
struct Planning<'a> {
    admin: &'a Admin,
    actor: &'a Actor,
    standing: &'a Standing,
    configuration: Configuration,
    batch: &'a mut Batch,
}

impl Standing {
    /// Adds all that sets the flag up in another way to a batch, save the configuration, which is answered beside the
    /// differences: the caller may have other reasons to write it.
    pub(in crate::admin) fn plan(
        &self,
        admin: &Admin,
        actor: &Actor,
        wanted: &Setup,
        batch: &mut Batch,
    ) -> Result<(Configuration, Vec<Difference>), Error> {
        let steps = self.steps_to(wanted);
        let differences = self.differences(&steps);
        let mut planning = Planning {
            admin,
            actor,
            standing: self,
            configuration: self.pair.configuration.clone(),
            batch,
        };
        for step in steps {
            planning.step(step)?;
        }
        Ok((planning.configuration, differences))
    }
}

impl Planning<'_> {
    fn step(&mut self, step: Step) -> Result<(), Error> {
        let pair = &self.standing.pair;
        match step {
            Step::Switch(Switch { is_enabled, ttl }) => {
                let (new, entry) = configuration::changed(pair, is_enabled, ttl)?;
                self.configuration = new;
                self.record(entry);
            }
            Step::DeleteRule(old) => {
                self.record(rules::deleted(pair, &old)?);
                self.batch.deleted_rules.push(old.id);
            }
            Step::ReplaceRule(old, new) => {
                let (new, entry) = rules::replaced(self.admin, pair, &old, new)?;
                self.record(entry);
                self.batch.rules.push(new);
            }
            Step::CreateRule(new) => {
                let (new, entry) = rules::created(self.admin, pair, new)?;
                self.record(entry);
                self.batch.rules.push(new);
            }
            Step::SetRollout(new) => {
                let new = self.rollout(new);
                let old = self.standing.rollout.as_ref();
                self.record(rollout::configured(pair, old, &new)?);
                self.batch.rollouts.push(new);
            }
            Step::DeleteRollout(old) => {
                self.record(rollout::deleted(pair, &old)?);
                self.batch.deleted_rollouts.push(old);
            }
        }
        Ok(())
    }

    /// A rollout as it will be, save for its revision, which the database finds.
    fn rollout(&self, rollout: Rollout) -> FlagRollout {
        let now = self.admin.clock.now();
        let id = self.standing.pair.id();
        let old = self.standing.rollout.as_ref();
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
