//! The usage of flags and environments.

use axum::extract::State;
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::page::{Page, PageRequest};

use crate::admin::Admin;
use crate::admin::usage;
use crate::admin::usage::{EnvironmentClient, EnvironmentUsage, FlagUsage, Period};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::http::fields::from_fields;
use crate::http::from_json::QueryTime;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::Query;
use crate::http::respond::Json;

pub(super) fn routes() -> Routes {
    Routes::group(
        "Usage",
        "Hourly counts of evaluations and polls in the last 31 days, and the time of the last one. Counts appear \
         within a minute. Evaluation contexts are never stored.",
    )
    .with(route!(of_flag))
    .with(route!(of_environment))
    .with(route!(clients))
}

from_fields! {
    Period {
        /// Any time in the first hour; at most 31 days before `to`, and one day before it if absent.
        from: optional("from").map(|time: Option<QueryTime>| time.map(|QueryTime(time)| time)),
        /// Any time in the last hour; now if absent.
        to: optional("to").map(|time: Option<QueryTime>| time.map(|QueryTime(time)| time)),
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

/// Counts the evaluations in an environment and the fetches of its config document.
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

/// Lists the clients that fetched the config document of an environment in the last 31 days, most recently seen first.
///
/// A client is an npm package of Pennon in one version, as named by the header `X-Pennon-Client`. At most 50 names are
/// counted per hour. All other clients, including those without the header, share one item with a null `package` and
/// `version`. Names are not verified: any holder of the SDK key can send any name.
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
