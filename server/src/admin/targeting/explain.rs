//! Explained evaluations for callers of the Admin API, who have no SDK key.

use pennon_core::{CompiledFlag, Context, FlagConfig, MissingBucketingKey};
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::id::RuleId;

use super::find_with_targeting;
use crate::admin::Admin;
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::evaluation::explanation::Explained;

/// Evaluates a flag in an environment by its state in the database, and explains the result. This also works for
/// revoked environments, although they no longer serve evaluations.
pub(crate) async fn explain(
    admin: &Admin,
    _actor: &Actor,
    id: FlagEnvironmentId,
    context: &Context<'_>,
) -> Result<Explained, Error> {
    let current = find_with_targeting(&mut admin.db.read().await?, id).await?;
    let ids: Vec<RuleId> = current.rules.iter().map(|rule| rule.id).collect();
    let flag = CompiledFlag::from(current.config());
    let explanation = pennon_core::explain(&flag, context, MissingBucketingKey::Excluded);
    Ok(Explained::new(explanation, &ids))
}

/// Returns the engine's input for a flag in an environment, as stored in the database.
pub(crate) async fn flag_config(
    admin: &Admin,
    _actor: &Actor,
    id: FlagEnvironmentId,
) -> Result<FlagConfig, Error> {
    let current = find_with_targeting(&mut admin.db.read().await?, id).await?;
    Ok(current.config())
}
