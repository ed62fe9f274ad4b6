//! Warnings about clients in use that cannot read the flags that an import changes.

use std::collections::HashSet;

use pennon_core::FlagConfig;

use super::{Document, ImportedChange, Installation, PortableConfiguration, PortableFlag};
use crate::admin::warnings::{self, Warning};
use crate::admin::{Admin, usage};
use crate::auth::authority::Administrator;
use crate::error::Error;

/// Returns warnings about clients in use that cannot read the flags that an import changes, each with the environment
/// as `product/name`.
pub(crate) async fn warnings(
    admin: &Admin,
    actor: &Administrator,
    document: &Document,
    carried: &[ImportedChange],
) -> Result<Vec<(String, Warning)>, Error> {
    let mut tx = admin.db.read().await?;
    let environments = crate::store::environments::active(&mut tx).await?;
    drop(tx);
    let mut found = Vec::new();
    for ((product, name), environment) in Installation::by_name(environments) {
        let called = format!("{product}/{name}");
        let changed = carried.iter();
        let changed: HashSet<&str> = changed
            .filter(|change| change.environment.as_ref() == Some(&called))
            .map(|change| change.flag.as_str())
            .collect();
        if changed.is_empty() {
            continue;
        }
        let clients = usage::outdated_clients(admin, actor, environment.id).await?;
        let flags = document.flags.iter();
        let flags = flags.filter(|flag| changed.contains(flag.key.as_str()));
        let configs: Vec<FlagConfig> = flags
            .flat_map(|flag| {
                let configurations = flag.environments.iter();
                configurations
                    .filter(|configuration| {
                        configuration.product == product && configuration.environment == name
                    })
                    .map(|configuration| config(flag, configuration))
            })
            .collect();
        let warnings = warnings::about(&configs, &clients).into_iter();
        found.extend(warnings.map(|warning| (called.clone(), warning)));
    }
    Ok(found)
}

/// Returns the flag's entry in the config document after the import.
fn config(
    flag: &PortableFlag,
    PortableConfiguration { content, .. }: &PortableConfiguration,
) -> FlagConfig {
    FlagConfig {
        key: flag.key.as_str().into(),
        archived: flag.archived,
        enabled: content.switch.is_enabled,
        rules: content.rules.clone(),
        rollout: content.rollout,
        ttl: content.switch.ttl,
    }
}
