//! The configuration of a flag in an environment: its switch and its time to live.

use pennon_core::ttl::Ttl;
use pennon_model::audit::AuditAction;
use pennon_model::configuration::{Configuration, FlagEnvironmentId};

use super::FlagEnvironment;
use crate::admin::changes::EnvironmentChange;
use crate::admin::patch::Patch;
use crate::admin::precondition::Precondition;
use crate::admin::{Admin, audit, changes};
use crate::auth::actor::{Actor, Editor};
use crate::error::Error;
use crate::store::{self, Tx};

/// A change of a configuration: what is absent stays as it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConfigurationPatch {
    pub(crate) is_enabled: Option<bool>,
    pub(crate) ttl: Patch<Ttl>,
}

/// The configuration of a flag in an environment.
pub(crate) async fn configuration(
    admin: &Admin,
    _actor: &Actor,
    id: FlagEnvironmentId,
) -> Result<Configuration, Error> {
    Ok(FlagEnvironment::find(&mut admin.db.read().await?, id)
        .await?
        .configuration)
}

/// Changes the configuration of a flag in an environment, and answers it as it is then.
pub(crate) async fn configure(
    admin: &Admin,
    actor: &Editor,
    id: FlagEnvironmentId,
    precondition: &Precondition,
    patch: ConfigurationPatch,
) -> Result<Configuration, Error> {
    let mut tx = admin.db.write().await?;
    let target = FlagEnvironment::find_writable(&mut tx, id).await?;
    let old = &target.configuration;
    precondition.check(old.revision)?;
    let is_enabled = patch.is_enabled.unwrap_or(old.is_enabled);
    let ttl = patch.ttl.applied_to(old.ttl);
    if (is_enabled, ttl) == (old.is_enabled, old.ttl) {
        return Ok(target.configuration);
    }
    let change = EnvironmentChange {
        environment: id.environment,
        flag: Some(id.flag),
        revision: store::environments::raise_config_revision(&mut tx, id.environment).await?,
    };
    let new = update(admin, &mut tx, actor, &target, is_enabled, ttl).await?;
    changes::commit(admin, tx, vec![change]).await?;
    Ok(new)
}

/// Keeps another configuration, within a transaction.
pub(super) async fn update(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    target: &FlagEnvironment,
    is_enabled: bool,
    ttl: Option<Ttl>,
) -> Result<Configuration, Error> {
    let (new, entry) = changed(target, is_enabled, ttl)?;
    store::configurations::update(tx, &new).await?;
    entry.record(admin, tx, actor).await?;
    Ok(new)
}

/// The changed configuration of a pair, and the audit entry of the change.
pub(super) fn changed(
    target: &FlagEnvironment,
    is_enabled: bool,
    ttl: Option<Ttl>,
) -> Result<(Configuration, audit::Entry<'_>), Error> {
    let old = &target.configuration;
    let new = Configuration {
        is_enabled,
        ttl,
        revision: old.revision + 1,
        ..old.clone()
    };
    let entry = target.entry(AuditAction::FlagEnvironmentUpdated);
    let entry = entry.from(Some(old))?.to(&new)?;
    Ok((new, entry))
}
