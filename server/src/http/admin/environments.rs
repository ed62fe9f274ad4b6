//! Environments.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use pennon_core::model::environment::Environment;
use pennon_core::model::id::EnvironmentId;
use pennon_core::model::page::{Page, PageRequest};
use serde::Serialize;

use crate::auth::actor::{Actor, Administrator};
use crate::error::Error;
use crate::http::body::{Body, Fields};
use crate::http::path::Path;
use crate::http::query::{Parameters, Query};
use crate::http::respond::{Created, Json};
use crate::service::environments::NewEnvironment;
use crate::service::{Service, environments};
use crate::store::environments::EnvironmentFilter;

pub(super) fn router() -> Router<Service> {
    Router::new()
        .route("/environments", get(list).post(create))
        .route("/environments/{environment}", get(one))
}

/// An environment with its key, which no other answer has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EnvironmentWithKey {
    #[serde(flatten)]
    environment: Environment,
    sdk_key: String,
}

async fn create(
    State(service): State<Service>,
    actor: Administrator,
    body: Body,
) -> Result<Created<EnvironmentWithKey>, Error> {
    let new = body.read(new_environment).await?;
    let created = environments::create(&service, &actor, new).await?;
    let location = format!("/environments/{}", created.environment.id);
    let sdk_key = created.sdk_key.expose().to_owned();
    let body = EnvironmentWithKey {
        environment: created.environment,
        sdk_key,
    };
    Ok(Created { location, body })
}

async fn list(
    State(service): State<Service>,
    actor: Actor,
    query: Query,
) -> Result<Json<Page<Environment>>, Error> {
    let (filter, page) = query.read(selection)?;
    environments::list(&service, &actor, &filter, page)
        .await
        .map(Json)
}

async fn one(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<EnvironmentId>,
) -> Result<Json<Environment>, Error> {
    environments::get(&service, &actor, id).await.map(Json)
}

fn new_environment(fields: &mut Fields<'_>) -> Option<NewEnvironment> {
    let product = fields.required("product");
    let name = fields.required("name");
    Some(NewEnvironment {
        product: product?,
        name: name?,
    })
}

fn selection(parameters: &mut Parameters) -> Option<(EnvironmentFilter, PageRequest)> {
    let page = parameters.page();
    let product = parameters.optional("product");
    let status = parameters.optional("status");
    Some((
        EnvironmentFilter {
            product: product?,
            status: status?,
        },
        page?,
    ))
}
