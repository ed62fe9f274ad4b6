//! Flags in environments by the names that people use.

use pennon_model::configuration::FlagEnvironmentId;

use crate::admin::{Admin, flags};
use crate::auth::actor::Actor;
use crate::error::{Entity, Error};
use crate::store;

/// Returns the flag with this key in the active environment with this path, `product/name`. The flag may not be
/// configured there.
pub(crate) async fn by_name(
    admin: &Admin,
    _actor: &Actor,
    key: &str,
    path: &str,
) -> Result<FlagEnvironmentId, Error> {
    let mut tx = admin.db.read().await?;
    let flag = flags::find_by_key(&mut tx, key).await?;
    let flag = flag.ok_or(Error::NotFound(Entity::Flag))?.id;
    let mut active = store::environments::active(&mut tx).await?.into_iter();
    let environment = active.find(|environment| environment.path() == path);
    let environment = environment.ok_or(Error::NotFound(Entity::Environment))?.id;
    Ok(FlagEnvironmentId { flag, environment })
}
