//! The desired states of several objects: the plan of the changes that lead to them, and these changes.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pennon_model::audit::AuditAction;
use pennon_model::client::Client;
use pennon_model::configuration::{FlagConfiguration, FlagEnvironment, FlagEnvironmentId};
use pennon_model::environment::Environment;
use pennon_model::flag::Flag;
use pennon_model::id::{AuditId, EnvironmentId};
use pennon_model::plan::{Plan, PlannedChange, PlannedEffect};
use pennon_model::user::User;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::audit::value;
use super::changes::{self, EnvironmentChange};
use super::environment_order::{self, Positioned};
use super::environments::EnvironmentDetails;
use super::flags::FlagDetails;
use super::scope::WhenEnabled;
use super::targeting::{self, DesiredConfiguration, Step, differences};
use super::users::{self, Rights};
use super::{Admin, environments, flags, usage};
use crate::auth::actor::Actor;
use crate::auth::authority::FlagEditor;
use crate::error::Error;
use crate::store::Tx;

/// The current and the desired state of an object.
#[derive(Clone)]
pub(super) struct BeforeAfter<Before, After = Before> {
    pub(super) before: Before,
    pub(super) after: After,
}

impl<T: Clone> BeforeAfter<T> {
    pub(super) fn unchanged(before: T) -> Self {
        let after = before.clone();
        Self { before, after }
    }
}

/// The current and the desired configuration of a flag in an environment.
pub(super) type ConfigurationChange = BeforeAfter<FlagConfiguration, DesiredConfiguration>;

/// All objects that an action concerns.
#[derive(Clone, Default)]
pub(super) struct DesiredState {
    pub(super) users: Vec<BeforeAfter<User>>,
    pub(super) environments: Vec<BeforeAfter<Environment>>,
    pub(super) flags: Vec<BeforeAfter<Flag>>,
    pub(super) configurations: Vec<ConfigurationChange>,
}

/// Returns a fingerprint of these lines.
pub(super) fn fingerprint(lines: &[String]) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(lines.join("\n")))
}

/// A plan that was carried out.
pub(crate) struct Applied {
    pub(crate) plan: Plan,
    /// The group of the audit entries; none if nothing was changed.
    pub(crate) group: Option<AuditId>,
}

impl DesiredState {
    /// Returns a fingerprint of the current state of all objects.
    fn fingerprint(&self) -> String {
        let users = self.users.iter();
        let users = users.map(|user| format!("{} {}", user.before.id, user.before.revision));
        let environments = self.environments.iter();
        let environments = environments.map(|BeforeAfter { before, .. }| {
            format!("{} {} {:?}", before.id, before.revision, before.position)
        });
        let flags = self.flags.iter();
        let flags = flags.map(|flag| format!("{} {}", flag.before.id, flag.before.revision));
        let configurations = self.configurations.iter();
        let configurations = configurations.map(|configuration| {
            let FlagEnvironmentId { flag, environment } = configuration.before.target.id();
            let revision = configuration.before.target.configuration.config_revision;
            format!("{flag} {environment} {revision}")
        });
        let all: Vec<String> = users
            .chain(environments)
            .chain(flags)
            .chain(configurations)
            .collect();
        fingerprint(&all)
    }

    /// Returns the changes that lead to the desired state.
    pub(super) fn plan(&self, admin: &Admin) -> Result<Plan, Error> {
        let mut changes = Vec::new();
        for user in &self.users {
            changes.extend(user_change(user)?);
        }
        for environment in &self.environments {
            changes.extend(environment_changes(environment)?);
        }
        let mut archived = Vec::new();
        for BeforeAfter { before, after } in self.flags_to_change(admin) {
            let active = |flag: &Flag| Flag {
                archived_at: None,
                ..flag.clone()
            };
            let (restored, rewritten) = (active(&before), active(&after));
            for (old, new) in [(&before, &restored), (&restored, &rewritten)] {
                if old != new {
                    changes.push(flag_change(AuditAction::FlagUpdated, old, new)?);
                }
            }
            if rewritten != after {
                archived.push(flag_change(AuditAction::FlagArchived, &rewritten, &after)?);
            }
        }
        let mut effects = Vec::new();
        for configuration in &self.configurations {
            let BeforeAfter { before, after } = configuration;
            let steps = targeting::steps_to(admin, before, after);
            if !steps.is_empty() {
                changes.extend(configuration_changes(&before.target, &steps)?);
                effects.push(effect(configuration));
            }
        }
        changes.extend(archived);
        Ok(Plan {
            changes,
            effects,
            overwrites: false,
            fingerprint: self.fingerprint(),
        })
    }

