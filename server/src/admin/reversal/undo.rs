//! The objects of audit entries, in their current state and in the state before the entries.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pennon_core::rollout::Rollout;
use pennon_core::rule::Rule;
use pennon_model::audit::{AuditAction, AuditEntry, AuditRecord};
use pennon_model::configuration::{FlagConfiguration, FlagEnvironment, FlagEnvironmentId};
use pennon_model::environment::{Environment, EnvironmentStatus};
use pennon_model::flag::Flag;
use pennon_model::id::{EnvironmentId, FlagId, RuleId};
use pennon_model::metadata::FlagMetadata;
use pennon_model::reversal::{Plan, PlannedChange, PlannedEffect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::audit::value;
use super::super::changes::EnvironmentChange;
use super::super::environments::EnvironmentDetails;
use super::super::flags::FlagDetails;
use super::super::scope::Enabled;
use super::super::targeting::{self, DesiredConfiguration, differences};
use super::super::{Admin, environments, flags};
use super::{Obstacle, RevertError};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store::{self, Tx};

/// The current and the desired state of an object.
struct BeforeAfter<Before, After = Before> {
    before: Before,
    after: After,
}

/// All objects that a reversal concerns.
#[derive(Default)]
pub(super) struct PendingRevert {
    environments: Vec<BeforeAfter<Environment>>,
    flags: Vec<BeforeAfter<Flag>>,
    configurations: Vec<BeforeAfter<FlagConfiguration, DesiredConfiguration>>,
    /// Those of the configurations that are in environments that their flags have left.
    hidden: Vec<FlagEnvironmentId>,
    /// True if the reversal overwrites a change that was made after the entries.
    overwrites: bool,
}

impl PendingRevert {
    /// Undoes entries, newest first, and plans the resulting changes.
    pub(super) async fn of(
        admin: &Admin,
        tx: &mut Tx,
        actor: &Actor,
        entries: &[AuditRecord],
    ) -> Result<(Self, Plan), RevertError> {
        let mut pending = Self::default();
        for recorded in entries {
            pending.undo(admin, tx, actor, recorded).await?;
        }
        pending.check_products(actor)?;
        pending.check_scope(admin)?;
        let mut configurations = pending.configurations.iter();
        if configurations.any(|configuration| has_two_in_one_place(&configuration.after)) {
            return Err(Obstacle::PositionTaken.into());
        }
        let plan = pending.plan(admin)?;
        if plan.changes.is_empty() {
            return Err(Obstacle::AlreadyReverted.into());
        }
        Ok((pending, plan))
    }

    /// Fails if a configuration would change in an environment that its flag has left, and does not return to. Forgets
    /// unchanged configurations there.
    fn check_scope(&mut self, admin: &Admin) -> Result<(), RevertError> {
        let flags = &self.flags;
        let is_in_scope = |target: &FlagEnvironment| {
            let known = flags.iter().find(|flag| flag.before.id == target.flag.id);
            let flag = known.map_or(&target.flag, |known| &known.after);
            flag.exists_in(&target.environment)
        };
        let hidden = &self.hidden;
        let is_outside = |configuration: &BeforeAfter<FlagConfiguration, DesiredConfiguration>| {
            let target = &configuration.before.target;
            hidden.contains(&target.id()) && !is_in_scope(target)
        };
        let mut outside = self.configurations.extract_if(.., |each| is_outside(each));
        if outside.any(|each| !targeting::steps_to(admin, &each.before, &each.after).is_empty()) {
            return Err(Obstacle::OutOfScope.into());
        }
        Ok(())
    }

    /// Fails if the actor may not change the flags as they will be.
    fn check_products(&self, actor: &Actor) -> Result<(), Error> {
        for flag in &self.flags {
            let products = flag.after.products.as_ref();
            actor.any_editor()?.of_flag(products)?;
        }
        Ok(())
    }

    async fn undo(
        &mut self,
        admin: &Admin,
        tx: &mut Tx,
        actor: &Actor,
        recorded: &AuditRecord,
    ) -> Result<(), RevertError> {
        let entry = &recorded.entry;
        match entry.action {
            AuditAction::FlagCreated | AuditAction::FlagUpdated | AuditAction::FlagArchived => {
                let id = recorded.flag.ok_or(Obstacle::Gone)?;
                let flag = self.flag(tx, actor, id).await?;
                let overwrites = undo_flag(admin, flag, entry)?;
                self.overwrites |= overwrites;
                Ok(())
            }
            AuditAction::EnvironmentUpdated => {
                let (old, new) = member(entry, "previousKey");
                if old != new {
                    return Err(Obstacle::KeyGone.into());
                }
                let (old, new) = member(entry, "position");
                if old != new {
                    return Err(Obstacle::Order.into());
                }
                let environment = current(tx, recorded.environment).await?;
                actor.any_administrator()?.of(&environment)?;
                self.environment(environment, entry)
            }
            AuditAction::FlagEnvironmentUpdated
            | AuditAction::RuleCreated
            | AuditAction::RuleUpdated
            | AuditAction::RuleDeleted
            | AuditAction::RolloutConfigured
            | AuditAction::RolloutDeleted => {
                let desired = self.configuration(tx, actor, recorded).await?;
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
    async fn flag(
        &mut self,
        tx: &mut Tx,
        actor: &Actor,
        id: FlagId,
    ) -> Result<&mut Flag, RevertError> {
        if self.flags.iter().all(|known| known.before.id != id) {
            let before = flags::find(tx, id).await?;
            actor.any_editor()?.of_flag(before.products.as_ref())?;
            let after = before.clone();
            self.flags.push(BeforeAfter { before, after });
        }
        let mut flags = self.flags.iter_mut();
        let flag = flags.find(|known| known.before.id == id);
        Ok(&mut flag.ok_or(Obstacle::Gone)?.after)
    }

    /// Restores the name, the client rules and the safeguards of an environment.
    fn environment(&mut self, before: Environment, entry: &AuditEntry) -> Result<(), RevertError> {
        let mut after = before.clone();
        self.overwrites |= restore(entry, "name", &mut after.name)?;
        self.overwrites |= restore(entry, "clientRules", &mut after.client_rules)?;
        self.overwrites |= restore(entry, "protected", &mut after.is_protected)?;
        self.overwrites |= restore(entry, "reasonRequired", &mut after.is_reason_required)?;
        self.environments.push(BeforeAfter { before, after });
        Ok(())
    }

    /// Returns the desired flag configuration of an entry's flag and environment, if it can be changed.
    async fn configuration(
        &mut self,
        tx: &mut Tx,
        actor: &Actor,
        recorded: &AuditRecord,
    ) -> Result<&mut DesiredConfiguration, RevertError> {
        let flag = recorded.flag.ok_or(Obstacle::Gone)?;
        let environment = current(tx, recorded.environment).await?;
        actor.any_editor()?.of(&environment)?;
        let environment = environment.id;
        let known = self.flags.iter().find(|known| known.before.id == flag);
        let archived_at = match known {
            Some(known) => known.after.archived_at,
            None => flags::find(tx, flag).await?.archived_at,
        };
        if archived_at.is_some() {
            return Err(Obstacle::FlagArchived.into());
        }
        let id = FlagEnvironmentId { flag, environment };
        let is_it = |known: &BeforeAfter<FlagConfiguration, _>| known.before.target.id() == id;
        if !self.configurations.iter().any(is_it) {
            let (before, is_hidden) = targeting::find_even_hidden(tx, id).await?;
            if is_hidden {
                self.hidden.push(id);
            }
            let after = DesiredConfiguration::of(&before);
            self.configurations.push(BeforeAfter { before, after });
        }
        let mut configurations = self.configurations.iter_mut();
        let configuration = configurations.find(|known| is_it(known));
        Ok(&mut configuration.ok_or(Obstacle::Gone)?.after)
    }

    /// Returns a fingerprint of the current state of all objects.
    fn fingerprint(&self) -> String {
        let environments = self.environments.iter();
        let environments =
            environments.map(|one| format!("{} {}", one.before.id, one.before.revision));
        let flags = self.flags.iter();
        let flags = flags.map(|flag| format!("{} {}", flag.before.id, flag.before.revision));
        let configurations = self.configurations.iter();
        let configurations = configurations.map(|configuration| {
            let FlagEnvironmentId { flag, environment } = configuration.before.target.id();
            let revision = configuration.before.target.configuration.config_revision;
            format!("{flag} {environment} {revision}")
        });
        let all: Vec<String> = environments.chain(flags).chain(configurations).collect();
        URL_SAFE_NO_PAD.encode(Sha256::digest(all.join("\n")))
    }

    /// Returns the changes that restore the previous state.
    fn plan(&self, admin: &Admin) -> Result<Plan, Error> {
        let mut changes = Vec::new();
        for BeforeAfter { before, after } in &self.environments {
            if before != after {
                changes.push(PlannedChange {
                    environment: Some(after.clone()),
                    ..planned(AuditAction::EnvironmentUpdated, Some(before), Some(after))?
                });
            }
        }
        for BeforeAfter { before, after } in &self.flags {
            let goes = before.archived_at.is_none() && after.archived_at.is_some();
            let change = match () {
                () if before == after => continue,
                // Archiving changes nothing else.
                () if goes => planned(AuditAction::FlagArchived, Some(before), Some(before))?,
                () => planned(AuditAction::FlagUpdated, Some(before), Some(after))?,
            };
            changes.push(PlannedChange {
                flag: Some(before.key.clone()),
                ..change
            });
        }
        let mut effects = Vec::new();
        for BeforeAfter { before, after } in &self.configurations {
            let steps = targeting::steps_to(admin, before, after);
            if steps.is_empty() {
                continue;
            }
            let (flag, environment) = (&before.target.flag, &before.target.environment);
            for difference in differences(&before.target, &steps) {
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
                before: before.config(),
                after: after.config(before),
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
        for BeforeAfter { before, after } in self.environments {
            if before != after {
                let actor = actor.any_administrator()?.of(&before)?;
                let details = EnvironmentDetails::of(&after);
                let (_, change) =
                    environments::rewrite(admin, tx, &actor, &before, details).await?;
                changes.extend(change);
            }
        }
        let mut archived = Vec::new();
        for BeforeAfter { before, after } in self.flags {
            let actor = actor.any_editor()?.of_flag(before.products.as_ref())?;
            let mut flag = before;
            if flag.archived_at.is_some() && after.archived_at.is_none() {
                let (restored, raised) = flags::unarchive(admin, tx, &actor, &flag).await?;
                changes.extend(raised);
                flag = restored;
            }
            let details = FlagDetails::of(&after);
            if FlagDetails::of(&flag) != details {
                let refuse = Enabled::Refuse;
                let (rewritten, raised) =
                    flags::rewrite(admin, tx, &actor, &flag, details, refuse).await?;
                changes.extend(raised);
                flag = rewritten;
            }
            if flag.archived_at.is_none() && after.archived_at.is_some() {
                archived.push(flag);
            }
        }
        for configuration in self.configurations {
            // The flag may have just left the environments in which it does not change.
            if targeting::steps_to(admin, &configuration.before, &configuration.after).is_empty() {
                continue;
            }
            let id = configuration.before.target.id();
            let actor = &actor.any_editor()?;
            changes.extend(targeting::apply(admin, tx, actor, id, &configuration.after).await?);
        }
        for flag in &archived {
            let actor = actor.any_editor()?.of_flag(flag.products.as_ref())?;
            changes.extend(flags::archive_within(admin, tx, &actor, flag).await?);
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
            let products = restore(entry, "products", &mut flag.products)?;
            let is_public = restore(entry, "public", &mut flag.is_public)?;
            let metadata = restore_metadata(entry, &mut flag.metadata)?;
            return Ok(name || description || products || is_public || metadata);
        }
        _ if is_archived => {}
        _ => flag.archived_at = Some(admin.clock.now()),
    }
    Ok(false)
}

/// Restores the metadata of a flag, and returns true if this overwrites later changes.
fn restore_metadata(entry: &AuditEntry, metadata: &mut FlagMetadata) -> Result<bool, Error> {
    let tags = restore(entry, "tags", &mut metadata.tags)?;
    let owner = restore(entry, "owner", &mut metadata.owner)?;
    let kind = restore(entry, "kind", &mut metadata.kind)?;
    let expires_at = restore(entry, "expiresAt", &mut metadata.expires_at)?;
    Ok(tags || owner || kind || expires_at)
}

/// Undoes an entry about a flag in an environment, and returns true if this overwrites later changes.
fn undo_in(
    desired: &mut DesiredConfiguration,
    recorded: &AuditRecord,
) -> Result<bool, RevertError> {
    let entry = &recorded.entry;
    match entry.action {
        // The flag joined the environment. It leaves it when its products are restored.
        AuditAction::FlagEnvironmentUpdated if entry.old_value.is_none() => Ok(false),
        // The flag left the environment, where it may have been enabled.
        AuditAction::FlagEnvironmentUpdated if entry.new_value.is_none() => {
            desired.switch.is_enabled = read(member(entry, "isEnabled").0)?;
            Ok(false)
        }
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
            let current = desired.rollout;
            desired.rollout = deserialized(entry.old_value.as_ref())?;
            Ok(current.is_some() && current != left)
        }
    }
}

fn undo_rule(
    rules: &mut Vec<(Option<RuleId>, Rule)>,
    recorded: &AuditRecord,
) -> Result<bool, RevertError> {
    let entry = &recorded.entry;
    let left: Option<Rule> = deserialized(entry.new_value.as_ref())?;
    let index = rules.iter().position(|(id, _)| *id == recorded.rule);
    let Some(previous) = deserialized(entry.old_value.as_ref())? else {
        let gone = index.map(|index| rules.remove(index));
        return Ok(gone.is_some_and(|(_, rule)| Some(rule) != left));
    };
    let there = index.and_then(|index| rules.get_mut(index));
    match there {
        Some((_, rule)) => {
            let overwrites = left.is_some_and(|left| *rule != left);
            *rule = previous;
            Ok(overwrites)
        }
        None if entry.action == AuditAction::RuleUpdated => Err(Obstacle::Gone.into()),
        None => {
            // It may have been restored already, under another ID.
            if !rules.iter().any(|(_, rule)| *rule == previous) {
                rules.push((recorded.rule, previous));
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
    before: Option<&T>,
    after: Option<&T>,
) -> Result<PlannedChange, Error> {
    Ok(PlannedChange {
        action,
        flag: None,
        environment: None,
        old_value: before.map(value).transpose()?,
        new_value: after.map(value).transpose()?,
    })
}
