//! The checks of a reversal that need all of its changes.

use std::collections::HashMap;

use pennon_core::rule::MAX_RULES;
use pennon_model::configuration::FlagEnvironment;
use pennon_model::environment::Environment;
use pennon_model::targeting::repeated_priorities;

use super::super::desired::{BeforeAfter, ConfigurationChange};
use super::super::targeting;
use super::super::{Admin, environment_order};
use super::undo::PendingRevert;
use super::{Obstacle, RevertError};
use crate::auth::actor::Actor;
use crate::error::{Conflict, Error};
use crate::store::{self, Tx};

impl PendingRevert {
    /// Fails if a flag would be enabled in an environment when it is archived or leaves the environment.
    pub(super) async fn check_disabled(&self, tx: &mut Tx) -> Result<(), RevertError> {
        for BeforeAfter { before, after } in &self.desired.flags {
            let is_archived = after.archived_at.is_some();
            if !is_archived
                && before.products == after.products
                && before.is_public == after.is_public
            {
                continue;
            }
            let mut enabled = store::configurations::enabled_in(tx, before.id).await?;
            let changed = self.desired.configurations.iter();
            for each in changed.filter(|each| each.before.target.flag.id == before.id) {
                let path = each.before.target.environment.path();
                if !each.after.switch.is_enabled {
                    enabled.retain(|known| *known != path);
                } else if !enabled.contains(&path) {
                    enabled.push(path);
                }
            }
            let kept = store::environments::active(tx).await?.into_iter();
            for environment in kept.filter(|each| !is_archived && after.exists_in(each)) {
                let path = environment.path();
                enabled.retain(|known| *known != path);
            }
            if !enabled.is_empty() {
                return Err(Error::from(Conflict::FlagEnabled(enabled)).into());
            }
        }
        Ok(())
    }

    /// Fails if a configuration would change in an environment that its flag has left, and does not return to. Forgets
    /// unchanged configurations there.
    pub(super) fn check_scope(&mut self, admin: &Admin) -> Result<(), RevertError> {
        let flags = &self.desired.flags;
        let is_in_scope = |target: &FlagEnvironment| {
            let known = flags.iter().find(|flag| flag.before.id == target.flag.id);
            let flag = known.map_or(&target.flag, |known| &known.after);
            flag.exists_in(&target.environment)
        };
        let hidden = &self.hidden;
        let is_outside = |configuration: &ConfigurationChange| {
            let target = &configuration.before.target;
            hidden.contains(&target.id()) && !is_in_scope(target)
        };
        let mut outside = self
            .desired
            .configurations
            .extract_if(.., |each| is_outside(each));
        if outside.any(|each| !targeting::steps_to(admin, &each.before, &each.after).is_empty()) {
            return Err(Obstacle::OutOfScope.into());
        }
        Ok(())
    }

    /// Fails if two environments would have the same place in a product, because they have been moved again since.
    pub(super) async fn check_order(&self, tx: &mut Tx) -> Result<(), RevertError> {
        let environments = self.desired.environments.iter();
        let moved = environments.filter(|each| each.before.position != each.after.position);
        let moved: Vec<_> = moved.map(|each| &each.after).collect();
        if !moved.is_empty() && environment_order::is_ambiguous(tx, &moved).await? {
            return Err(Obstacle::Order.into());
        }
        Ok(())
    }

    /// Puts the environments into an order in which each name is free when it is restored. Fails if there is none,
    /// because another environment has the name now.
    pub(super) async fn order_renames(&mut self, tx: &mut Tx) -> Result<(), RevertError> {
        let environments = &mut self.desired.environments;
        let is_renamed = |each: &BeforeAfter<Environment>| each.before.name != each.after.name;
        if !environments.iter().any(is_renamed) {
            return Ok(());
        }
        let active = store::environments::active(tx).await?.into_iter();
        let mut paths: HashMap<_, _> = active.map(|each| (each.id, each.path())).collect();
        let mut left = std::mem::take(environments);
        while !left.is_empty() {
            let is_free = |each: &BeforeAfter<Environment>| {
                let path = each.after.path();
                let mut others = paths.iter().filter(|(id, _)| **id != each.before.id);
                others.all(|(_, taken)| *taken != path)
            };
            let index = left.iter().position(is_free).ok_or(Obstacle::NameTaken)?;
            let next = left.remove(index);
            paths.insert(next.before.id, next.after.path());
            environments.push(next);
        }
        Ok(())
    }

    /// Fails if the actor may not change the flags as they will be.
    pub(super) fn check_products(&self, actor: &Actor) -> Result<(), Error> {
        for flag in &self.desired.flags {
            let products = flag.after.products.as_ref();
            actor.any_editor()?.of_flag(products)?;
        }
        Ok(())
    }

    /// Fails if two rules of a configuration would have the same priority, or if it would have too many rules.
    pub(super) fn check_rules(&self) -> Result<(), RevertError> {
        for BeforeAfter { after, .. } in &self.desired.configurations {
            let rules = after.rules.iter().map(|(_, rule)| rule);
            if repeated_priorities(rules).next().is_some() {
                return Err(Obstacle::PriorityTaken.into());
            }
            if after.rules.len() > MAX_RULES {
                return Err(Obstacle::TooManyRules.into());
            }
        }
        Ok(())
    }
}