    /// Returns all flags but those that are archived and stay as they are. An archived flag that changes is restored
    /// before, and archived again afterwards.
    fn flags_to_change(&self, admin: &Admin) -> Vec<BeforeAfter<Flag>> {
        let is_configured = |flag: &Flag| {
            let mut configurations = self.configurations.iter();
            configurations.any(|BeforeAfter { before, after }| {
                before.target.flag.id == flag.id
                    && !targeting::steps_to(admin, before, after).is_empty()
            })
        };
        let changes = |BeforeAfter { before, after }: &&BeforeAfter<Flag>| {
            before.archived_at.is_none()
                || after.archived_at.is_none()
                || FlagDetails::of(before) != FlagDetails::of(after)
                || is_configured(before)
        };
        self.flags.iter().filter(changes).cloned().collect()
    }

    /// Makes the changes, within a transaction. Restores archived flags first, and archives flags last, because an
    /// archived flag cannot be changed. A flag that leaves an environment is changed there before.
    async fn apply(
        mut self,
        admin: &Admin,
        tx: &mut Tx,
        actor: &Actor,
    ) -> Result<Vec<EnvironmentChange>, Error> {
        let mut flags = self.flags_to_change(admin);
        let mut execution = Execution {
            admin,
            tx,
            actor,
            changes: Vec::new(),
        };
        execution.apply_users(self.users).await?;
        execution.apply_environments(self.environments).await?;
        execution.restore_flags(&mut flags).await?;
        let leaving: Vec<_> = self
            .configurations
            .extract_if(.., |each| leaves(&flags, &each.before))
            .collect();
        execution.configure(&leaving).await?;
        execution.rewrite_flags(&mut flags).await?;
        execution.configure(&self.configurations).await?;
        execution.archive_flags(&flags).await?;
        Ok(execution.changes)
    }
}

/// The changes that lead to a desired state, within a transaction.
struct Execution<'a> {
    admin: &'a Admin,
    tx: &'a mut Tx,
    actor: &'a Actor,
    /// The changes so far in environments.
    changes: Vec<EnvironmentChange>,
}

impl Execution<'_> {
    async fn apply_users(&mut self, users: Vec<BeforeAfter<User>>) -> Result<(), Error> {
        for BeforeAfter { before, after } in users {
            if before != after {
                let (actor, rights) = (&self.actor.administrator()?, Rights::of(after));
                users::rewrite(self.admin, self.tx, actor, &before, rights, None).await?;
            }
        }
        Ok(())
    }

    async fn apply_environments(
        &mut self,
        environments: Vec<BeforeAfter<Environment>>,
    ) -> Result<(), Error> {
        for BeforeAfter { before, after } in environments {
            if before == after {
                continue;
            }
            let (admin, tx) = (self.admin, &mut *self.tx);
            let actor = self.actor.any_administrator()?.of(&before)?;
            let moved =
                environment_order::move_to(admin, tx, &actor, before, after.position).await?;
            let details = EnvironmentDetails::of(&after);
            if EnvironmentDetails::of(&moved) != details {
                let (_, change) = environments::rewrite(admin, tx, &actor, &moved, details).await?;
                self.changes.extend(change);
            }
        }
        Ok(())
    }

    /// Restores the archived flags.
    async fn restore_flags(&mut self, flags: &mut [BeforeAfter<Flag>]) -> Result<(), Error> {
        for BeforeAfter { before: flag, .. } in flags {
            if flag.archived_at.is_some() {
                let editor = self.editor_of(flag)?;
                let (restored, raised) =
                    flags::unarchive(self.admin, self.tx, &editor, flag).await?;
                self.changes.extend(raised);
                *flag = restored;
            }
        }
        Ok(())
    }

    /// Changes the details of the flags.
    async fn rewrite_flags(&mut self, flags: &mut [BeforeAfter<Flag>]) -> Result<(), Error> {
        for BeforeAfter {
            before: flag,
            after,
        } in flags
        {
            let details = FlagDetails::of(after);
            if FlagDetails::of(flag) != details {
                let editor = self.editor_of(flag)?;
                let refuse = WhenEnabled::Refuse;
                let (rewritten, raised) =
                    flags::rewrite(self.admin, self.tx, &editor, flag, details, refuse).await?;
                self.changes.extend(raised);
                *flag = rewritten;
            }
        }
        Ok(())
    }

    /// Archives those of the flags that end as archived.
    async fn archive_flags(&mut self, flags: &[BeforeAfter<Flag>]) -> Result<(), Error> {
        for BeforeAfter {
            before: flag,
            after,
        } in flags
        {
            if let Some(at) = after.archived_at {
                let editor = self.editor_of(flag)?;
                let raised = flags::archive_within(self.admin, self.tx, &editor, flag, at).await?;
                self.changes.extend(raised);
            }
        }
        Ok(())
    }

    /// Changes flags in environments. Those that follow each other and are in the same environment change in the same
    /// config revision.
    async fn configure(&mut self, configurations: &[ConfigurationChange]) -> Result<(), Error> {
        let (admin, actor) = (self.admin, self.actor.any_editor()?);
        // A flag may have just left the environments in which it does not change.
        let changes = |BeforeAfter { before, after }: &&ConfigurationChange| {
            !targeting::steps_to(admin, before, after).is_empty()
        };
        let changing: Vec<_> = configurations.iter().filter(changes).collect();
        let environment = |each: &ConfigurationChange| each.before.target.environment.id;
        for flags in changing.chunk_by(|one, next| environment(one) == environment(next)) {
            let desired = flags
                .iter()
                .map(|each| (each.before.target.id(), &each.after));
            let desired: Vec<_> = desired.collect();
            let change = targeting::apply(admin, self.tx, &actor, &desired).await?;
            self.changes.extend(change);
        }
        Ok(())
    }

    fn editor_of(&self, flag: &Flag) -> Result<FlagEditor, Error> {
        self.actor.any_editor()?.of_flag(flag.products.as_ref())
    }
}

