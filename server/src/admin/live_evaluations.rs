//! Live evaluations: those that this instance makes for applications, for an editor who watches.

use pennon_model::id::EnvironmentId;

use super::{Admin, environments};
use crate::auth::authority::AnyEditor;
use crate::error::{Entity, Error};
use crate::snapshot::Watch;

/// Watches the evaluations of one flag of an active environment, or of all.
pub(crate) async fn watch(
    admin: &Admin,
    actor: &AnyEditor,
    environment: EnvironmentId,
    flag: Option<String>,
) -> Result<Watch, Error> {
    let environment = environments::get(admin, actor, environment).await?;
    actor.of(&environment)?;
    let watch = admin.serving.snapshots.watch(environment.id, flag);
    watch.ok_or(Error::NotFound(Entity::Environment))
}
