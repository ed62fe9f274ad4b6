//! The rollout of a flag in an environment.

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use pennon_core::model::rollout::Rollout;
use pennon_core::model::targeting::FlagRollout;

use crate::auth::actor::{Actor, Editor};
use crate::error::Error;
use crate::http::body::Body;
use crate::http::fields::{Fields, FromFields};
use crate::http::if_match::IfMatch;
use crate::http::path::Path;
use crate::http::query::NoQuery;
use crate::http::respond::{Created, NoContent, Tagged};
use crate::service::targeting::{PairId, Upserted};
use crate::service::{Service, targeting};

pub(super) fn router() -> Router<Service> {
    Router::new().route(
        "/flags/{flag}/environments/{environment}/rollout",
        get(one).put(put).delete(delete),
    )
}

async fn one(
    State(service): State<Service>,
    actor: Actor,
    Path(pair): Path<PairId>,
    _: NoQuery,
) -> Result<Tagged<FlagRollout>, Error> {
    targeting::rollout(&service, &actor, pair).await.map(Tagged)
}

async fn put(
    State(service): State<Service>,
    actor: Editor,
    Path(pair): Path<PairId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<Rollout>,
) -> Result<Response, Error> {
    targeting::check(&service, &actor, pair).await?;
    let rollout = body.read().await?;
    let (rollout, upserted) =
        targeting::set_rollout(&service, &actor, pair, &precondition, rollout).await?;
    let location = format!(
        "/flags/{}/environments/{}/rollout",
        pair.flag, pair.environment
    );
    Ok(match upserted {
        Upserted::Inserted => Created {
            location,
            body: Tagged(rollout),
        }
        .into_response(),
        Upserted::Updated => Tagged(rollout).into_response(),
    })
}

async fn delete(
    State(service): State<Service>,
    actor: Editor,
    Path(pair): Path<PairId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
) -> Result<NoContent, Error> {
    targeting::delete_rollout(&service, &actor, pair, &precondition).await?;
    Ok(NoContent)
}

impl FromFields for Rollout {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let percentage = fields.required("percentage");
        let strategy = fields.required("strategy");
        Some(Self {
            percentage: percentage?,
            strategy: strategy?,
        })
    }
}
