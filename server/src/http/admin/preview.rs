//! The preview of a change.

use axum::extract::State;
use pennon_core::rule::MAX_RULES;
use pennon_model::configuration::FlagEnvironmentId;

use crate::admin::Admin;
use crate::admin::targeting::{self, ConfigurationPatch, MAX_CONTEXTS, Preview, Proposal};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::http::body::Body;
use crate::http::existing::Existing;
use crate::http::fields::{Fields, FromFields};
use crate::http::query::NoQuery;
use crate::http::respond::Json;

/// Previews a change of a flag in an environment.
///
/// The response has the result before and after the change for each context of a sample, the differences to the current
/// configuration, and probable mistakes. Nothing is changed, and nothing is counted as usage.
#[utoipa::path(post, path = "/flags/{flag}/environments/{environment}/preview")]
pub(super) async fn preview(
    State(admin): State<Admin>,
    actor: Actor,
    target: Existing<FlagEnvironmentId>,
    _: NoQuery,
    body: Body<Proposal>,
) -> Result<Json<Preview>, Error> {
    let (id, proposal) = target.with(&admin, &actor, body.read()).await?;
    targeting::preview(&admin, &actor, id, proposal)
        .await
        .map(Json)
}

impl FromFields for Proposal {
    const ABOUT: &'static str = "A proposed configuration, whose absent members are as they are now, and a sample of contexts.";

    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let switch = ConfigurationPatch::from_fields(fields);
        let rules = "All rules. A rule replaces the current one with the same priority.";
        let rules = fields.about(rules).optional_list("rules", 0..=MAX_RULES);
        let rollout = "The rollout; none with `null`.";
        let rollout = fields.about(rollout).patch_object("rollout");
        let contexts = "The sample; empty if absent.";
        let contexts = fields
            .about(contexts)
            .contexts("contexts", 0..=MAX_CONTEXTS);
        Some(Self {
            switch: switch?,
            rules: rules?,
            rollout: rollout?,
            contexts: contexts?,
        })
    }
}
