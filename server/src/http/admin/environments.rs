//! Environments.

use axum::extract::State;
use pennon_model::environment::{CreatedEnvironment, Environment, EnvironmentFilter};
use pennon_model::id::EnvironmentId;
use pennon_model::page::Page;
use pennon_model::previous_key::OverlapSeconds;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Admin;
use crate::admin::cloning::{self, CloneOptions};
use crate::admin::environments::{self, EnvironmentPatch, NewEnvironment};
use crate::auth::actor::Actor;
use crate::auth::authority::AnyAdministrator;
use crate::error::Error;
use crate::http::body::{Body, NoBody};
use crate::http::code::Code;
use crate::http::existing::Existing;
use crate::http::fields::from_fields;
use crate::http::if_match::IfMatch;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::{NoQuery, Paged, Query};
use crate::http::respond::{Created, Json, Revised, Tagged};

pub(super) fn routes() -> Routes {
    Routes::group(
        "Environments",
        "Places in which an application runs. Each environment belongs to a product and has one SDK key.",
    )
    .with(route!(list))
    .with(route!(create).refuses(&[Code::EnvironmentNameTaken]))
    .with(route!(one))
    .with(route!(update).refuses(&[
        Code::EnvironmentNameTaken,
        Code::EnvironmentRevoked,
        Code::VisibilityFixed,
    ]))
    .with(route!(clone).refuses(&[Code::EnvironmentNameTaken, Code::EnvironmentRevoked]))
    .with(route!(revoke).refuses(&[Code::EnvironmentRevoked]))
    .with(route!(rotate_key).refuses(&[Code::EnvironmentRevoked]))
}

/// An environment with its SDK key, which no other response contains.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct EnvironmentWithKey {
    #[serde(flatten)]
    environment: Environment,
    /// The SDK key with which applications evaluate flags.
    #[schema(example = "pnk_KcuZYI13saRJiEZi-7vpEG3jzZGv0SyyRP5qrhw3vHo")]
    sdk_key: String,
}

impl Revised for EnvironmentWithKey {
    fn revision(&self) -> i64 {
        self.environment.revision
    }
}

/// Creates an environment.
///
/// All active flags are off in it; a public environment has only public flags. Only this response contains `sdkKey`:
/// the server stores a hash.
#[utoipa::path(post, path = "/environments")]
async fn create(
    State(admin): State<Admin>,
    actor: AnyAdministrator,
    _: NoQuery,
    body: Body<NewEnvironment>,
) -> Result<Created<Tagged<EnvironmentWithKey>>, Error> {
    let new = body.read().await?;
    environments::create(&admin, &actor, new)
        .await
        .map(with_key)
}

/// Lists environments, newest first, or in the order of their products.
#[utoipa::path(get, path = "/environments")]
async fn list(
    State(admin): State<Admin>,
    actor: Actor,
    query: Query<Paged<EnvironmentFilter>>,
) -> Result<Json<Page<Environment>>, Error> {
    let Paged(filter, page) = query.read()?;
    environments::list(&admin, &actor, &filter, page)
        .await
        .map(Json)
}

/// Reads an environment.
#[utoipa::path(get, path = "/environments/{environment}")]
async fn one(
    State(admin): State<Admin>,
    actor: Actor,
    Path(id): Path<EnvironmentId>,
    _: NoQuery,
) -> Result<Tagged<Environment>, Error> {
    environments::get(&admin, &actor, id).await.map(Tagged)
}

/// Changes the name, the client rules or the safeguards of an environment.
///
/// Absent members stay unchanged. A request that changes nothing succeeds and is not recorded. The visibility cannot be
/// changed.
// The ID is a name in generated clients, so it stays what it was when only the name could be changed.
#[utoipa::path(patch, path = "/environments/{environment}", operation_id = "rename")]
async fn update(
    State(admin): State<Admin>,
    actor: AnyAdministrator,
    target: Existing<EnvironmentId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<EnvironmentPatch>,
) -> Result<Tagged<Environment>, Error> {
    let (id, patch) = target.with(&admin, &actor, body.read()).await?;
    environments::update(&admin, &actor, id, &precondition, patch)
        .await
        .map(Tagged)
}

