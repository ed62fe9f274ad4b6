//! The rollout of a flag in an environment.

use axum::extract::State;
use pennon_core::rollout::Rollout;
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::targeting::FlagRollout;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Admin;
use crate::admin::targeting::Upserted;
use crate::admin::warnings::Warning;
use crate::admin::{targeting, warnings};
use crate::auth::actor::Actor;
use crate::auth::authority::AnyEditor;
use crate::error::Error;
use crate::http::body::{Body, NoBody};
use crate::http::code::Code;
use crate::http::existing::Existing;
use crate::http::fields::from_fields;
use crate::http::if_match::IfMatch;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::NoQuery;
use crate::http::respond::{Created, NoContent, Put, Revised, Tagged};

pub(super) fn routes() -> Routes {
    let written = &[Code::FlagArchived, Code::EnvironmentRevoked];
    Routes::group(
        "Rollouts",
        "One rollout per flag and environment. It determines a stable result for contexts that match no rule.",
    )
    .with(route!(one).refuses(&[Code::RolloutNotFound]))
    .with(route!(put).refuses(written))
    .with(route!(delete).refuses(written).refuses(&[Code::RolloutNotFound]))
}

/// A saved rollout.
#[derive(Serialize, ToSchema)]
struct SavedRollout {
    #[serde(flatten)]
    rollout: FlagRollout,
    /// Warnings about clients in use that cannot read the flag; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<Warning>,
}

impl Revised for SavedRollout {
    fn revision(&self) -> i64 {
        self.rollout.revision
    }
}

/// Reads the rollout of a flag in an environment.
#[utoipa::path(get, path = "/flags/{flag}/environments/{environment}/rollout")]
async fn one(
    State(admin): State<Admin>,
    actor: Actor,
    Path(id): Path<FlagEnvironmentId>,
    _: NoQuery,
) -> Result<Tagged<FlagRollout>, Error> {
    targeting::rollout(&admin, &actor, id).await.map(Tagged)
}

/// Creates or changes the rollout of a flag in an environment.
#[utoipa::path(put, path = "/flags/{flag}/environments/{environment}/rollout")]
async fn put(
    State(admin): State<Admin>,
    actor: AnyEditor,
    target: Existing<FlagEnvironmentId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<Rollout>,
) -> Result<Put<Tagged<SavedRollout>>, Error> {
    let (id, rollout) = target.with(&admin, &actor, body.read()).await?;
    let (rollout, upserted) =
        targeting::set_rollout(&admin, &actor, id, &precondition, rollout).await?;
    let warnings = warnings::about_saved(&admin, &actor, id).await;
    let body = Tagged(SavedRollout { rollout, warnings });
    Ok(match upserted {
        Upserted::Inserted => Put::Inserted(Created {
            location: format!("/flags/{}/environments/{}/rollout", id.flag, id.environment),
            body,
        }),
        Upserted::Updated => Put::Updated(body),
    })
}

/// Deletes the rollout of a flag in an environment.
#[utoipa::path(delete, path = "/flags/{flag}/environments/{environment}/rollout")]
async fn delete(
    State(admin): State<Admin>,
    actor: AnyEditor,
    target: Existing<FlagEnvironmentId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: NoBody,
) -> Result<NoContent, Error> {
    let (id, ()) = target.with(&admin, &actor, body.read()).await?;
    targeting::delete_rollout(&admin, &actor, id, &precondition).await?;
    Ok(NoContent)
}

from_fields! {
    /// The percentage of contexts for which the flag is on, and the strategy that selects them.
    Rollout as "RolloutInput" IS_PART {
        percentage: required("percentage"),
        strategy: required("strategy"),
    }
}
