//! The first steps of an installation, as far as they are taken.

use pennon_model::first_steps::FirstSteps;
use pennon_model::id::EnvironmentId;
use pennon_model::time::Timestamp;

use super::Admin;
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store;

/// Returns the first steps that are taken. While no request is known, this writes the counts of this instance to the
/// database first, so that a first request is known at once instead of a minute later.
pub(crate) async fn first_steps(admin: &Admin, _actor: &Actor) -> Result<FirstSteps, Error> {
    let mut found = store::first_steps::find(&mut admin.db.read().await?).await?;
    let is_awaited = found.environment_id.is_some() && found.requests == 0;
    // If the counts cannot be written, they are kept, and only the step appears later.
    if is_awaited && admin.flush_usage().await.is_ok() {
        found = store::first_steps::find(&mut admin.db.read().await?).await?;
    }
    Ok(FirstSteps {
        environment: found.environment_id.map(EnvironmentId::new),
        started_at: found.started_at.map(Timestamp::from_millis),
        flag_key: found.flag_key,
        has_request: found.requests > 0,
        is_flag_on: found.enabled > 0,
    })
}
