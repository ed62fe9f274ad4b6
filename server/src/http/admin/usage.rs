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
        /// The hour of this moment and later; a day before `to` if absent, 31 days at most.
        from: optional("from"),
        /// The hour of this moment and earlier; now if absent.
        to: optional("to"),
    }
}

/// Tells how often a flag was evaluated, by environment, hour and reason.
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

/// Tells how often anything was evaluated in an environment, and its configuration fetched.
///
/// `outdated` against `current` is how far clients are behind what there is.
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
/// A client is a package of Pennon's in one version, as the header `X-Pennon-Client` names it. At most 50 names are counted in
/// an hour; all other clients, such as those without the header, are one item whose `package` and `version` are null. Names are
/// claims: anybody who has the SDK key can make them.
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
