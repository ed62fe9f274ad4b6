//! The plan of an import, which is complete before anything is written.

use std::collections::{BTreeSet, HashMap, HashSet};

use pennon_model::audit::AuditAction;
use pennon_model::configuration::{Configuration, Difference};
use pennon_model::environment::{Environment, EnvironmentPath};
use pennon_model::flag::{Flag, FlagKey};
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::metadata::FlagMetadata;
use pennon_model::text::NewName;
use serde_json::{Value, json};

use super::faults::faults;
use super::installation::Installation;
use super::planned_flag::{PlannedFlag, initial};
use super::{Document, PortableConfiguration, PortableFlag};
use crate::admin::flags::{self, FlagDetails, NewFlag};
use crate::admin::targeting::{self, ConfigurationContent, Step, differences};
use crate::admin::{Admin, audit, scope};
use crate::auth::actor::Actor;
use crate::error::{Entity, Error, no_faults};
use crate::store::batch::{self, Batch};
use crate::store::environments::Safeguards;
use crate::store::{self, Tx};

/// One change that an import makes, or would make in a dry run.
pub(crate) struct ImportedChange {
    /// The action that the audit log records.
    pub(crate) action: AuditAction,
    pub(crate) flag: FlagKey,
    pub(crate) environment: Option<EnvironmentPath>,
    pub(crate) old: Option<Value>,
    pub(crate) new: Option<Value>,
}

/// All changes of an import, and the state of the database on which they are based.
pub(super) struct ImportPlan {
    start: Installation,
    pub(super) batch: Batch,
    pub(super) changes: Vec<ImportedChange>,
}

/// The state of planning.
struct Planner<'a> {
    admin: &'a Admin,
    actor: &'a Actor,
    start: &'a Installation,
    batch: Batch,
    changes: Vec<ImportedChange>,
}

impl ImportPlan {
    /// Returns the safeguards of the environments in which flags change.
    pub(super) fn safeguards(&self) -> Vec<Safeguards> {
        let Batch {
            configurations,
            hidden_configurations,
            ..
        } = &self.batch;
        let changed = configurations.iter().chain(hidden_configurations);
        let changed: HashSet<EnvironmentId> = changed.map(|each| each.environment_id).collect();
        let environments = self.start.environments.values();
        let changed = environments.filter(|environment| changed.contains(&environment.id));
        changed.map(Safeguards::of).collect()
    }

    /// Plans an import into the database in the state that the transaction reads.
    pub(super) async fn make(
        admin: &Admin,
        actor: &Actor,
        document: &Document,
        tx: &mut Tx,
    ) -> Result<Self, Error> {
        let start = Installation::read(tx).await?;
        no_faults(faults(admin, document, &start))?;
        let mut planner = Planner {
            admin,
            actor,
            start: &start,
            batch: Batch::default(),
            changes: Vec::new(),
        };
        for flag in &document.flags {
            planner.flag(flag)?;
        }
        let Planner { batch, changes, .. } = planner;
        Ok(Self {
            start,
            batch,
            changes,
        })
    }

