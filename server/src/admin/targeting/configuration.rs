//! The configuration of a flag in an environment: its switch and its time to live.

use pennon_core::ttl::Ttl;
use pennon_model::audit::AuditAction;
use pennon_model::configuration::{Configuration, PairId};

use super::Pair;
use crate::admin::changes::Change;
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
    id: PairId,
) -> Result<Configuration, Error> {
    Ok(Pair::find(&mut admin.db.read().await?, id)
        .await?
        .configuration)
}

/// Changes the configuration of a flag in an environment, and answers it as it is then.
pub(crate) async fn configure(
    admin: &Admin,
    actor: &Editor,
    id: PairId,
    precondition: &Precondition,
    patch: ConfigurationPatch,
) -> Result<Configuration, Error> {
    let mut tx = admin.db.write().await?;
    let pair = Pair::find_writable(&mut tx, id).await?;
    let old = &pair.configuration;
    precondition.check(old.revision)?;
    let is_enabled = patch.is_enabled.unwrap_or(old.is_enabled);
    let ttl = patch.ttl.applied_to(old.ttl);
    if (is_enabled, ttl) == (old.is_enabled, old.ttl) {
        return Ok(pair.configuration);
    }
    let change = Change {
        environment: id.environment,
        flag: Some(id.flag),
        revision: store::environments::raise_config_revision(&mut tx, id.environment).await?,
    };
    let new = update(admin, &mut tx, actor, &pair, is_enabled, ttl).await?;
    changes::commit(admin, tx, vec![change]).await?;
    Ok(new)
}

/// Keeps another configuration, within a transaction.
pub(super) async fn update(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    pair: &Pair,
    is_enabled: bool,
    ttl: Option<Ttl>,
) -> Result<Configuration, Error> {
    let (new, entry) = changed(pair, is_enabled, ttl)?;
    store::configurations::update(tx, &new).await?;
    entry.record(admin, tx, actor).await?;
    Ok(new)
}

/// The changed configuration of a pair, and the audit entry of the change.
pub(super) fn changed(
    pair: &Pair,
    is_enabled: bool,
    ttl: Option<Ttl>,
) -> Result<(Configuration, audit::Entry<'_>), Error> {
    let old = &pair.configuration;
    let new = Configuration {
        is_enabled,
        ttl,
        revision: old.revision + 1,
        ..old.clone()
    };
    let entry = pair.entry(AuditAction::FlagEnvironmentUpdated);
    let entry = entry.from(Some(old))?.to(&new)?;
    Ok((new, entry))
}
