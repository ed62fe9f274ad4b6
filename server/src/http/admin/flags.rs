//! Flags.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use pennon_core::model::flag::Flag;
use pennon_core::model::id::FlagId;
use pennon_core::model::page::{Page, PageRequest};

use crate::auth::actor::{Actor, Editor};
use crate::error::Error;
use crate::http::body::{Body, Fields};
use crate::http::if_match::IfMatch;
use crate::http::path::Path;
use crate::http::query::{NoQuery, Parameters, Query};
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
    body: Body,
) -> Result<Created<Tagged<Flag>>, Error> {
    let new = body.read(new_flag).await?;
    let flag = flags::create(&service, &actor, new).await?;
    Ok(Created {
        location: format!("/flags/{}", flag.id),
        body: Tagged(flag),
    })
}

async fn list(
    State(service): State<Service>,
    actor: Actor,
    query: Query,
) -> Result<Json<Page<Flag>>, Error> {
    let (filter, page) = query.read(selection)?;
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
    body: Body,
) -> Result<Tagged<Flag>, Error> {
    flags::get(&service, &actor, id).await?;
    let patch = body.read(patch).await?;
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

fn new_flag(fields: &mut Fields<'_>) -> Option<NewFlag> {
    let key = fields.required("key");
    let name = fields.required("name");
    let description = fields.nullable("description");
    let kind = fields.required("type");
    Some(NewFlag {
        key: key?,
        name: name?,
        description: description?,
        kind: kind?,
    })
}

fn patch(fields: &mut Fields<'_>) -> Option<FlagPatch> {
    let name = fields.optional("name");
    let description = fields.patch("description");
    Some(FlagPatch {
        name: name?,
        description: description?,
    })
}

fn selection(parameters: &mut Parameters) -> Option<(FlagSelection, PageRequest)> {
    let page = parameters.page();
    let archived = parameters.optional("archived");
    let key = parameters.optional("key");
    let search = parameters.optional("q");
    let order = parameters.optional("sort");
    Some((
        FlagSelection {
            archived: archived?,
            key: key?,
            search: search?,
            order: order?.unwrap_or_default(),
        },
        page?,
    ))
}
