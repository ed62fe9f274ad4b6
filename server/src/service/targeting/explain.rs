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
    let Standing {
        pair,
        rules,
        rollout,
    } = Standing::find(&mut service.db.read().await?, id).await?;
    let ids: Vec<RuleId> = rules.iter().map(|rule| rule.id).collect();
    let flag = FlagConfig {
        key: pair.flag.key.as_str().into(),
        archived: pair.flag.archived_at.is_some(),
        enabled: pair.configuration.is_enabled,
        rules: rules.into_iter().map(|rule| rule.rule).collect(),
        rollout: rollout.map(|rollout| rollout.rollout),
        ttl: pair.configuration.ttl,
    };
    let flag = CompiledFlag::from(flag);
    let explanation = pennon_core::explain(&flag, context, MissingBucketingValue::Excluded);
    Ok(Explained::new(explanation, &ids))
}
