//! Flags.

use axum::extract::State;
use pennon_model::flag::{Flag, FlagFilter};
use pennon_model::id::FlagId;
use pennon_model::page::Page;

use crate::admin::Admin;
use crate::admin::flags;
use crate::admin::flags::{FlagPatch, NewFlag};
use crate::auth::actor::{Actor, Editor};
use crate::error::Error;
use crate::http::body::{Body, NoBody};
use crate::http::code::Code;
use crate::http::existing::Existing;
use crate::http::fields::from_fields;
use crate::http::from_json::Search;
use crate::http::if_match::IfMatch;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::{NoQuery, Paged, Query};
use crate::http::respond::{Created, Json, NoContent, Tagged};

pub(super) fn routes() -> Routes {
    Routes::group(
        "Flags",
        "Features that applications evaluate by key. The state of a flag in an environment is its configuration.",
    )
    .with(route!(list))
    .with(route!(create).refuses(&[Code::FlagKeyTaken]))
    .with(route!(one))
    .with(route!(update).refuses(&[Code::FlagArchived]))
    .with(route!(archive).refuses(&[Code::FlagArchived, Code::FlagEnabled]))
    .with(route!(restore).refuses(&[Code::FlagNotArchived]))
}

/// Creates a flag.
///
/// The flag is off in every environment. Its key cannot be changed, and stays taken after archiving.
#[utoipa::path(post, path = "/flags")]
async fn create(
    State(admin): State<Admin>,
    actor: Editor,
    _: NoQuery,
    body: Body<NewFlag>,
) -> Result<Created<Tagged<Flag>>, Error> {
    let new = body.read().await?;
    let flag = flags::create(&admin, &actor, new).await?;
    Ok(Created {
        location: format!("/flags/{}", flag.id),
        body: Tagged(flag),
    })
}

/// Lists flags.
#[utoipa::path(get, path = "/flags")]
async fn list(
    State(admin): State<Admin>,
    actor: Actor,
    query: Query<Paged<FlagFilter>>,
) -> Result<Json<Page<Flag>>, Error> {
    let Paged(filter, page) = query.read()?;
    flags::list(&admin, &actor, &filter, page).await.map(Json)
}

/// Reads a flag.
#[utoipa::path(get, path = "/flags/{flag}")]
async fn one(
    State(admin): State<Admin>,
    actor: Actor,
    Path(id): Path<FlagId>,
    _: NoQuery,
) -> Result<Tagged<Flag>, Error> {
    flags::get(&admin, &actor, id).await.map(Tagged)
}

/// Archives a flag.
///
/// The flag must be off in every active environment. It is kept, its key stays taken, and it evaluates to `false` with
/// the reason `flag_archived`.
#[utoipa::path(delete, path = "/flags/{flag}")]
async fn archive(
    State(admin): State<Admin>,
    actor: Editor,
    Path(id): Path<FlagId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
) -> Result<NoContent, Error> {
    flags::archive(&admin, &actor, id, &precondition).await?;
    Ok(NoContent)
}

/// Changes the name or the description of a flag.
///
/// Absent members stay unchanged. A request that changes nothing succeeds and is not recorded.
#[utoipa::path(patch, path = "/flags/{flag}")]
async fn update(
    State(admin): State<Admin>,
    actor: Editor,
    target: Existing<FlagId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<FlagPatch>,
) -> Result<Tagged<Flag>, Error> {
    let (id, patch) = target.with(&admin, &actor, body.read()).await?;
    flags::update(&admin, &actor, id, &precondition, patch)
        .await
        .map(Tagged)
}

/// Restores an archived flag, off in every environment.
#[utoipa::path(post, path = "/flags/{flag}/restore")]
async fn restore(
    State(admin): State<Admin>,
    actor: Editor,
    target: Existing<FlagId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: NoBody,
) -> Result<Tagged<Flag>, Error> {
    let (id, ()) = target.with(&admin, &actor, body.read()).await?;
    flags::restore(&admin, &actor, id, &precondition)
        .await
        .map(Tagged)
}

from_fields! {
    /// A flag to create.
    NewFlag {
        key: required("key"),
        name: required("name"),
        description: nullable("description"),
        kind: required("type"),
    }
}

from_fields! {
    /// A change of a flag; absent members stay unchanged.
    FlagPatch {
        name: optional("name"),
        description: patch("description"),
    }
}

from_fields! {
    FlagFilter {
        /// True for archived flags only, `false` for active ones only; both if absent.
        archived: optional("archived"),
        /// The flag with exactly this key.
        key: optional("key"),
        /// Flags whose name or key contains this text, in any case.
        search: optional("q").map(|search: Option<Search>| search.map(|Search(text)| text)),
        order: or_default("sort"),
    }
}
