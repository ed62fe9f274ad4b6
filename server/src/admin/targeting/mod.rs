//! A flag in an environment: its configuration, its targeting rules and its rollout.

mod configuration;
mod explain;
mod overview;
mod planned;
mod reconcile;
mod rollout;
mod rules;

use pennon_model::audit::AuditAction;
use pennon_model::configuration::{Configuration, FlagEnvironmentId};
use pennon_model::environment::{Environment, EnvironmentStatus};
use pennon_model::flag::Flag;
use pennon_model::flag_table::FlagCell;
use pennon_model::id::EnvironmentId;

pub(crate) use self::configuration::{ConfigurationPatch, configuration, configure};
pub(crate) use self::explain::{explain, flag_config};
pub(crate) use self::overview::{attributes, overview};
pub(crate) use self::reconcile::{ConfigurationContent, CopyPreconditions, copy};
pub(super) use self::reconcile::{CurrentConfiguration, DesiredConfiguration, apply};
pub(crate) use self::rollout::{Upserted, delete_rollout, rollout, set_rollout};
pub(crate) use self::rules::{Rules, create_rule, delete_rule, reorder_rules, replace_rule, rules};

use super::changes::EnvironmentChange;
use super::{Admin, Existence, audit, changes, environments, flags};
use crate::auth::actor::Actor;
use crate::error::{Conflict, Entity, Error};
use crate::store::{self, Tx};

/// A flag in an environment, as it stands.
pub(super) struct FlagEnvironment {
    flag: Flag,
    environment: Environment,
    configuration: Configuration,
}

impl FlagEnvironment {
    async fn find(tx: &mut Tx, id: FlagEnvironmentId) -> Result<Self, Error> {
        match store::configurations::find_flag_environment(tx, id.flag, id.environment).await? {
            Some((flag, environment, configuration)) => Ok(Self {
                flag,
                environment,
                configuration,
            }),
            None => Err(Self::missing(tx, id).await),
        }
    }

    /// The reason why there is no such pair.
    async fn missing(tx: &mut Tx, id: FlagEnvironmentId) -> Error {
        if let Err(error) = flags::find(tx, id.flag).await {
            return error;
        }
        match environments::find(tx, id.environment).await {
            Ok(_) => Error::NotFound(Entity::Configuration),
            Err(error) => error,
        }
    }

    /// The pair, if it can be changed: neither is the flag archived nor the environment revoked.
    async fn find_writable(tx: &mut Tx, id: FlagEnvironmentId) -> Result<Self, Error> {
        let target = Self::find(tx, id).await?;
        if target.environment.status == EnvironmentStatus::Revoked {
            return Err(Conflict::EnvironmentRevoked.into());
        }
        if target.flag.archived_at.is_some() {
            return Err(Conflict::FlagArchived.into());
        }
        Ok(target)
    }

    /// An audit entry about the pair, in the making.
    fn entry(&self, action: AuditAction) -> audit::Entry<'_> {
        audit::Entry::of(action)
            .flag(&self.flag)
            .environment(&self.environment)
    }

    fn id(&self) -> FlagEnvironmentId {
        FlagEnvironmentId {
            flag: self.flag.id,
            environment: self.environment.id,
        }
    }

    /// The revision of all that the pair serves: its configuration, rules and rollout together.
    async fn revision(&self, tx: &mut Tx) -> Result<i64, Error> {
        store::configurations::config_revision(tx, self.flag.id, self.environment.id).await
    }
}

/// A flag in an environment, and another environment, which is not checked.
impl Existence for (FlagEnvironmentId, EnvironmentId) {
    async fn check(&self, admin: &Admin, actor: &Actor) -> Result<(), Error> {
        self.0.check(admin, actor).await
    }
}

impl Existence for FlagEnvironmentId {
    async fn check(&self, admin: &Admin, _actor: &Actor) -> Result<(), Error> {
        FlagEnvironment::find(&mut admin.db.read().await?, *self)
            .await
            .map(drop)
    }
}

/// Returns the cell of a flag and an environment in the list of flags.
pub(crate) async fn cell(
    admin: &Admin,
    _actor: &Actor,
    id: FlagEnvironmentId,
) -> Result<FlagCell, Error> {
    let mut tx = admin.db.read().await?;
    let mut cells = store::configurations::cells(&mut tx, &[id.flag]).await?;
    cells
        .remove(&(id.flag, id.environment))
        .ok_or(Error::NotFound(Entity::Configuration))
}

/// Commits a change of what a pair serves, and answers the pair's new revision.
async fn commit(admin: &Admin, mut tx: Tx, id: FlagEnvironmentId) -> Result<i64, Error> {
    let change = touch(&mut tx, id).await?;
    changes::commit(admin, tx, vec![change]).await?;
    Ok(change.revision)
}

/// Gives a pair that serves something else a new revision, within a transaction.
async fn touch(tx: &mut Tx, id: FlagEnvironmentId) -> Result<EnvironmentChange, Error> {
    Ok(EnvironmentChange {
        environment: id.environment,
        flag: Some(id.flag),
        revision: store::configurations::touch(tx, id.flag, id.environment).await?,
    })
}
