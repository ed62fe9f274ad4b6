//! What a flag in an environment evaluates to, and why: for administrators, who have no SDK key.

use pennon_core::{CompiledFlag, Context, FlagConfig, MissingBucketingValue};
use pennon_model::configuration::PairId;
use pennon_model::id::RuleId;

use super::setup::Standing;
use crate::admin::Admin;
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::evaluation::explanation::Explained;

/// Decides a flag in an environment as it stands in the database, and tells how. A revoked environment is explained too,
/// although nobody can evaluate there any more.
pub(crate) async fn explain(
    admin: &Admin,
    _actor: &Actor,
    id: PairId,
    context: &Context<'_>,
) -> Result<Explained, Error> {
    let standing = Standing::find(&mut admin.db.read().await?, id).await?;
    let ids: Vec<RuleId> = standing.rules.iter().map(|rule| rule.id).collect();
    let flag = CompiledFlag::from(standing.config(&standing.desired()));
    let explanation = pennon_core::explain(&flag, context, MissingBucketingValue::Excluded);
    Ok(Explained::new(explanation, &ids))
}

/// All that an engine has to know of a flag in an environment, as it stands in the database.
pub(crate) async fn flag_config(
    admin: &Admin,
    _actor: &Actor,
    id: PairId,
) -> Result<FlagConfig, Error> {
    let standing = Standing::find(&mut admin.db.read().await?, id).await?;
    Ok(standing.config(&standing.desired()))
}
