//! The objects of audit entries, in their current state and in the state before the entries.

use pennon_core::rollout::Rollout;
use pennon_core::rule::Rule;
use pennon_model::audit::{AuditAction, AuditEntry, AuditRecord};
use pennon_model::configuration::{FlagEnvironmentId, Switch};
use pennon_model::environment::{Environment, EnvironmentStatus};
use pennon_model::flag::Flag;
use pennon_model::grant::{Grant, GrantScope, Grants};
use pennon_model::id::{EnvironmentId, FlagId, RuleId, UserId};
use pennon_model::metadata::FlagMetadata;
use pennon_model::plan::Plan;
use pennon_model::user::User;
use serde_json::Value;

use super::super::desired::{BeforeAfter, DesiredState};
use super::super::targeting::{self, DesiredConfiguration};
use super::super::{Admin, flags};
use super::recorded::{self, Part, Target, deserialized, member, read, replace, restore};
use super::{Obstacle, RevertError};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store::{self, Tx};

/// All objects that a reversal concerns.
#[derive(Clone, Default)]
pub(super) struct PendingRevert {
    pub(super) desired: DesiredState,
    /// Those of the configurations that are in environments that their flags have left.
    pub(super) hidden: Vec<FlagEnvironmentId>,
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
        pending.check_disabled(tx).await?;
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
        self.check_rules()
    }

    /// Returns the plan of the changes so far.
    pub(super) fn plan(&self, admin: &Admin) -> Result<Plan, Error> {
        Ok(Plan {
            overwrites: self.overwrites,
            ..self.desired.plan(admin)?
        })
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
        match recorded::target(entry)? {
            Target::Flag => {
                let id = recorded.flag.ok_or(Obstacle::Gone)?;
                let BeforeAfter { before, after } = self.flag(tx, actor, id).await?;
                undo_flag(admin, before, after, entry)
            }
            Target::Configuration(part) => {
                let desired = self.configuration(tx, actor, recorded).await?;
                match part {
                    Part::Switch => undo_switch(&mut desired.switch, entry),
                    Part::Rule => undo_rule(&mut desired.rules, recorded),
                    Part::Rollout => undo_rollout(&mut desired.rollout, entry),
                }
            }
            Target::Environment => {
                let environment = find_current(tx, recorded.environment).await?;
                actor.any_administrator()?.of(&environment)?;
                undo_environment(self.environment(environment), entry)
            }
            Target::User => {
                actor.administrator()?;
                let (_, id) = member(entry, "id");
                let user = self.user(tx, read(id)?).await?;
                undo_rights(tx, user, entry).await
            }
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
        let environment = find_current(tx, recorded.environment).await?;
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

/// Returns the environment that replaced this one after key rotations, or this one if none has. Fails if it is revoked.
async fn find_current(tx: &mut Tx, id: Option<EnvironmentId>) -> Result<Environment, RevertError> {
    let id = id.ok_or(Obstacle::Gone)?;
    let environment = store::environments::find_current(tx, id).await?;
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
    // Every member is named, so that none can be forgotten.
    let Environment {
        name,
        client_rules,
        is_protected,
        is_reason_required,
        position,
        id: _,
        product: _,
        sdk_key_prefix: _,
        visibility: _,
        status: _,
        created_at: _,
        previous_key: _,
        revision: _,
    } = environment;
    let name = restore(entry, "name", name)?;
    let client_rules = restore(entry, "clientRules", client_rules)?;
    let is_protected = restore(entry, "protected", is_protected)?;
    let reason = restore(entry, "reasonRequired", is_reason_required)?;
    let position = restore(entry, "position", position)?;
    Ok(name || client_rules || is_protected || reason || position)
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
    let held = user.grants.clone();
    let overwrites = replace(
        &mut user.grants,
        &grants(tx, new).await?,
        grants(tx, old).await?,
    );
    for Grant { scope, .. } in user.grants.iter() {
        // A grant for an environment that has been revoked since may stay, but none is given anew.
        let is_held = held.iter().any(|held| held.scope == *scope);
        if let (GrantScope::Environment(id), false) = (scope, is_held) {
            find_current(tx, Some(*id)).await?;
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
            let current = store::environments::find_current(tx, *id).await?;
            *id = current.map_or(*id, |environment| environment.id);
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
    let (old, new) = member(entry, "archivedAt");
    match entry.action {
        AuditAction::FlagArchived => {
            // If a newer undone entry had restored the flag, nobody archived it later.
            let archived_at = flag.archived_at.take();
            let is_later = archived_at.is_some() && archived_at == before.archived_at;
            Ok(is_later && archived_at != read(new)?)
        }
        AuditAction::FlagUpdated if old == new => {
            if flag.archived_at.is_some() {
                return Err(Obstacle::FlagArchived.into());
            }
            restore_details(entry, flag)
        }
        // The flag was created or restored.
        _ => {
            flag.archived_at.get_or_insert_with(|| admin.clock.now());
            Ok(false)
        }
    }
}

/// Restores the members of a flag that can be changed, and returns true if this overwrites later changes.
fn restore_details(entry: &AuditEntry, flag: &mut Flag) -> Result<bool, RevertError> {
    // Every member is named, so that none can be forgotten.
    let Flag {
        name,
        description,
        products,
        is_public,
        metadata,
        id: _,
        key: _,
        flag_type: _,
        created_by: _,
        created_at: _,
        archived_at: _,
        revision: _,
    } = flag;
    let name = restore(entry, "name", name)?;
    let description = restore(entry, "description", description)?;
    let products = restore(entry, "products", products)?;
    let is_public = restore(entry, "public", is_public)?;
    let metadata = restore_metadata(entry, metadata)?;
    Ok(name || description || products || is_public || metadata)
}

/// Restores the metadata of a flag, and returns true if this overwrites later changes.
fn restore_metadata(entry: &AuditEntry, metadata: &mut FlagMetadata) -> Result<bool, Error> {
    let FlagMetadata {
        tags,
        owner,
        kind,
        expires_at,
    } = metadata;
    let tags = restore(entry, "tags", tags)?;
    let owner = restore(entry, "owner", owner)?;
    let kind = restore(entry, "kind", kind)?;
    let expires_at = restore(entry, "expiresAt", expires_at)?;
    Ok(tags || owner || kind || expires_at)
}

/// Undoes an entry about the switch of a flag, and returns true if this overwrites later changes.
fn undo_switch(switch: &mut Switch, entry: &AuditEntry) -> Result<bool, RevertError> {
    if entry.old_value.is_none() {
        // The flag joined the environment. It leaves it when its products are restored.
        return Ok(false);
    }
    if entry.new_value.is_none() {
        // The flag left the environment, where it may have been enabled.
        switch.is_enabled = read(member(entry, "isEnabled").0)?;
        return Ok(false);
    }
    let is_enabled = restore(entry, "isEnabled", &mut switch.is_enabled)?;
    let ttl = restore(entry, "ttlOverrideSeconds", &mut switch.ttl)?;
    Ok(is_enabled || ttl)
}

/// Undoes an entry about the rollout of a flag, and returns true if this overwrites later changes.
fn undo_rollout(rollout: &mut Option<Rollout>, entry: &AuditEntry) -> Result<bool, RevertError> {
    let new = deserialized(entry.new_value.as_ref())?;
    let old = deserialized(entry.old_value.as_ref())?;
    Ok(replace(rollout, &new, old))
}

/// Undoes an entry about a rule of a flag, and returns true if this overwrites later changes.
fn undo_rule(
    rules: &mut Vec<(Option<RuleId>, Rule)>,
    recorded: &AuditRecord,
) -> Result<bool, RevertError> {
    let entry = &recorded.entry;
    let new: Option<Rule> = deserialized(entry.new_value.as_ref())?;
    let old: Option<Rule> = deserialized(entry.old_value.as_ref())?;
    let index = rules.iter().position(|(id, _)| *id == recorded.rule);
    let Some(old) = old else {
        let removed = index.map(|index| rules.remove(index).1);
        return Ok(removed.is_some() && removed != new);
    };
    match index.and_then(|index| rules.get_mut(index)) {
        Some((_, rule)) => {
            let is_later = new.is_none_or(|new| *rule != new);
            let previous = std::mem::replace(rule, old);
            Ok(is_later && previous != *rule)
        }
        None if entry.action == AuditAction::RuleUpdated => Err(Obstacle::Gone.into()),
        None => {
            // It may have been restored already, under another ID.
            if !rules.iter().any(|(_, rule)| *rule == old) {
                rules.push((recorded.rule, old));
            }
            Ok(false)
        }
    }
}
