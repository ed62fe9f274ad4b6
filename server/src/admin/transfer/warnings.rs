//! Warnings about clients in use that cannot read the flags that an import changes.

use std::collections::HashSet;

use pennon_core::FlagConfig;
use pennon_model::environment::EnvironmentPath;

use super::installation::Installation;
use super::{Document, ImportedChange};
use crate::admin::warnings::{self, Warning};
use crate::admin::{Admin, usage};
use crate::auth::authority::Administrator;
use crate::error::Error;

/// Returns warnings about clients in use that cannot read the flags that an import changes, each with the environment.
pub(crate) async fn warnings(
    admin: &Admin,
    actor: &Administrator,
    document: &Document,
    changes: &[ImportedChange],
) -> Result<Vec<(EnvironmentPath, Warning)>, Error> {
    let mut tx = admin.db.read().await?;
    let environments = crate::store::environments::active(&mut tx).await?;
    drop(tx);
    let mut found = Vec::new();
    for (path, environment) in Installation::by_path(environments) {
        let keys: HashSet<&str> = changes
            .iter()
            .filter(|change| change.environment.as_ref() == Some(&path))
            .map(|change| change.flag.as_str())
            .collect();
        if keys.is_empty() {
            continue;
        }
        let clients = usage::outdated_clients(admin, actor, environment.id).await?;
        let flags = document.flags.iter();
        let flags = flags.filter(|flag| keys.contains(flag.key.as_str()));
        let configs: Vec<FlagConfig> = flags
            .flat_map(|flag| {
                let configurations = flag.environments.iter();
                configurations
                    .filter(|configuration| {
                        configuration.product == environment.product
                            && configuration.environment == environment.name
                    })
                    .map(|configuration| {
                        let content = configuration.content.clone();
                        content.config(&flag.key, flag.archived)
                    })
            })
            .collect();
        let warnings = warnings::about(&configs, &clients).into_iter();
        found.extend(warnings.map(|warning| (path.clone(), warning)));
    }
    Ok(found)
}
