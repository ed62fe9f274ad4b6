//! The configuration of a flag in an environment.

use axum::extract::State;
use pennon_core::Context;
use pennon_model::configuration::{
    Configuration, ConfigurationPart, Difference, FlagEnvironmentId,
};
use pennon_model::id::EnvironmentId;
use serde::Serialize;
use utoipa::ToSchema;

use super::preview;
use crate::admin::Admin;
use crate::admin::targeting::{ConfigurationPatch, CopyPreconditions};
use crate::admin::warnings::Warning;
use crate::admin::{targeting, warnings};
use crate::auth::actor::Actor;
use crate::auth::authority::AnyEditor;
use crate::error::Error;
use crate::evaluation::explanation::Explained;
use crate::http::body::{Body, NoBody};
use crate::http::code::Code;
use crate::http::existing::Existing;
use crate::http::fields::{Fields, FromFields, from_fields};
use crate::http::if_match::IfMatch;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::{NoQuery, Query};
use crate::http::respond::{Changed, Json, Tagged};

pub(super) fn routes() -> Routes {
    let written = &[Code::FlagArchived, Code::EnvironmentRevoked];
    Routes::group("Configurations", "The state of a flag in an environment.")
        .with(route!(one))
        .with(route!(update).refuses(written))
        .with(route!(copy).refuses(written))
        .with(route!(explain))
        .with(route!(preview::preview))
}

/// Reads the configuration of a flag in an environment.
#[utoipa::path(get, path = "/flags/{flag}/environments/{environment}")]
async fn one(
    State(admin): State<Admin>,
    actor: Actor,
    Path(id): Path<FlagEnvironmentId>,
    _: NoQuery,
) -> Result<Tagged<Configuration>, Error> {
    targeting::configuration(&admin, &actor, id)
        .await
        .map(Tagged)
}

/// Switches a flag in an environment, or changes its TTL.
///
/// Absent members stay unchanged. The new state applies from the next evaluation.
#[utoipa::path(put, path = "/flags/{flag}/environments/{environment}")]
async fn update(
    State(admin): State<Admin>,
    actor: AnyEditor,
    target: Existing<FlagEnvironmentId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<ConfigurationPatch>,
) -> Result<Changed, Error> {
    let (id, patch) = target.with(&admin, &actor, body.read()).await?;
    let configured = targeting::configure(&admin, &actor, id, &precondition, patch).await?;
    Ok(Changed {
        revision: configured.revision,
    })
}

/// The result of a copy or of its dry run.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Copied {
    /// True if nothing was changed.
    dry_run: bool,
    /// The differences, in the order of the changes.
    differences: Vec<Difference>,
    /// Warnings about clients in use in the changed environment that cannot read the flag; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<Warning>,
}

/// Copies the configuration of a flag from another environment.
///
/// Configuration, rules and rollout change in one transaction. The response lists the differences. With `dryRun`,
/// nothing is changed.
#[utoipa::path(
    post,
    path = "/flags/{flag}/environments/{environment}/copy-from/{other}"
)]
async fn copy(
    State(admin): State<Admin>,
    actor: AnyEditor,
    target: Existing<(FlagEnvironmentId, EnvironmentId)>,
    query: Query<CopyOptions>,
    IfMatch(precondition): IfMatch,
    body: NoBody,
) -> Result<Json<Copied>, Error> {
    let reading = async {
        body.read().await?;
        query.read()
    };
    let ((id, other), options) = target.with(&admin, &actor, reading).await?;
    let CopyOptions { part, dry_run } = options;
    let expected = CopyPreconditions {
        to: precondition,
        ..CopyPreconditions::default()
    };
    let copied = targeting::copy(&admin, &actor, id, other, part, &expected, dry_run).await?;
    let source = FlagEnvironmentId {
        environment: other,
        ..id
    };
    Ok(Json(Copied {
        dry_run,
        differences: copied.differences,
        warnings: warnings::about_flag(&admin, &actor, source, id.environment).await,
    }))
}

/// Evaluates a flag in an environment, and explains every step.
///
/// No SDK key is required. The evaluation uses the flag's state in the database, also in a revoked environment, and is
/// not counted as usage.
#[utoipa::path(post, path = "/flags/{flag}/environments/{environment}/explain")]
async fn explain(
    State(admin): State<Admin>,
    actor: Actor,
    target: Existing<FlagEnvironmentId>,
    _: NoQuery,
    body: Body<Subject>,
) -> Result<Json<Explained>, Error> {
    let id = target.id();
    let explaining = async {
        let Subject(context) = body.read().await?;
        targeting::explain(&admin, &actor, id, &context).await
    };
    let (_, explained) = target.with(&admin, &actor, explaining).await?;
    Ok(Json(explained))
}

/// The context for which to evaluate.
struct Subject(Context<'static>);

impl FromFields for Subject {
    const ABOUT: &'static str = "The evaluation context.";

    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        fields.context("context").map(Self)
    }
}

from_fields! {
    /// A change of a configuration; absent members stay unchanged.
    ConfigurationPatch {
        /// True if the flag is on; `false` initially.
        is_enabled: optional("isEnabled"),
        /// The time for which clients may keep the flag, in seconds. With `null`, the clients' setting applies.
        ttl: patch("ttlOverrideSeconds"),
    }
}

/// The options of a copy.
struct CopyOptions {
    part: Option<ConfigurationPart>,
    dry_run: bool,
}

from_fields! {
    CopyOptions {
        /// The only part to copy; the whole configuration if absent.
        part: optional("part"),
        /// If true, the differences are returned and nothing is changed; `false` if absent.
        dry_run: or_default("dryRun"),
    }
}
