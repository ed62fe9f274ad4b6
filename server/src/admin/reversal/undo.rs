//! All that entries are about, as it stands and as it was before them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pennon_core::rollout::Rollout;
use pennon_core::rule::Rule;
use pennon_model::audit::{AuditAction, AuditEntry, AuditRecord};
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::environment::{Environment, EnvironmentStatus};
use pennon_model::flag::Flag;
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::reversal::{Plan, PlannedChange, PlannedEffect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::super::audit::value;
use super::super::changes::EnvironmentChange;
use super::super::targeting::{self, CurrentConfiguration, DesiredConfiguration};
use super::super::{Admin, environments, flags};
use super::Obstacle;
use super::recorded::{after, before, changed, read};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store::{self, Tx};

/// Something as it stands, and as it is to be.
struct BeforeAfter<T> {
    now: T,
    then: T,
}

/// How a flag is set up in an environment, and how it is to be.
struct ConfigurationRevert {
    now: CurrentConfiguration,
    then: DesiredConfiguration,
    /// The revision of all that the two have in common.
    revision: i64,
}

/// All that entries are about.
#[derive(Default)]
pub(super) struct PendingRevert {
    environments: Vec<BeforeAfter<Environment>>,
    flags: Vec<BeforeAfter<Flag>>,
    configurations: Vec<ConfigurationRevert>,
    /// True if the revert overwrites a change that was made after the entries.
    overwrites: bool,
}

/// The reason why entries cannot be undone.
pub(super) enum UndoError {
    Obstacle(Obstacle),
    Failed(Error),
}

impl From<Obstacle> for UndoError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<Error> for UndoError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl PendingRevert {
    /// Undoes entries, of which the newest is first.
    pub(super) async fn of(
        admin: &Admin,
        tx: &mut Tx,
        entries: &[AuditRecord],
    ) -> Result<Self, UndoError> {
        let mut pending = Self::default();
        for recorded in entries {
            pending.undo(admin, tx, recorded).await?;
        }
        if pending
            .configurations
            .iter()
            .any(ConfigurationRevert::has_two_in_one_place)
        {
            return Err(Obstacle::PlaceTaken.into());
        }
        if pending.changes_nothing() {
            return Err(Obstacle::AlreadySo.into());
        }
        Ok(pending)
    }

    async fn undo(
        &mut self,
        admin: &Admin,
        tx: &mut Tx,
        recorded: &AuditRecord,
    ) -> Result<(), UndoError> {
        let entry = &recorded.entry;
        match entry.action {
            AuditAction::FlagCreated | AuditAction::FlagUpdated | AuditAction::FlagArchived => {
                let id = recorded.flag.ok_or(Obstacle::Gone)?;
                let flag = self.flag(tx, id).await?;
                let overwrites = undo_flag(admin, &mut flag.then, entry)?;
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
                let configuration = self.configuration(tx, recorded).await?;
                let overwrites = configuration.undo(recorded)?;
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

    async fn flag(&mut self, tx: &mut Tx, id: FlagId) -> Result<&mut BeforeAfter<Flag>, Error> {
        let place = self.flags.iter().position(|flag| flag.now.id == id);
        if place.is_none() {
            let now = flags::find(tx, id).await?;
            let then = now.clone();
            self.flags.push(BeforeAfter { now, then });
        }
        let found = match place {
            Some(place) => self.flags.get_mut(place),
            None => self.flags.last_mut(),
        };
        found.ok_or_else(|| Error::Internal("a flag that was found is lost".to_owned()))
    }

    fn rename(&mut self, now: Environment, entry: &AuditEntry) -> Result<(), UndoError> {
        if let Some(name) = changed(entry, "name")? {
            let then = Environment {
                name,
                ..now.clone()
            };
            self.overwrites |= Some(&now.name) != after(entry, "name")?.as_ref();
            self.environments.push(BeforeAfter { now, then });
        }
        Ok(())
    }

    /// The set-up that an entry is about, if it can be changed.
    async fn configuration(
        &mut self,
        tx: &mut Tx,
        recorded: &AuditRecord,
    ) -> Result<&mut ConfigurationRevert, UndoError> {
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
        let place = self
            .configurations
            .iter()
            .position(|configuration| configuration.now.id() == id);
        if place.is_none() {
            let now = CurrentConfiguration::find(tx, id).await?;
            let configuration = ConfigurationRevert {
                revision: store::configurations::config_revision(tx, flag, environment).await?,
                then: now.desired(),
                now,
            };
            self.configurations.push(configuration);
        }
        let found = match place {
            Some(place) => self.configurations.get_mut(place),
            None => self.configurations.last_mut(),
        };
        found.ok_or_else(|| Error::Internal("a set-up that was found is lost".to_owned()).into())
    }

    fn changes_nothing(&self) -> bool {
        let same_flag = |flag: &BeforeAfter<Flag>| flag.now == flag.then;
        let same_name = |one: &BeforeAfter<Environment>| one.now.name == one.then.name;
        let is_same = |configuration: &ConfigurationRevert| {
            configuration
                .now
                .steps_to_desired(&configuration.then)
                .is_empty()
        };
        self.flags.iter().all(same_flag)
            && self.environments.iter().all(same_name)
            && self.configurations.iter().all(is_same)
    }

    /// The fingerprint of the current state of everything concerned.
    pub(super) fn fingerprint(&self) -> String {
        let environments = self.environments.iter();
        let environments = environments.map(|one| format!("{} {}", one.now.id, one.now.revision));
        let flags = self.flags.iter();
        let flags = flags.map(|flag| format!("{} {}", flag.now.id, flag.now.revision));
        let configurations = self.configurations.iter();
        let configurations = configurations.map(|configuration| {
            let FlagEnvironmentId { flag, environment } = configuration.now.id();
            format!("{flag} {environment} {}", configuration.revision)
        });
        let all: Vec<String> = environments.chain(flags).chain(configurations).collect();
        URL_SAFE_NO_PAD.encode(Sha256::digest(all.join("\n")))
    }

    /// The plan for the preview.
    pub(super) fn plan(&self) -> Result<Plan, Error> {
        let mut changes = Vec::new();
        for BeforeAfter { now, then } in &self.environments {
            changes.push(PlannedChange {
                environment: Some(then.clone()),
                ..planned(AuditAction::EnvironmentUpdated, now, then)?
            });
        }
        for BeforeAfter { now, then } in &self.flags {
            if now == then {
                continue;
            }
            let goes = now.archived_at.is_none() && then.archived_at.is_some();
            let change = if goes {
                // That it is archived is all that changes.
                planned(AuditAction::FlagArchived, now, now)?
            } else {
                planned(AuditAction::FlagUpdated, now, then)?
            };
            changes.push(PlannedChange {
                flag: Some(now.key.clone()),
                ..change
            });
        }
        let mut effects = Vec::new();
        for ConfigurationRevert { now, then, .. } in &self.configurations {
            let steps = now.steps_to_desired(then);
            if steps.is_empty() {
                continue;
            }
            let (flag, environment) = now.about();
            for difference in now.differences(&steps) {
                changes.push(PlannedChange {
                    action: difference.action,
                    flag: Some(flag.key.clone()),
                    environment: Some(environment.clone()),
                    now: difference.old_value.map(|part| value(&part)).transpose()?,
                    then: difference.new_value.map(|part| value(&part)).transpose()?,
                });
            }
            effects.push(PlannedEffect {
                flag: flag.id,
                environment: environment.clone(),
                before: now.config(&now.desired()),
                after: now.config(then),
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

    /// Makes everything be as it was. What comes back from the archive comes first, and what goes there last: in between it
    /// can be changed.
    pub(super) async fn carry_out(
        self,
        admin: &Admin,
        tx: &mut Tx,
        actor: &Actor,
    ) -> Result<Vec<EnvironmentChange>, Error> {
        let mut changes = Vec::new();
        for BeforeAfter { now, then } in &self.environments {
            environments::rename_within(admin, tx, actor, now, then.name.clone()).await?;
        }
        let mut archived = Vec::new();
        for BeforeAfter { now, then } in self.flags {
            let mut flag = now;
            if flag.archived_at.is_some() && then.archived_at.is_none() {
                let (restored, raised) = flags::bring_back(admin, tx, actor, &flag).await?;
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
            let id = configuration.now.id();
            changes.extend(targeting::apply(admin, tx, actor, id, &configuration.then).await?);
        }
        for flag in &archived {
            changes.extend(flags::put_away(admin, tx, actor, flag).await?);
        }
        Ok(changes)
    }
}

/// The environment that is in an environment's place now, after the keys that it got meanwhile.
async fn current(tx: &mut Tx, id: Option<EnvironmentId>) -> Result<Environment, UndoError> {
    let id = id.ok_or(Obstacle::Gone)?;
    let environment = store::environments::newest_of_lineage(tx, id).await?;
    let environment = environment.ok_or(Obstacle::Gone)?;
    if environment.status == EnvironmentStatus::Revoked {
        return Err(Obstacle::EnvironmentRevoked.into());
    }
    Ok(environment)
}

/// Undoes an entry about a flag, and answers whether it overwrites what was changed later.
fn undo_flag(admin: &Admin, flag: &mut Flag, entry: &AuditEntry) -> Result<bool, UndoError> {
    let is_archived = flag.archived_at.is_some();
    let came_back = changed::<Option<String>>(entry, "archivedAt")?.is_some();
    match entry.action {
        AuditAction::FlagArchived => flag.archived_at = None,
        AuditAction::FlagUpdated if !came_back => {
            if is_archived {
                return Err(Obstacle::FlagArchived.into());
            }
            return describe(flag, entry);
        }
        _ if is_archived => {}
        _ => flag.archived_at = Some(admin.clock.now()),
    }
    Ok(false)
}

/// Gives a flag back the name and the description that an entry took from it.
fn describe(flag: &mut Flag, entry: &AuditEntry) -> Result<bool, UndoError> {
    let mut overwrites = false;
    if let Some(name) = changed(entry, "name")? {
        overwrites |= Some(&flag.name) != after(entry, "name")?.as_ref();
        flag.name = name;
    }
    if let Some(description) = changed(entry, "description")? {
        overwrites |= Some(&flag.description) != after(entry, "description")?.as_ref();
        flag.description = description;
    }
    Ok(overwrites)
}

impl ConfigurationRevert {
    /// Undoes an entry, and answers whether it overwrites what was changed later.
    fn undo(&mut self, recorded: &AuditRecord) -> Result<bool, UndoError> {
        let entry = &recorded.entry;
        match entry.action {
            AuditAction::FlagEnvironmentUpdated => self.configure(entry).map_err(UndoError::from),
            AuditAction::RuleCreated | AuditAction::RuleUpdated | AuditAction::RuleDeleted => {
                self.undo_rule(recorded)
            }
            _ => {
                let left: Option<Rollout> = whole(entry.new_value.as_ref())?;
                let now = self.then.rollout;
                self.then.rollout = whole(entry.old_value.as_ref())?;
                Ok(now.is_some() && now != left)
            }
        }
    }

    fn configure(&mut self, entry: &AuditEntry) -> Result<bool, Error> {
        let switch = &mut self.then.switch;
        let mut overwrites = false;
        if let Some(is_enabled) = changed(entry, "isEnabled")? {
            overwrites |= Some(switch.is_enabled) != after(entry, "isEnabled")?;
            switch.is_enabled = is_enabled;
        }
        if let Some(ttl) = changed(entry, "ttlOverrideSeconds")? {
            overwrites |= Some(switch.ttl) != after(entry, "ttlOverrideSeconds")?;
            switch.ttl = ttl;
        }
        Ok(overwrites)
    }

    fn undo_rule(&mut self, recorded: &AuditRecord) -> Result<bool, UndoError> {
        let entry = &recorded.entry;
        let left: Option<Rule> = whole(entry.new_value.as_ref())?;
        let rules = &mut self.then.rules;
        let place = rules.iter().position(|(id, _)| *id == recorded.rule);
        if entry.action == AuditAction::RuleCreated {
            let gone = place.map(|place| rules.remove(place));
            return Ok(gone.is_some_and(|(_, rule)| Some(rule) != left));
        }
        let then: Rule = before(entry)?;
        let there = place.and_then(|place| rules.get_mut(place));
        match there {
            Some((_, rule)) => {
                let overwrites = left.is_some_and(|left| *rule != left);
                *rule = then;
                Ok(overwrites)
            }
            None if entry.action == AuditAction::RuleUpdated => Err(Obstacle::Gone.into()),
            None => {
                // It may have been brought back already, under another id.
                if !rules.iter().any(|(_, rule)| *rule == then) {
                    rules.push((recorded.rule, then));
                }
                Ok(false)
            }
        }
    }

    fn has_two_in_one_place(&self) -> bool {
        let mut places: Vec<_> = self.then.rules.iter().collect();
        places.sort_unstable_by_key(|(_, rule)| rule.priority);
        let mut neighbours = places.windows(2);
        neighbours
            .any(|pair| matches!(pair, [(_, one), (_, next)] if one.priority == next.priority))
    }
}

/// An object that is recorded as a whole, if it is there.
fn whole<T: DeserializeOwned>(value: Option<&serde_json::Value>) -> Result<Option<T>, Error> {
    value.cloned().map(read).transpose()
}

fn planned<T: Serialize>(action: AuditAction, now: &T, then: &T) -> Result<PlannedChange, Error> {
    Ok(PlannedChange {
        action,
        flag: None,
        environment: None,
        now: Some(value(now)?),
        then: Some(value(then)?),
    })
}
