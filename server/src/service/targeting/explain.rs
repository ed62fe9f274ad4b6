//! What a flag in an environment evaluates to, and why: for administrators, who have no SDK key.

use pennon_core::model::id::RuleId;
use pennon_core::{CompiledFlag, Context, FlagConfig, MissingBucketingValue};

use super::PairId;
use super::setup::Standing;
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::service::Service;
use crate::service::explanation::Explained;

/// Decides a flag in an environment as it stands in the database, and tells how. A revoked environment is explained too,
/// although nobody can evaluate there any more.
pub(crate) async fn explain(
    service: &Service,
    _actor: &Actor,
    id: PairId,
    context: &Context<'_>,
) -> Result<Explained, Error> {
    let standing = Standing::find(&mut service.db.read().await?, id).await?;
    let ids: Vec<RuleId> = standing.rules.iter().map(|rule| rule.id).collect();
    let flag = CompiledFlag::from(config(standing));
    let explanation = pennon_core::explain(&flag, context, MissingBucketingValue::Excluded);
    Ok(Explained::new(explanation, &ids))
}

/// All that an engine has to know of a flag in an environment, as it stands in the database.
pub(crate) async fn flag_config(
    service: &Service,
    _actor: &Actor,
    id: PairId,
) -> Result<FlagConfig, Error> {
    Standing::find(&mut service.db.read().await?, id)
        .await
        .map(config)
}

fn config(standing: Standing) -> FlagConfig {
    let Standing {
        pair,
        rules,
        rollout,
    } = standing;
    FlagConfig {
        key: pair.flag.key.as_str().into(),
        archived: pair.flag.archived_at.is_some(),
        enabled: pair.configuration.is_enabled,
        rules: rules.into_iter().map(|rule| rule.rule).collect(),
        rollout: rollout.map(|rollout| rollout.rollout),
        ttl: pair.configuration.ttl,
    }
}
