//! How a flag stands in an environment.

use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use pennon_core::model::configuration::Configuration;

use crate::auth::actor::{Actor, Editor};
use crate::error::Error;
use crate::http::body::Body;
use crate::http::fields::{Fields, FromFields};
use crate::http::if_match::IfMatch;
use crate::http::path::Path;
use crate::http::query::NoQuery;
use crate::http::respond::{NoContent, Tagged, etag};
use crate::service::targeting::{ConfigurationPatch, PairId};
use crate::service::{Service, targeting};

pub(super) fn router() -> Router<Service> {
    Router::new().route(
        "/flags/{flag}/environments/{environment}",
        get(one).put(update),
    )
}

async fn one(
    State(service): State<Service>,
    actor: Actor,
    Path(pair): Path<PairId>,
    _: NoQuery,
) -> Result<Tagged<Configuration>, Error> {
    targeting::configuration(&service, &actor, pair)
        .await
        .map(Tagged)
}

async fn update(
    State(service): State<Service>,
    actor: Editor,
    Path(pair): Path<PairId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<ConfigurationPatch>,
) -> Result<impl IntoResponse, Error> {
    targeting::check(&service, &actor, pair).await?;
    let patch = body.read().await?;
    let configured = targeting::configure(&service, &actor, pair, &precondition, patch).await?;
    Ok((etag(configured.revision), NoContent))
}

impl FromFields for ConfigurationPatch {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let is_enabled = fields.optional("isEnabled");
        let ttl = fields.patch("ttlOverrideSeconds");
        Some(Self {
            is_enabled: is_enabled?,
            ttl: ttl?,
        })
    }
}
