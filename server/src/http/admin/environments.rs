//! Environments.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use pennon_core::model::environment::{Environment, EnvironmentName};
use pennon_core::model::id::EnvironmentId;
use pennon_core::model::page::Page;
use serde::Serialize;

use crate::auth::actor::{Actor, Administrator};
use crate::error::Error;
use crate::http::body::Body;
use crate::http::fields::{Fields, FromFields};
use crate::http::if_match::IfMatch;
use crate::http::path::Path;
use crate::http::query::{FromParameters, NoQuery, Paged, Parameters, Query};
use crate::http::respond::{Created, Json, Revised, Tagged};
use crate::service::environments::{CreatedEnvironment, NewEnvironment};
use crate::service::{Service, environments};
use crate::store::environments::EnvironmentFilter;

pub(super) fn router() -> Router<Service> {
    Router::new()
        .route("/environments", get(list).post(create))
        .route("/environments/{environment}", get(one).patch(rename))
        .route("/environments/{environment}/revoke", post(revoke))
        .route("/environments/{environment}/rotate-key", post(rotate_key))
}

/// An environment with its key, which no other answer has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EnvironmentWithKey {
    #[serde(flatten)]
    environment: Environment,
    sdk_key: String,
}

/// A change of an environment: what is absent stays as it is.
struct EnvironmentPatch {
    name: Option<EnvironmentName>,
}

impl Revised for EnvironmentWithKey {
    fn revision(&self) -> i64 {
        self.environment.revision
    }
}

async fn create(
    State(service): State<Service>,
    actor: Administrator,
    _: NoQuery,
    body: Body<NewEnvironment>,
) -> Result<Created<Tagged<EnvironmentWithKey>>, Error> {
    let new = body.read().await?;
    environments::create(&service, &actor, new)
        .await
        .map(with_key)
}

async fn list(
    State(service): State<Service>,
    actor: Actor,
    query: Query<Paged<EnvironmentFilter>>,
) -> Result<Json<Page<Environment>>, Error> {
    let Paged(filter, page) = query.read()?;
    environments::list(&service, &actor, &filter, page)
        .await
        .map(Json)
}

async fn one(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<EnvironmentId>,
    _: NoQuery,
) -> Result<Tagged<Environment>, Error> {
    environments::get(&service, &actor, id).await.map(Tagged)
}

async fn rename(
    State(service): State<Service>,
    actor: Administrator,
    Path(id): Path<EnvironmentId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<EnvironmentPatch>,
) -> Result<Tagged<Environment>, Error> {
    environments::get(&service, &actor, id).await?;
    let EnvironmentPatch { name } = body.read().await?;
    environments::rename(&service, &actor, id, &precondition, name)
        .await
        .map(Tagged)
}

async fn revoke(
    State(service): State<Service>,
    actor: Administrator,
    Path(id): Path<EnvironmentId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
) -> Result<Tagged<Environment>, Error> {
    environments::revoke(&service, &actor, id, &precondition)
        .await
        .map(Tagged)
}

async fn rotate_key(
    State(service): State<Service>,
    actor: Administrator,
    Path(id): Path<EnvironmentId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
) -> Result<Created<Tagged<EnvironmentWithKey>>, Error> {
    environments::rotate_key(&service, &actor, id, &precondition)
        .await
        .map(with_key)
}

fn with_key(created: CreatedEnvironment) -> Created<Tagged<EnvironmentWithKey>> {
    let location = format!("/environments/{}", created.environment.id);
    let sdk_key = created.sdk_key.expose().to_owned();
    Created {
        location,
        body: Tagged(EnvironmentWithKey {
            environment: created.environment,
            sdk_key,
        }),
    }
}

impl FromFields for NewEnvironment {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let product = fields.required("product");
        let name = fields.required("name");
        Some(Self {
            product: product?,
            name: name?,
        })
    }
}

impl FromFields for EnvironmentPatch {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let name = fields.optional("name");
        Some(Self { name: name? })
    }
}

impl FromParameters for EnvironmentFilter {
    fn from_parameters(parameters: &mut Parameters) -> Option<Self> {
        let product = parameters.optional("product");
        let name = parameters.optional("name");
        let status = parameters.optional("status");
        Some(Self {
            product: product?,
            name: name?,
            status: status?,
        })
    }
}
