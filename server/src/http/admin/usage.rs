//! The number of evaluations of flags and of polls of environments.

use axum::extract::State;
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::page::{Page, PageRequest};

use crate::admin::Admin;
use crate::admin::usage;
use crate::admin::usage::{EnvironmentClient, EnvironmentUsage, FlagUsage, Period};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::http::fields::from_fields;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::Query;
use crate::http::respond::Json;

pub(super) fn routes() -> Routes {
    Routes::group(
        "Usage",
        "How often flags are evaluated and environments polled: hourly counts of the last 31 days, which arrive within a \
         minute, and when something was last seen. Nothing is kept about the subjects of evaluations.",
    )
    .with(route!(of_flag))
    .with(route!(of_environment))
    .with(route!(clients))
}

from_fields! {
    Period {
        /// Any moment in the first hour; a day before `to` if absent, 31 days before it at most.
        from: optional("from"),
        /// Any moment in the last hour; now if absent.
        to: optional("to"),
    }
}

/// Counts the evaluations of a flag, by environment, hour and reason.
#[utoipa::path(get, path = "/flags/{flag}/usage")]
async fn of_flag(
    State(admin): State<Admin>,
    actor: Actor,
    Path(id): Path<FlagId>,
    query: Query<Period>,
) -> Result<Json<FlagUsage>, Error> {
    let period = query.read()?;
    usage::of_flag(&admin, &actor, id, period).await.map(Json)
}

/// Counts the evaluations and the fetches of the configuration in an environment.
///
/// The ratio of `outdated` to `current` shows how far clients are behind.
#[utoipa::path(get, path = "/environments/{environment}/usage")]
async fn of_environment(
    State(admin): State<Admin>,
    actor: Actor,
    Path(id): Path<EnvironmentId>,
    query: Query<Period>,
) -> Result<Json<EnvironmentUsage>, Error> {
    let period = query.read()?;
    usage::of_environment(&admin, &actor, id, period)
        .await
        .map(Json)
}

/// Lists the clients that fetched the configuration of an environment in the last 31 days, most recently seen first.
///
/// A client is one of Pennon's packages in one version, as the header `X-Pennon-Client` names it. At most 50 names are
/// counted per hour; all other clients, such as those without the header, are one item whose `package` and `version`
/// are null. Names are not verified: every holder of the SDK key can send any name.
#[utoipa::path(get, path = "/environments/{environment}/clients")]
async fn clients(
    State(admin): State<Admin>,
    actor: Actor,
    Path(id): Path<EnvironmentId>,
    query: Query<PageRequest>,
) -> Result<Json<Page<EnvironmentClient>>, Error> {
    let clients = usage::clients(&admin, &actor, id, query.read()?).await?;
    Ok(Json(clients.map(EnvironmentClient::from)))
}
