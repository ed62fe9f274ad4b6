//! Flags.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use pennon_core::model::flag::Flag;
use pennon_core::model::id::FlagId;
use pennon_core::model::page::Page;

use crate::auth::actor::{Actor, Editor};
use crate::error::Error;
use crate::http::body::Body;
use crate::http::fields::{Fields, FromFields};
use crate::http::if_match::IfMatch;
use crate::http::path::Path;
use crate::http::query::{FromParameters, NoQuery, Paged, Parameters, Query};
use crate::http::respond::{Created, Json, NoContent, Tagged};
use crate::service::flags::{FlagPatch, NewFlag};
use crate::service::{Service, flags};
use crate::store::flags::FlagSelection;

pub(super) fn router() -> Router<Service> {
    Router::new()
        .route("/flags", get(list).post(create))
        .route("/flags/{flag}", get(one).patch(update).delete(archive))
        .route("/flags/{flag}/restore", post(restore))
}

async fn create(
    State(service): State<Service>,
    actor: Editor,
    _: NoQuery,
    body: Body<NewFlag>,
) -> Result<Created<Tagged<Flag>>, Error> {
    let new = body.read().await?;
    let flag = flags::create(&service, &actor, new).await?;
    Ok(Created {
        location: format!("/flags/{}", flag.id),
        body: Tagged(flag),
    })
}

async fn list(
    State(service): State<Service>,
    actor: Actor,
    query: Query<Paged<FlagSelection>>,
) -> Result<Json<Page<Flag>>, Error> {
    let Paged(filter, page) = query.read()?;
    flags::list(&service, &actor, &filter, page).await.map(Json)
}

async fn one(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<FlagId>,
    _: NoQuery,
) -> Result<Tagged<Flag>, Error> {
    flags::get(&service, &actor, id).await.map(Tagged)
}

async fn archive(
    State(service): State<Service>,
    actor: Editor,
    Path(id): Path<FlagId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
) -> Result<NoContent, Error> {
    flags::archive(&service, &actor, id, &precondition).await?;
    Ok(NoContent)
}

async fn update(
    State(service): State<Service>,
    actor: Editor,
    Path(id): Path<FlagId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<FlagPatch>,
) -> Result<Tagged<Flag>, Error> {
    flags::get(&service, &actor, id).await?;
    let patch = body.read().await?;
    flags::update(&service, &actor, id, &precondition, patch)
        .await
        .map(Tagged)
}

async fn restore(
    State(service): State<Service>,
    actor: Editor,
    Path(id): Path<FlagId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
) -> Result<Tagged<Flag>, Error> {
    flags::restore(&service, &actor, id, &precondition)
        .await
        .map(Tagged)
}

impl FromFields for NewFlag {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let key = fields.required("key");
        let name = fields.required("name");
        let description = fields.nullable("description");
        let kind = fields.required("type");
        Some(Self {
            key: key?,
            name: name?,
            description: description?,
            kind: kind?,
        })
    }
}

impl FromFields for FlagPatch {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let name = fields.optional("name");
        let description = fields.patch("description");
        Some(Self {
            name: name?,
            description: description?,
        })
    }
}

impl FromParameters for FlagSelection {
    fn from_parameters(parameters: &mut Parameters) -> Option<Self> {
        let archived = parameters.optional("archived");
        let key = parameters.optional("key");
        let search = parameters.optional("q");
        let order = parameters.optional("sort");
        Some(Self {
            archived: archived?,
            key: key?,
            search: search?,
            order: order?.unwrap_or_default(),
        })
    }
}
