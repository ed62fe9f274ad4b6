//! How a flag stands in an environment.

use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use pennon_core::model::configuration::Configuration;
use pennon_core::model::id::EnvironmentId;
use serde::Serialize;

use crate::auth::actor::{Actor, Editor};
use crate::error::Error;
use crate::http::body::Body;
use crate::http::fields::{Fields, FromFields};
use crate::http::if_match::IfMatch;
use crate::http::path::Path;
use crate::http::query::{FromParameters, NoQuery, Parameters, Query};
use crate::http::respond::{Json, NoContent, Tagged, etag};
use crate::service::targeting::{ConfigurationPatch, Difference, PairId};
use crate::service::{Service, targeting};

pub(super) fn router() -> Router<Service> {
    Router::new()
        .route(
            "/flags/{flag}/environments/{environment}",
            get(one).put(update),
        )
        .route(
            "/flags/{flag}/environments/{environment}/copy-from/{other}",
            post(copy),
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

/// What a copy changes, or would change.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Copied {
    dry_run: bool,
    differences: Vec<Difference>,
}

async fn copy(
    State(service): State<Service>,
    actor: Editor,
    Path((pair, other)): Path<(PairId, EnvironmentId)>,
    query: Query<CopyOptions>,
    IfMatch(precondition): IfMatch,
) -> Result<Json<Copied>, Error> {
    let CopyOptions { dry_run } = query.read()?;
    let differences =
        targeting::copy(&service, &actor, pair, other, &precondition, dry_run).await?;
    Ok(Json(Copied {
        dry_run,
        differences,
    }))
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

/// How to copy.
struct CopyOptions {
    dry_run: bool,
}

impl FromParameters for CopyOptions {
    fn from_parameters(parameters: &mut Parameters) -> Option<Self> {
        let dry_run = parameters.optional("dryRun");
        Some(Self {
            dry_run: dry_run?.unwrap_or_default(),
        })
    }
}