/// Returns true if one of these active flags leaves the environment of its configuration.
fn leaves(flags: &[BeforeAfter<Flag>], configuration: &FlagConfiguration) -> bool {
    let FlagConfiguration { target, .. } = configuration;
    let mut flags = flags.iter();
    let flag = flags.find(|known| known.before.id == target.flag.id);
    flag.is_some_and(|BeforeAfter { before, after }| {
        before.exists_in(&target.environment) && !after.exists_in(&target.environment)
    })
}

/// Carries out a plan, and commits the transaction.
pub(super) async fn carry_out(
    admin: &Admin,
    mut tx: Tx,
    actor: &Actor,
    desired: DesiredState,
    mut plan: Plan,
) -> Result<Applied, Error> {
    let changed = desired.apply(admin, &mut tx, actor).await?;
    let group = tx.written_group();
    changes::commit(admin, tx, actor, changed).await?;
    // If the clients cannot be read, the changes are kept.
    if let Err(error) = add_outdated_clients(admin, actor, &mut plan).await {
        tracing::warn!(%error, "cannot find out which clients can read the flags");
    }
    Ok(Applied { plan, group })
}

/// Fails if the state has changed since a preview with this fingerprint.
pub(crate) fn check_fingerprint(plan: &Plan, fingerprint: Option<&str>) -> Result<(), Error> {
    match fingerprint {
        Some(previewed) if previewed != plan.fingerprint => Err(Error::StalePreview),
        _ => Ok(()),
    }
}

/// Adds to each effect the clients that may not be able to read it.
pub(super) async fn add_outdated_clients(
    admin: &Admin,
    actor: &Actor,
    plan: &mut Plan,
) -> Result<(), Error> {
    let mut known: HashMap<EnvironmentId, Vec<Client>> = HashMap::new();
    for effect in &mut plan.effects {
        let id = effect.environment.id;
        effect.outdated_clients = if let Some(clients) = known.get(&id) {
            clients.clone()
        } else {
            let clients = usage::outdated_clients(admin, actor, id).await?;
            known.insert(id, clients.clone());
            clients
        };
    }
    Ok(())
}

fn user_change(
    BeforeAfter { before, after }: &BeforeAfter<User>,
) -> Result<Option<PlannedChange>, Error> {
    (before != after)
        .then(|| planned(AuditAction::UserUpdated, Some(before), Some(after)))
        .transpose()
}

/// Returns the change of an environment's position, and that of the rest.
fn environment_changes(
    BeforeAfter { before, after }: &BeforeAfter<Environment>,
) -> Result<Vec<PlannedChange>, Error> {
    let action = AuditAction::EnvironmentUpdated;
    let moved = Environment {
        position: after.position,
        ..before.clone()
    };
    let mut changes = Vec::new();
    if moved != *before {
        let (old, new) = (Positioned::of(before), Positioned::of(&moved));
        changes.push(planned(action, Some(&old), Some(&new))?);
    }
    if moved != *after {
        changes.push(planned(action, Some(&moved), Some(after))?);
    }
    for change in &mut changes {
        change.environment = Some(after.clone());
    }
    Ok(changes)
}

fn flag_change(action: AuditAction, before: &Flag, after: &Flag) -> Result<PlannedChange, Error> {
    Ok(PlannedChange {
        flag: Some(before.key.clone()),
        ..planned(action, Some(before), Some(after))?
    })
}

fn configuration_changes(
    target: &FlagEnvironment,
    steps: &[Step],
) -> Result<Vec<PlannedChange>, Error> {
    let changes = differences(target, steps).into_iter().map(|difference| {
        let (old, new) = (&difference.old_value, &difference.new_value);
        Ok(PlannedChange {
            flag: Some(target.flag.key.clone()),
            environment: Some(target.environment.clone()),
            ..planned(difference.action, old.as_ref(), new.as_ref())?
        })
    });
    changes.collect()
}

fn effect(BeforeAfter { before, after }: &ConfigurationChange) -> PlannedEffect {
    PlannedEffect {
        flag: before.target.flag.id,
        environment: before.target.environment.clone(),
        before: before.config(),
        after: after.config(before),
        outdated_clients: Vec::new(),
    }
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
