//! The configuration of a flag in an environment: its switch and its TTL override.

use pennon_core::ttl::Ttl;
use pennon_model::configuration::{Configuration, FlagEnvironmentId, Switch};

use super::step::{Step, commit};
use super::{find, find_writable};
use crate::admin::Admin;
use crate::admin::patch::Patch;
use crate::admin::precondition::Precondition;
use crate::auth::actor::Actor;
use crate::auth::authority::AnyEditor;
use crate::error::Error;

/// A change of a configuration; absent members stay unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConfigurationPatch {
    pub(crate) is_enabled: Option<bool>,
    pub(crate) ttl: Patch<Ttl>,
}

impl ConfigurationPatch {
    /// Returns the switch and the TTL override after the change.
    pub(super) fn applied_to(self, old: Switch) -> Switch {
        Switch {
            is_enabled: self.is_enabled.unwrap_or(old.is_enabled),
            ttl: self.ttl.applied_to(old.ttl),
        }
    }
}

/// Returns the configuration of a flag in an environment.
pub(crate) async fn configuration(
    admin: &Admin,
    _actor: &Actor,
    id: FlagEnvironmentId,
) -> Result<Configuration, Error> {
    let target = find(&mut admin.db.read().await?, id).await?;
    Ok(target.configuration)
}

/// Changes the configuration of a flag in an environment, and returns the new one.
pub(crate) async fn configure(
    admin: &Admin,
    actor: &AnyEditor,
    id: FlagEnvironmentId,
    precondition: &Precondition,
    patch: ConfigurationPatch,
) -> Result<Configuration, Error> {
    let mut tx = admin.db.write().await?;
    let (target, actor) = find_writable(&mut tx, actor, id).await?;
    let old = &target.configuration;
    precondition.check(old.revision)?;
    let switch = patch.applied_to(old.switch());
    if switch == old.switch() {
        return Ok(target.configuration);
    }
    let new = switched(old, switch);
    let step = Step::Configure(new.clone());
    commit(admin, tx, &actor, &target, vec![step]).await?;
    Ok(new)
}

/// Returns the configuration with another switch and TTL override.
pub(super) fn switched(old: &Configuration, switch: Switch) -> Configuration {
    Configuration {
        is_enabled: switch.is_enabled,
        ttl: switch.ttl,
        revision: old.revision + 1,
        ..old.clone()
    }
}