    /// Returns true if nothing that the plan depends on has changed since it was made: neither the active environments
    /// nor the document's flags in them. Reads only newer rows.
    pub(super) async fn still_holds(
        &self,
        tx: &mut Tx,
        document: &Document,
    ) -> Result<bool, Error> {
        let environments = store::environments::active(tx).await?;
        if Installation::by_path(environments) != self.start.environments {
            return Ok(false);
        }
        let before = |flag: &PortableFlag| self.start.flags.get(&flag.key);
        let id_and_revision = |flag: &Flag| (flag.id, flag.revision);
        let known: HashMap<&str, Option<(FlagId, i64)>> = document
            .flags
            .iter()
            .map(|flag| (flag.key.as_str(), before(flag).map(id_and_revision)))
            .collect();
        for (key, id, revision) in store::flags::revisions(tx).await? {
            if known
                .get(&*key)
                .is_some_and(|known| *known != Some((id, revision)))
            {
                return Ok(false);
            }
        }
        let named: HashSet<FlagId> = known.values().flatten().map(|(id, _)| *id).collect();
        let revisions = store::environments::config_revisions(tx).await?;
        for (environment, revision) in &self.start.config_revisions {
            // Every change of a flag increments the revision of its environment, so no flag has changed at the same
            // revision.
            if revisions.contains(&(*environment, *revision)) {
                continue;
            }
            let changed = batch::changed_by_others(tx, *environment, *revision).await?;
            if changed.iter().any(|flag| named.contains(flag)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Planner<'_> {
    fn flag(&mut self, wanted: &PortableFlag) -> Result<(), Error> {
        let mut flag = match self.start.flags.get(&wanted.key) {
            None => self.create(wanted)?,
            Some(flag) if self.is_unchanged(flag, wanted) => return Ok(()),
            Some(flag) => self.make_writable(flag, wanted)?,
        };
        for configuration in &wanted.environments {
            self.configure(&mut flag, configuration)?;
        }
        if wanted.archived {
            self.archive(&mut flag)?;
        }
        self.keep(flag);
        Ok(())
    }

    /// Returns true if the flag already matches the document.
    fn is_unchanged(&self, flag: &Flag, wanted: &PortableFlag) -> bool {
        let is_set_up = |wanted: &PortableConfiguration| {
            let environment = self.start.environment(wanted);
            let current = environment.and_then(|one| self.start.current(flag, one));
            let content = current.map(ConfigurationContent::from);
            let mut wanted = wanted.content.clone();
            wanted.rules.sort_by_key(|rule| rule.priority);
            content.unwrap_or_default() == wanted
        };
        FlagDetails::of(flag) == details(wanted)
            && flag.archived_at.is_some() == wanted.archived
            && wanted.environments.iter().all(is_set_up)
    }

    fn create(&mut self, wanted: &PortableFlag) -> Result<PlannedFlag, Error> {
        let new = NewFlag {
            key: wanted.key.clone(),
            name: NewName::stored(wanted.name.clone()),
            description: wanted.description.clone(),
            flag_type: wanted.flag_type,
            products: wanted.products.clone(),
            is_public: wanted.is_public,
            metadata: wanted.metadata.clone(),
        };
        let flag = flags::created(self.admin, self.actor, new);
        self.record(AuditAction::FlagCreated, None, &flag)?;
        let mut texts = details_json(&FlagDetails::of(&flag), &flag_defaults(&flag));
        texts["type"] = json!(wanted.flag_type);
        self.add_change(AuditAction::FlagCreated, &flag, None, Some(texts));
        let mut flag = PlannedFlag::new(flag, self.start);
        flag.reset(self.start);
        Ok(flag)
    }

    /// Restores a flag if it is archived, because an archived flag cannot be changed, and sets its details.
    fn make_writable(&mut self, old: &Flag, wanted: &PortableFlag) -> Result<PlannedFlag, Error> {
        let mut flag = PlannedFlag::new(old.clone(), self.start);
        if old.archived_at.is_some() {
            self.update(&mut flag, flags::archived(old, None))?;
            let archived = |is: bool| Some(json!({ "archived": is }));
            let (was, is) = (archived(true), archived(false));
            self.add_change(AuditAction::FlagUpdated, old, was, is);
            flag.reset(self.start);
        }
        let (was, is) = (FlagDetails::of(old), details(wanted));
        if was != is {
            let moves = was.products != is.products || was.is_public != is.is_public;
            let (was, is_now) = (details_json(&was, &is), details_json(&is, &was));
            let new = flags::rewritten(&flag.flag, is);
            self.update(&mut flag, new)?;
            self.add_change(AuditAction::FlagUpdated, old, Some(was), Some(is_now));
            if moves {
                self.rescope(&mut flag)?;
            }
        }
        Ok(flag)
    }

    /// Configures a flag in the environments of its new scope, and hides its configuration in all others, in which it
    /// is disabled.
    fn rescope(&mut self, flag: &mut PlannedFlag) -> Result<(), Error> {
        let scope: BTreeSet<EnvironmentId> =
            self.start.scope(&flag.flag).map(|one| one.id).collect();
        for environment in self.start.environments.values() {
            let is_configured = flag.configurations.contains_key(&environment.id);
            match (is_configured, scope.contains(&environment.id)) {
                (true, false) => self.leave(flag, environment)?,
                (false, true) => self.join(flag, environment)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn leave(&mut self, flag: &mut PlannedFlag, environment: &Environment) -> Result<(), Error> {
        let Some(configuration) = flag.configurations.remove(&environment.id) else {
            return Ok(());
        };
        let left = flag.in_environment(environment, configuration);
        self.record_in(flag, environment, scope::leaving(&left)?, false);
        self.batch.hidden_configurations.push(Configuration {
            revision: left.configuration.revision + 1,
            ..left.configuration
        });
        Ok(())
    }

    fn join(&mut self, flag: &mut PlannedFlag, environment: &Environment) -> Result<(), Error> {
        let hidden = self.start.hidden.get(&(flag.flag.id, environment.id));
        let configuration = match hidden {
            Some(hidden) => Configuration {
                revision: hidden.revision + 1,
                ..hidden.clone()
            },
            None => initial(flag.flag.id, environment.id),
        };
        flag.configurations
            .insert(environment.id, configuration.clone());
        flag.touched.insert(environment.id);
        let joined = flag.in_environment(environment, configuration);
        self.record_in(flag, environment, scope::joining(&joined)?, true);
        Ok(())
    }

    /// Records that a flag joins or leaves an environment.
    fn record_in(
        &mut self,
        flag: &PlannedFlag,
        environment: &Environment,
        entry: audit::Entry,
        joins: bool,
    ) {
        self.batch.entries.push(entry.entry(self.admin, self.actor));
        let configured = |is: bool| Some(json!({ "configured": is }));
        self.changes.push(ImportedChange {
            action: AuditAction::FlagEnvironmentUpdated,
            flag: flag.flag.key.clone(),
            environment: Some(environment.path()),
            old: configured(!joins),
            new: configured(joins),
        });
    }

    fn configure(
        &mut self,
        flag: &mut PlannedFlag,
        wanted: &PortableConfiguration,
    ) -> Result<(), Error> {
        let Some(environment) = self.start.environment(wanted) else {
            return Ok(());
        };
        let configuration = flag.configurations.get(&environment.id).cloned();
        let current = self.start.current_as(
            flag.flag.clone(),
            environment,
            configuration.ok_or(Error::NotFound(Entity::Configuration))?,
        );
        let steps = targeting::steps_to_content(self.admin, &current, &wanted.content);
        if steps.is_empty() {
            return Ok(());
        }
        flag.touched.insert(environment.id);
        self.add_differences(&flag.flag, wanted, differences(&current.target, &steps));
        for step in steps {
            let entry = step.entry(&current.target)?;
            self.batch.entries.push(entry.entry(self.admin, self.actor));
            match step {
                Step::Configure(new) => drop(flag.configurations.insert(environment.id, new)),
                Step::DeleteRule(old) => self.batch.deleted_rules.push(old.id),
                Step::ReplaceRule { new, .. } | Step::CreateRule(new) => self.batch.rules.push(new),
                Step::SetRollout { new, .. } => self.batch.rollouts.push(new),
                Step::DeleteRollout(old) => self.batch.deleted_rollouts.push(old),
            }
        }
        Ok(())
    }

    /// Archives a flag, which is disabled in all active environments.
    fn archive(&mut self, flag: &mut PlannedFlag) -> Result<(), Error> {
        let archived = flags::archived(&flag.flag, Some(self.admin.clock.now()));
        self.record(AuditAction::FlagArchived, Some(&flag.flag), &archived)?;
        self.add_change(AuditAction::FlagArchived, &archived, None, None);
        flag.change(archived);
        flag.touched.extend(flag.configurations.keys());
        Ok(())
    }

    fn update(&mut self, flag: &mut PlannedFlag, new: Flag) -> Result<(), Error> {
        self.record(AuditAction::FlagUpdated, Some(&flag.flag), &new)?;
        flag.change(new);
        Ok(())
    }

    /// Adds the rows of the flag and its configurations to the batch.
    fn keep(&mut self, flag: PlannedFlag) {
        let touched = flag.touched;
        let configurations = flag.configurations.into_iter();
        let changed = configurations.filter(|(environment, _)| touched.contains(environment));
        let changed = changed.map(|(_, configuration)| configuration);
        self.batch.configurations.extend(changed);
        if !self.start.flags.contains_key(&flag.flag.key) {
            self.batch.new_flags.push(flag.flag);
        } else if flag.is_changed {
            self.batch.changed_flags.push(flag.flag);
        }
    }

    fn record(&mut self, action: AuditAction, old: Option<&Flag>, new: &Flag) -> Result<(), Error> {
        let entry = flags::entry(action, old, new)?;
        self.batch.entries.push(entry.entry(self.admin, self.actor));
        Ok(())
    }

    fn add_change(
        &mut self,
        action: AuditAction,
        flag: &Flag,
        old: Option<Value>,
        new: Option<Value>,
    ) {
        self.changes.push(ImportedChange {
            action,
            flag: flag.key.clone(),
            environment: None,
            old,
            new,
        });
    }

    fn add_differences(
        &mut self,
        flag: &Flag,
        configuration: &PortableConfiguration,
        all: Vec<Difference>,
    ) {
        let path = configuration.path();
        let changes = all.into_iter().map(|difference| ImportedChange {
            action: difference.action,
            flag: flag.key.clone(),
            environment: Some(path.clone()),
            old: difference.old_value.map(|value| json!(value)),
            new: difference.new_value.map(|value| json!(value)),
        });
        self.changes.extend(changes);
    }
}

/// Returns the details of a flag after the import.
fn details(wanted: &PortableFlag) -> FlagDetails {
    FlagDetails {
        name: wanted.name.clone(),
        description: wanted.description.clone(),
        products: wanted.products.clone(),
        is_public: wanted.is_public,
        metadata: wanted.metadata.clone(),
    }
}

/// Returns the details of a new flag for which nothing was chosen.
fn flag_defaults(flag: &Flag) -> FlagDetails {
    FlagDetails {
        products: None,
        is_public: false,
        metadata: FlagMetadata::default(),
        ..FlagDetails::of(flag)
    }
}

/// Returns the texts of a flag, and the parts of its scope and its metadata that differ from `other`.
fn details_json(details: &FlagDetails, other: &FlagDetails) -> Value {
    // Every member is named, so that none can be forgotten.
    let FlagDetails {
        name,
        description,
        products,
        is_public,
        metadata:
            FlagMetadata {
                tags,
                owner,
                kind,
                expires_at,
            },
    } = details;
    let mut json = json!({ "name": name, "description": description });
    if *products != other.products {
        json["products"] = json!(products);
    }
    if *is_public != other.is_public {
        json["public"] = json!(is_public);
    }
    if *tags != other.metadata.tags {
        json["tags"] = json!(tags);
    }
    if *owner != other.metadata.owner {
        json["owner"] = json!(owner);
    }
    if *kind != other.metadata.kind {
        json["kind"] = json!(kind);
    }
    if *expires_at != other.metadata.expires_at {
        json["expiresAt"] = json!(expires_at);
    }
    json
}
