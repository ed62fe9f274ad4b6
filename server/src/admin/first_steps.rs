//! The first steps of an installation, as far as they are taken.

use pennon_model::first_steps::FirstSteps;

use super::Admin;
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store;

/// Returns the first steps that are taken. While no request is known, this writes the counts of this instance to the
/// database first, so that a first request is known at once instead of a minute later.
pub(crate) async fn first_steps(admin: &Admin, _actor: &Actor) -> Result<FirstSteps, Error> {
    let taken = store::first_steps::find(&mut admin.db.read().await?).await?;
    let is_awaited = taken.environment.is_some() && !taken.has_request;
    // If the counts cannot be written, they are kept, and only the step appears later.
    if is_awaited && admin.flush_usage().await.is_ok() {
        return store::first_steps::find(&mut admin.db.read().await?).await;
    }
    Ok(taken)
}
