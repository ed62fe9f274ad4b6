//! The objects of audit entries, in their current state and in the state before the entries.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pennon_core::rollout::Rollout;
use pennon_core::rule::Rule;
use pennon_model::audit::{AuditAction, AuditEntry, AuditRecord};
use pennon_model::configuration::{FlagConfiguration, FlagEnvironmentId};
use pennon_model::environment::{Environment, EnvironmentStatus};
use pennon_model::flag::Flag;
use pennon_model::id::{EnvironmentId, FlagId, RuleId};
use pennon_model::reversal::{Plan, PlannedChange, PlannedEffect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::audit::value;
use super::super::changes::EnvironmentChange;
use super::super::targeting::{self, DesiredConfiguration, differences};
use super::super::{Admin, environments, flags};
use super::{Obstacle, RevertError};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store::{self, Tx};

/// The current and the desired state of an object.
struct BeforeAfter<Now, Then = Now> {
    now: Now,
    then: Then,
}

/// All objects that a reversal concerns.
#[derive(Default)]
pub(super) struct PendingRevert {
    environments: Vec<BeforeAfter<Environment>>,
    flags: Vec<BeforeAfter<Flag>>,
    configurations: Vec<BeforeAfter<FlagConfiguration, DesiredConfiguration>>,
    /// True if the reversal overwrites a change that was made after the entries.
    overwrites: bool,
}

impl PendingRevert {
    /// Undoes entries, newest first, and plans the resulting changes.
    pub(super) async fn of(
        admin: &Admin,
        tx: &mut Tx,
        entries: &[AuditRecord],
    ) -> Result<(Self, Plan), RevertError> {
        let mut pending = Self::default();
        for recorded in entries {
            pending.undo(admin, tx, recorded).await?;
        }
        let mut configurations = pending.configurations.iter();
        if configurations.any(|configuration| has_two_in_one_place(&configuration.then)) {
            return Err(Obstacle::PositionTaken.into());
        }
        let plan = pending.plan(admin)?;
        if plan.changes.is_empty() {
            return Err(Obstacle::AlreadyReverted.into());
        }
        Ok((pending, plan))
    }

    async fn undo(
        &mut self,
        admin: &Admin,
        tx: &mut Tx,
        recorded: &AuditRecord,
    ) -> Result<(), RevertError> {
        let entry = &recorded.entry;
        match entry.action {
            AuditAction::FlagCreated | AuditAction::FlagUpdated | AuditAction::FlagArchived => {
                let id = recorded.flag.ok_or(Obstacle::Gone)?;
                let flag = self.flag(tx, id).await?;
                let overwrites = undo_flag(admin, flag, entry)?;
                self.overwrites |= overwrites;
                Ok(())
            }
            AuditAction::EnvironmentUpdated => {
                let environment = current(tx, recorded.environment).await?;
                self.rename(environment, entry)
            }
            AuditAction::FlagEnvironmentUpdated
            | AuditAction::RuleCreated
            | AuditAction::RuleUpdated
            | AuditAction::RuleDeleted
            | AuditAction::RolloutConfigured
            | AuditAction::RolloutDeleted => {
                let desired = self.configuration(tx, recorded).await?;
                let overwrites = undo_in(desired, recorded)?;
                self.overwrites |= overwrites;
                Ok(())
            }
            AuditAction::EnvironmentCreated => Err(Obstacle::NewEnvironment.into()),
            AuditAction::EnvironmentRevoked | AuditAction::SdkKeyRotated => {
                Err(Obstacle::KeyGone.into())
            }
            AuditAction::UserCreated
            | AuditAction::UserUpdated
            | AuditAction::UserDeleted
            | AuditAction::PasswordChanged
            | AuditAction::TokenCreated
            | AuditAction::TokenRevoked => Err(Obstacle::Never.into()),
        }
    }

    /// Returns the desired state of a flag.
    async fn flag(&mut self, tx: &mut Tx, id: FlagId) -> Result<&mut Flag, RevertError> {
        if self.flags.iter().all(|known| known.now.id != id) {
            let now = flags::find(tx, id).await?;
            let then = now.clone();
            self.flags.push(BeforeAfter { now, then });
        }
        let mut flags = self.flags.iter_mut();
        let flag = flags.find(|known| known.now.id == id);
        Ok(&mut flag.ok_or(Obstacle::Gone)?.then)
    }

    fn rename(&mut self, now: Environment, entry: &AuditEntry) -> Result<(), RevertError> {
        let mut then = now.clone();
        self.overwrites |= restore(entry, "name", &mut then.name)?;
        self.environments.push(BeforeAfter { now, then });
        Ok(())
    }

    /// Returns the desired flag configuration of an entry's flag and environment, if it can be changed.
    async fn configuration(
        &mut self,
        tx: &mut Tx,
        recorded: &AuditRecord,
    ) -> Result<&mut DesiredConfiguration, RevertError> {
        let flag = recorded.flag.ok_or(Obstacle::Gone)?;
        let environment = current(tx, recorded.environment).await?.id;
        let known = self.flags.iter().find(|known| known.now.id == flag);
        let archived_at = match known {
            Some(known) => known.then.archived_at,
            None => flags::find(tx, flag).await?.archived_at,
        };
        if archived_at.is_some() {
            return Err(Obstacle::FlagArchived.into());
        }
        let id = FlagEnvironmentId { flag, environment };
        let is_it = |known: &BeforeAfter<FlagConfiguration, _>| known.now.target.id() == id;
        if !self.configurations.iter().any(is_it) {
            let now = targeting::find_with_targeting(tx, id).await?;
            let then = DesiredConfiguration::of(&now);
            self.configurations.push(BeforeAfter { now, then });
        }
        let mut configurations = self.configurations.iter_mut();
        let configuration = configurations.find(|known| is_it(known));
        Ok(&mut configuration.ok_or(Obstacle::Gone)?.then)
    }

    /// Returns a fingerprint of the current state of all objects.
    fn fingerprint(&self) -> String {
        let environments = self.environments.iter();
        let environments = environments.map(|one| format!("{} {}", one.now.id, one.now.revision));
        let flags = self.flags.iter();
        let flags = flags.map(|flag| format!("{} {}", flag.now.id, flag.now.revision));
        let configurations = self.configurations.iter();
        let configurations = configurations.map(|configuration| {
            let FlagEnvironmentId { flag, environment } = configuration.now.target.id();
            let revision = configuration.now.target.configuration.config_revision;
            format!("{flag} {environment} {revision}")
        });
        let all: Vec<String> = environments.chain(flags).chain(configurations).collect();
        URL_SAFE_NO_PAD.encode(Sha256::digest(all.join("\n")))
    }

    /// Returns the changes that restore the previous state.
    fn plan(&self, admin: &Admin) -> Result<Plan, Error> {
        let mut changes = Vec::new();
        for BeforeAfter { now, then } in &self.environments {
            if now.name != then.name {
                changes.push(PlannedChange {
                    environment: Some(then.clone()),
                    ..planned(AuditAction::EnvironmentUpdated, Some(now), Some(then))?
                });
            }
        }
        for BeforeAfter { now, then } in &self.flags {
            let goes = now.archived_at.is_none() && then.archived_at.is_some();
            let change = match () {
                () if now == then => continue,
                // Archiving changes nothing else.
                () if goes => planned(AuditAction::FlagArchived, Some(now), Some(now))?,
                () => planned(AuditAction::FlagUpdated, Some(now), Some(then))?,
            };
            changes.push(PlannedChange {
                flag: Some(now.key.clone()),
                ..change
            });
        }
        let mut effects = Vec::new();
        for BeforeAfter { now, then } in &self.configurations {
            let steps = targeting::steps_to(admin, now, then);
            if steps.is_empty() {
                continue;
            }
            let (flag, environment) = (&now.target.flag, &now.target.environment);
            for difference in differences(&now.target, &steps) {
                let (old, new) = (difference.old_value, difference.new_value);
                changes.push(PlannedChange {
                    flag: Some(flag.key.clone()),
                    environment: Some(environment.clone()),
                    ..planned(difference.action, old.as_ref(), new.as_ref())?
                });
            }
            effects.push(PlannedEffect {
                flag: flag.id,
                environment: environment.clone(),
                before: now.config(),
                after: then.config(now),
                outdated_clients: Vec::new(),
            });
        }
        Ok(Plan {
            changes,
            effects,
            overwrites: self.overwrites,
            fingerprint: self.fingerprint(),
        })
    }

    /// Restores the previous state. It restores archived flags first, and archives flags last, because an archived flag
    /// cannot be changed.
    pub(super) async fn apply(
        self,
        admin: &Admin,
        tx: &mut Tx,
        actor: &Actor,
    ) -> Result<Vec<EnvironmentChange>, Error> {
        let mut changes = Vec::new();
        for BeforeAfter { now, then } in self.environments {
            if now.name != then.name {
                environments::rename_within(admin, tx, actor, &now, then.name).await?;
            }
        }
        let mut archived = Vec::new();
        for BeforeAfter { now, then } in self.flags {
            let mut flag = now;
            if flag.archived_at.is_some() && then.archived_at.is_none() {
                let (restored, raised) = flags::unarchive(admin, tx, actor, &flag).await?;
                changes.extend(raised);
                flag = restored;
            }
            if (&flag.name, &flag.description) != (&then.name, &then.description) {
                let (name, description) = (then.name, then.description);
                flag = flags::rewrite(admin, tx, actor, &flag, name, description).await?;
            }
            if flag.archived_at.is_none() && then.archived_at.is_some() {
                archived.push(flag);
            }
        }
        for configuration in self.configurations {
            let id = configuration.now.target.id();
            changes.extend(targeting::apply(admin, tx, actor, id, &configuration.then).await?);
        }
        for flag in &archived {
            changes.extend(flags::archive_within(admin, tx, actor, flag).await?);
        }
        Ok(changes)
    }
}

/// Returns the environment that has replaced this one after key rotations.
async fn current(tx: &mut Tx, id: Option<EnvironmentId>) -> Result<Environment, RevertError> {
    let id = id.ok_or(Obstacle::Gone)?;
    let environment = store::environments::newest_of_lineage(tx, id).await?;
    let environment = environment.ok_or(Obstacle::Gone)?;
    if environment.status == EnvironmentStatus::Revoked {
        return Err(Obstacle::EnvironmentRevoked.into());
    }
    Ok(environment)
}

/// Undoes an entry about a flag, and returns true if this overwrites later changes.
fn undo_flag(admin: &Admin, flag: &mut Flag, entry: &AuditEntry) -> Result<bool, RevertError> {
    let is_archived = flag.archived_at.is_some();
    let (old, new) = member(entry, "archivedAt");
    match entry.action {
        AuditAction::FlagArchived => flag.archived_at = None,
        AuditAction::FlagUpdated if old == new => {
            if is_archived {
                return Err(Obstacle::FlagArchived.into());
            }
            let name = restore(entry, "name", &mut flag.name)?;
            let description = restore(entry, "description", &mut flag.description)?;
            return Ok(name || description);
        }
        _ if is_archived => {}
        _ => flag.archived_at = Some(admin.clock.now()),
    }
    Ok(false)
}

/// Undoes an entry about a flag in an environment, and returns true if this overwrites later changes.
fn undo_in(
    desired: &mut DesiredConfiguration,
    recorded: &AuditRecord,
) -> Result<bool, RevertError> {
    let entry = &recorded.entry;
    match entry.action {
        AuditAction::FlagEnvironmentUpdated => {
            let switch = &mut desired.switch;
            let is_enabled = restore(entry, "isEnabled", &mut switch.is_enabled)?;
            let ttl = restore(entry, "ttlOverrideSeconds", &mut switch.ttl)?;
            Ok(is_enabled || ttl)
        }
        AuditAction::RuleCreated | AuditAction::RuleUpdated | AuditAction::RuleDeleted => {
            undo_rule(&mut desired.rules, recorded)
        }
        _ => {
            let left: Option<Rollout> = deserialized(entry.new_value.as_ref())?;
            let now = desired.rollout;
            desired.rollout = deserialized(entry.old_value.as_ref())?;
            Ok(now.is_some() && now != left)
        }
    }
}

fn undo_rule(
    rules: &mut Vec<(Option<RuleId>, Rule)>,
    recorded: &AuditRecord,
) -> Result<bool, RevertError> {
    let entry = &recorded.entry;
    let left: Option<Rule> = deserialized(entry.new_value.as_ref())?;
    let place = rules.iter().position(|(id, _)| *id == recorded.rule);
    let Some(then) = deserialized(entry.old_value.as_ref())? else {
        let gone = place.map(|place| rules.remove(place));
        return Ok(gone.is_some_and(|(_, rule)| Some(rule) != left));
    };
    let there = place.and_then(|place| rules.get_mut(place));
    match there {
        Some((_, rule)) => {
            let overwrites = left.is_some_and(|left| *rule != left);
            *rule = then;
            Ok(overwrites)
        }
        None if entry.action == AuditAction::RuleUpdated => Err(Obstacle::Gone.into()),
        None => {
            // The rule may already have been restored, with another ID.
            if !rules.iter().any(|(_, rule)| *rule == then) {
                rules.push((recorded.rule, then));
            }
            Ok(false)
        }
    }
}

fn has_two_in_one_place(desired: &DesiredConfiguration) -> bool {
    let mut places = HashSet::new();
    let mut rules = desired.rules.iter();
    !rules.all(|(_, rule)| places.insert(rule.priority.get()))
}

/// Restores a member to its value before an entry, if the entry changed it, and returns true if this overwrites later
/// changes.
fn restore<T: DeserializeOwned + PartialEq>(
    entry: &AuditEntry,
    name: &str,
    value: &mut T,
) -> Result<bool, Error> {
    let (old, new) = member(entry, name);
    if old == new {
        return Ok(false);
    }
    let overwrites = *value != read(new)?;
    *value = read(old)?;
    Ok(overwrites)
}

/// Returns a member of the object before and after the recorded change.
fn member(entry: &AuditEntry, name: &str) -> (Value, Value) {
    let of = |object: &Option<Value>| {
        let member = object.as_ref().and_then(|object| object.get(name));
        member.cloned().unwrap_or_default()
    };
    (of(&entry.old_value), of(&entry.new_value))
}

/// Parses an object that is recorded as a whole, if it exists.
fn deserialized<T: DeserializeOwned>(object: Option<&Value>) -> Result<Option<T>, Error> {
    object.cloned().map(read).transpose()
}

fn read<T: DeserializeOwned>(recorded: Value) -> Result<T, Error> {
    serde_json::from_value(recorded)
        .map_err(|error| Error::Internal(format!("an audit value cannot be read: {error}")))
}

fn planned<T: Serialize>(
    action: AuditAction,
    now: Option<&T>,
    then: Option<&T>,
) -> Result<PlannedChange, Error> {
    Ok(PlannedChange {
        action,
        flag: None,
        environment: None,
        now: now.map(value).transpose()?,
        then: then.map(value).transpose()?,
    })
}
