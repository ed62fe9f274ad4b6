//! Previous SDK keys, which keep working for some time after a rotation.

use axum::extract::State;
use pennon_model::client::Package;
use pennon_model::id::EnvironmentId;
use pennon_model::previous_key::{PreviousKey, PreviousKeyClient, PreviousKeyUsage};
use pennon_model::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::{Admin, previous_keys};
use crate::auth::actor::Actor;
use crate::auth::authority::AnyAdministrator;
use crate::error::Error;
use crate::http::body::NoBody;
use crate::http::code::Code;
use crate::http::existing::Existing;
use crate::http::if_match::IfMatch;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::NoQuery;
use crate::http::respond::{Json, NoContent};

/// Adds the routes to those of environments.
pub(super) fn added_to(routes: Routes) -> Routes {
    routes
        .with(route!(previous_key).refuses(&[Code::PreviousKeyNotFound]))
        .with(
            route!(end_previous_key)
                .refuses(&[Code::PreviousKeyNotFound, Code::EnvironmentRevoked]),
        )
}

/// The previous SDK key of an environment, and its use.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PreviousKeyUsage)]
struct UsedPreviousKey {
    #[serde(flatten)]
    key: PreviousKey,
    /// The time of its last use, to the minute.
    #[schema(required)]
    last_used_at: Option<Timestamp>,
    /// The clients that used it, most recently seen first.
    clients: Vec<UsingClient>,
}

/// A client that used the previous SDK key of an environment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PreviousKeyClient)]
struct UsingClient {
    /// The package; null for the sum of all clients that do not name a package of Pennon.
    #[schema(required)]
    package: Option<Package>,
    /// The version; `newer` for all versions that are newer than the server's, and null if `package` is null.
    #[schema(required, example = "0.1.0")]
    version: Option<String>,
    /// The number of fetches, streams and evaluation requests with the key.
    requests: i64,
    /// The last request, or the last minute in which a stream was open; to the minute.
    last_seen_at: Timestamp,
}

/// Shows the previous SDK key of an environment while it still works, and the clients that use it.
///
/// Uses appear within a minute. Evaluation requests and requests without the header `X-Pennon-Client` share one item
/// with a null `package` and `version`.
#[utoipa::path(get, path = "/environments/{environment}/previous-key")]
async fn previous_key(
    State(admin): State<Admin>,
    actor: Actor,
    Path(id): Path<EnvironmentId>,
    _: NoQuery,
) -> Result<Json<UsedPreviousKey>, Error> {
    previous_keys::usage(&admin, &actor, id)
        .await
        .map(|usage| Json(usage.into()))
}

/// Ends the overlap after a rotation early.
///
/// The previous SDK key is refused immediately, and its streams end.
#[utoipa::path(delete, path = "/environments/{environment}/previous-key")]
async fn end_previous_key(
    State(admin): State<Admin>,
    actor: AnyAdministrator,
    target: Existing<EnvironmentId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: NoBody,
) -> Result<NoContent, Error> {
    let (id, ()) = target.with(&admin, &actor, body.read()).await?;
    previous_keys::end(&admin, &actor, id, &precondition).await?;
    Ok(NoContent)
}

impl From<PreviousKeyUsage> for UsedPreviousKey {
    fn from(usage: PreviousKeyUsage) -> Self {
        Self {
            last_used_at: usage.last_used_at(),
            key: usage.key,
            clients: usage.clients.into_iter().map(UsingClient::from).collect(),
        }
    }
}

impl From<PreviousKeyClient> for UsingClient {
    fn from(usage: PreviousKeyClient) -> Self {
        Self {
            package: usage.client.package(),
            version: usage.client.version(),
            requests: usage.requests,
            last_seen_at: usage.last_seen_at,
        }
    }
}