/// Clones an environment.
///
/// Creates an environment with the same flag configurations, rules and rollouts, and its own SDK key. Absent members
/// are those of the original. Flags that exist only in the clone are off. This is also how to get another visibility.
#[utoipa::path(post, path = "/environments/{environment}/clone")]
async fn clone(
    State(admin): State<Admin>,
    actor: AnyAdministrator,
    target: Existing<EnvironmentId>,
    _: NoQuery,
    body: Body<CloneOptions>,
) -> Result<Created<Tagged<EnvironmentWithKey>>, Error> {
    // The role is needed for the product of the clone, which only a valid body names.
    let existing = target.with::<_, Actor>(&admin, &actor, body.read());
    let (id, options) = existing.await?;
    cloning::clone(&admin, &actor, id, options)
        .await
        .map(with_key)
}

/// Revokes an environment permanently.
///
/// Its SDK key is refused immediately. The environment can still be read, but no longer changed.
#[utoipa::path(post, path = "/environments/{environment}/revoke")]
async fn revoke(
    State(admin): State<Admin>,
    actor: AnyAdministrator,
    target: Existing<EnvironmentId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: NoBody,
) -> Result<Tagged<Environment>, Error> {
    let (id, ()) = target.with(&admin, &actor, body.read()).await?;
    environments::revoke(&admin, &actor, id, &precondition)
        .await
        .map(Tagged)
}

/// Replaces the SDK key of an environment.
///
/// Creates an environment with the same product, name, visibility, configurations, rules and rollouts. The old
/// environment is revoked, and its SDK key is refused immediately, or gives access to the new environment for
/// `overlapSeconds`. Only this response contains the new `sdkKey`. An earlier overlap ends, because only the last key
/// can overlap.
#[utoipa::path(post, path = "/environments/{environment}/rotate-key")]
async fn rotate_key(
    State(admin): State<Admin>,
    actor: AnyAdministrator,
    target: Existing<EnvironmentId>,
    query: Query<KeyRotation>,
    IfMatch(precondition): IfMatch,
    body: NoBody,
) -> Result<Created<Tagged<EnvironmentWithKey>>, Error> {
    let reading = async {
        body.read().await?;
        query.read()
    };
    let (id, KeyRotation { overlap }) = target.with(&admin, &actor, reading).await?;
    environments::rotate_key(&admin, &actor, id, &precondition, overlap)
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

from_fields! {
    /// An environment to create.
    NewEnvironment {
        product: required("product"),
        name: required("name"),
        /// `public` if the SDK key is in web pages or apps, where everyone can read it. It cannot be changed. Default
        /// `server`.
        visibility: or_default("visibility"),
        /// The extent to which the SDK key of a public environment reveals rules. Default `full`.
        client_rules: or_default("clientRules"),
        /// True if the dashboard asks for confirmation before each change in the environment. Default `false`.
        is_protected: or_default("protected"),
        /// True if changes in the environment must come with a reason. Default `false`.
        is_reason_required: or_default("reasonRequired"),
    }
}

from_fields! {
    /// The members in which a clone differs from its original.
    CloneOptions {
        product: optional("product"),
        name: required("name"),
        visibility: optional("visibility"),
        client_rules: optional("clientRules"),
        is_protected: optional("protected"),
        is_reason_required: optional("reasonRequired"),
    }
}

from_fields! {
    /// A change of an environment; absent members stay unchanged.
    EnvironmentPatch {
        name: optional("name"),
        /// Only the current visibility.
        visibility: optional("visibility"),
        /// The extent to which the SDK key of a public environment reveals rules.
        client_rules: optional("clientRules"),
        /// True if the dashboard asks for confirmation before each change in the environment.
        is_protected: optional("protected"),
        /// True if changes in the environment must come with a reason.
        is_reason_required: optional("reasonRequired"),
    }
}

/// The options of a rotation.
struct KeyRotation {
    overlap: OverlapSeconds,
}

from_fields! {
    KeyRotation {
        /// The time for which the old SDK key gives access to the new environment, in seconds.
        overlap: or_default("overlapSeconds"),
    }
}

from_fields! {
    EnvironmentFilter {
        /// Environments with exactly this product.
        product: optional("product"),
        /// Environments with exactly this name.
        name: optional("name"),
        status: optional("status"),
        visibility: optional("visibility"),
        order: or_default("sort"),
    }
}
