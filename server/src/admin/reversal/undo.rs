//! The objects of audit entries, in their current state and in the state before the entries.

use std::collections::{HashMap, HashSet};

use pennon_core::rollout::Rollout;
use pennon_core::rule::{MAX_RULES, Rule};
use pennon_model::audit::{AuditAction, AuditEntry, AuditRecord};
use pennon_model::configuration::{FlagConfiguration, FlagEnvironment, FlagEnvironmentId};
use pennon_model::environment::{Environment, EnvironmentStatus};
use pennon_model::flag::Flag;
use pennon_model::grant::{Grant, GrantScope, Grants};
use pennon_model::id::{EnvironmentId, FlagId, RuleId, UserId};
use pennon_model::metadata::FlagMetadata;
use pennon_model::plan::Plan;
use pennon_model::user::User;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::desired::{BeforeAfter, DesiredState};
use super::super::targeting::{self, DesiredConfiguration};
use super::super::{Admin, environment_order, flags};
use super::{Obstacle, RevertError};
use crate::auth::actor::Actor;
use crate::error::{Conflict, Error};
use crate::store::{self, Tx};

/// All objects that a reversal concerns.
#[derive(Clone, Default)]
pub(super) struct PendingRevert {
    pub(super) desired: DesiredState,
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
        pending.undo_all(admin, tx, actor, entries).await?;
        let plan = pending.plan(admin)?;
        if plan.changes.is_empty() {
            return Err(Obstacle::AlreadyReverted.into());
        }
        Ok((pending, plan))
    }

    /// Undoes the entries of an action, newest first, after those of newer actions.
    pub(super) async fn undo_all(
        &mut self,
        admin: &Admin,
        tx: &mut Tx,
        actor: &Actor,
        entries: &[AuditRecord],
    ) -> Result<(), RevertError> {
        for recorded in entries {
            let overwrites = self.undo(admin, tx, actor, recorded).await?;
            self.overwrites |= overwrites;
        }
        self.check_products(actor)?;
        self.check_scope(admin)?;
        self.check_order(tx).await?;
        self.order_renames(tx).await?;
        for BeforeAfter { after, .. } in &self.desired.configurations {
            if has_two_in_one_place(after) {
                return Err(Obstacle::PositionTaken.into());
            }
            if after.rules.len() > MAX_RULES {
                return Err(Obstacle::TooManyRules.into());
            }
        }
        Ok(())
    }

    /// Returns the plan of the changes so far.
    pub(super) fn plan(&self, admin: &Admin) -> Result<Plan, Error> {
        Ok(Plan {
            overwrites: self.overwrites,
            ..self.desired.plan(admin)?
        })
    }

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
    fn check_scope(&mut self, admin: &Admin) -> Result<(), RevertError> {
        let flags = &self.desired.flags;
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
    async fn check_order(&self, tx: &mut Tx) -> Result<(), RevertError> {
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
    async fn order_renames(&mut self, tx: &mut Tx) -> Result<(), RevertError> {
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
    fn check_products(&self, actor: &Actor) -> Result<(), Error> {
        for flag in &self.desired.flags {
            let products = flag.after.products.as_ref();
            actor.any_editor()?.of_flag(products)?;
        }
        Ok(())
    }

    /// Undoes an entry, and returns true if this overwrites later changes.
    async fn undo(
        &mut self,
        admin: &Admin,
        tx: &mut Tx,
        actor: &Actor,
        recorded: &AuditRecord,
    ) -> Result<bool, RevertError> {
        let entry = &recorded.entry;
        match entry.action {
            AuditAction::FlagCreated | AuditAction::FlagUpdated | AuditAction::FlagArchived => {
                let id = recorded.flag.ok_or(Obstacle::Gone)?;
                let BeforeAfter { before, after } = self.flag(tx, actor, id).await?;
                undo_flag(admin, before, after, entry)
            }
            AuditAction::EnvironmentUpdated => {
                if ends_key(entry) {
                    return Err(Obstacle::KeyGone.into());
                }
                let environment = current(tx, recorded.environment).await?;
                actor.any_administrator()?.of(&environment)?;
                undo_environment(self.environment(environment), entry)
            }
            AuditAction::FlagEnvironmentUpdated
            | AuditAction::RuleCreated
            | AuditAction::RuleUpdated
            | AuditAction::RuleDeleted
            | AuditAction::RolloutConfigured
            | AuditAction::RolloutDeleted => {
                let desired = self.configuration(tx, actor, recorded).await?;
                undo_in(desired, recorded)
            }
            AuditAction::UserUpdated if has_new_password(entry) => Err(Obstacle::Never.into()),
            AuditAction::UserUpdated => {
                actor.administrator()?;
                let (_, id) = member(entry, "id");
                let user = self.user(tx, read(id)?).await?;
                undo_rights(tx, user, entry).await
            }
            AuditAction::EnvironmentCreated => Err(Obstacle::NewEnvironment.into()),
            AuditAction::EnvironmentRevoked | AuditAction::SdkKeyRotated => {
                Err(Obstacle::KeyGone.into())
            }
            AuditAction::UserCreated
            | AuditAction::UserDeleted
            | AuditAction::PasswordChanged
            | AuditAction::TokenCreated
            | AuditAction::TokenRevoked => Err(Obstacle::Never.into()),
        }
    }

    /// Returns a flag with its desired state.
    async fn flag(
        &mut self,
        tx: &mut Tx,
        actor: &Actor,
        id: FlagId,
    ) -> Result<&mut BeforeAfter<Flag>, RevertError> {
        let known = &mut self.desired.flags;
        if let Some(index) = known.iter().position(|known| known.before.id == id) {
            return Ok(&mut known[index]);
        }
        let before = flags::find(tx, id).await?;
        actor.any_editor()?.of_flag(before.products.as_ref())?;
        Ok(known.push_mut(BeforeAfter::unchanged(before)))
    }

    /// Returns the desired state of a user.
    async fn user(&mut self, tx: &mut Tx, id: UserId) -> Result<&mut User, RevertError> {
        let known = &mut self.desired.users;
        if let Some(index) = known.iter().position(|known| known.before.id == id) {
            return Ok(&mut known[index].after);
        }
        let before = store::users::find(tx, id).await?.ok_or(Obstacle::Gone)?;
        Ok(&mut known.push_mut(BeforeAfter::unchanged(before)).after)
    }

    /// Returns the desired state of an environment.
    fn environment(&mut self, before: Environment) -> &mut Environment {
        let known = &mut self.desired.environments;
        if let Some(index) = known.iter().position(|known| known.before.id == before.id) {
            return &mut known[index].after;
        }
        &mut known.push_mut(BeforeAfter::unchanged(before)).after
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
        let known = self
            .desired
            .flags
            .iter()
            .find(|known| known.before.id == flag);
        let archived_at = match known {
            Some(known) => known.after.archived_at,
            None => flags::find(tx, flag).await?.archived_at,
        };
        if archived_at.is_some() {
            return Err(Obstacle::FlagArchived.into());
        }
        let id = FlagEnvironmentId { flag, environment };
        let known = &mut self.desired.configurations;
        if let Some(index) = known
            .iter()
            .position(|known| known.before.target.id() == id)
        {
            return Ok(&mut known[index].after);
        }
        let (before, is_hidden) = targeting::find_even_hidden(tx, id).await?;
        if is_hidden {
            self.hidden.push(id);
        }
        let after = DesiredConfiguration::of(&before);
        Ok(&mut known.push_mut(BeforeAfter { before, after }).after)
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

/// Restores the name, the client rules, the safeguards and the place of an environment, and returns true if this
/// overwrites later changes.
fn undo_environment(
    environment: &mut Environment,
    entry: &AuditEntry,
) -> Result<bool, RevertError> {
    let name = restore(entry, "name", &mut environment.name)?;
    let client_rules = restore(entry, "clientRules", &mut environment.client_rules)?;
    let is_protected = restore(entry, "protected", &mut environment.is_protected)?;
    let reason = restore(entry, "reasonRequired", &mut environment.is_reason_required)?;
    let position = restore(entry, "position", &mut environment.position)?;
    Ok(name || client_rules || is_protected || reason || position)
}

/// Returns true if an entry is about the end of a previous key.
pub(super) fn ends_key(entry: &AuditEntry) -> bool {
    let (old, new) = member(entry, "previousKey");
    old != new
}

/// Returns true if an entry is about a new password, whose predecessor is not recorded.
pub(super) fn has_new_password(entry: &AuditEntry) -> bool {
    member(entry, "passwordReset").1 == true
}

/// Restores the rights of a user, and returns true if this overwrites later changes.
async fn undo_rights(
    tx: &mut Tx,
    user: &mut User,
    entry: &AuditEntry,
) -> Result<bool, RevertError> {
    let role = restore(entry, "role", &mut user.role)?;
    let (old, new) = member(entry, "grants");
    if old == new {
        return Ok(role);
    }
    let overwrites = user.grants != grants(tx, new).await?;
    let held = std::mem::replace(&mut user.grants, grants(tx, old).await?);
    for Grant { scope, .. } in user.grants.iter() {
        // A grant for an environment that has been revoked since may stay, but none is given anew.
        let is_held = held.iter().any(|held| held.scope == *scope);
        if let (GrantScope::Environment(id), false) = (scope, is_held) {
            current(tx, Some(*id)).await?;
        }
    }
    Ok(role || overwrites)
}

/// Parses recorded grants, which an object without grants omits. After a rotation, a grant is for the environment with
/// the new key.
async fn grants(tx: &mut Tx, recorded: Value) -> Result<Grants, Error> {
    let mut grants = read::<Option<Vec<Grant>>>(recorded)?.unwrap_or_default();
    for grant in &mut grants {
        if let GrantScope::Environment(id) = &mut grant.scope {
            let newest = store::environments::newest_of_lineage(tx, *id).await?;
            *id = newest.map_or(*id, |environment| environment.id);
        }
    }
    Grants::try_from(grants).map_err(|problem| Error::Internal(problem.detail().to_owned()))
}

/// Undoes an entry about a flag, and returns true if this overwrites later changes.
fn undo_flag(
    admin: &Admin,
    before: &Flag,
    flag: &mut Flag,
    entry: &AuditEntry,
) -> Result<bool, RevertError> {
    let is_archived = flag.archived_at.is_some();
    let (old, new) = member(entry, "archivedAt");
    match entry.action {
        AuditAction::FlagArchived => {
            // If a newer undone entry had restored the flag, nobody archived it later.
            let archived_at = flag.archived_at.take();
            let is_later = is_archived && archived_at == before.archived_at;
            return Ok(is_later && archived_at != read(new)?);
        }
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
            Ok(current != left && current != desired.rollout)
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
