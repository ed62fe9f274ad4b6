//! How a flag stands in an environment.

use axum::extract::State;
use pennon_core::model::configuration::Configuration;
use pennon_core::model::id::EnvironmentId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::actor::{Actor, Editor};
use crate::error::Error;
use crate::http::body::Body;
use crate::http::code::Code;
use crate::http::fields::{Fields, FromFields};
use crate::http::if_match::IfMatch;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::{FromParameters, NoQuery, Parameters, Query};
use crate::http::respond::{Changed, Json, Tagged};
use crate::service::targeting::{ConfigurationPatch, Difference, PairId};
use crate::service::{Service, targeting};

pub(super) fn routes() -> Routes {
    let written = &[Code::FlagArchived, Code::EnvironmentRevoked];
    Routes::group("Configurations", "How a flag stands in an environment.")
        .with(route!(one))
        .with(route!(update).refuses(written))
        .with(route!(copy).refuses(written).refuses(&[Code::TooManyRules]))
}

/// Reads how a flag stands in an environment.
#[utoipa::path(get, path = "/flags/{flag}/environments/{environment}")]
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

/// Switches a flag in an environment, or changes how long clients may keep it.
///
/// What is absent stays as it is. The new state counts from the next evaluation on.
#[utoipa::path(put, path = "/flags/{flag}/environments/{environment}")]
async fn update(
    State(service): State<Service>,
    actor: Editor,
    Path(pair): Path<PairId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<ConfigurationPatch>,
) -> Result<Changed, Error> {
    targeting::check(&service, &actor, pair).await?;
    let patch = body.read().await?;
    let configured = targeting::configure(&service, &actor, pair, &precondition, patch).await?;
    Ok(Changed {
        revision: configured.revision,
    })
}

/// What a copy changes, or would change.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Copied {
    /// Whether nothing was changed.
    dry_run: bool,
    /// What was different, in the order in which it is changed.
    differences: Vec<Difference>,
}

/// Sets a flag up as it is in another environment.
///
/// Configuration, rules and rollout change in one transaction, or not at all. The answer tells the differences that there
/// were; with `dryRun` they stay.
#[utoipa::path(
    post,
    path = "/flags/{flag}/environments/{environment}/copy-from/{other}"
)]
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
    const ABOUT: &'static str = "A change of a configuration: what is absent stays as it is.";

    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let is_enabled = fields
            .about("Whether the flag is on; `false` at first.")
            .optional("isEnabled");
        let ttl = fields
            .about("How long clients may keep the flag; `null` leaves it to them.")
            .patch("ttlOverrideSeconds");
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
        let dry_run = parameters
            .about("Only tell the differences; `false` if it is absent.")
            .optional("dryRun");
        Some(Self {
            dry_run: dry_run?.unwrap_or_default(),
        })
    }
}
