//! Users, and the password of one's own.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, put};
use pennon_core::model::page::Page;
use pennon_core::model::user::User;

use crate::auth::actor::{Actor, Administrator, Person};
use crate::error::Error;
use crate::http::body::Body;
use crate::http::client_address::ClientAddress;
use crate::http::fields::{Fields, FromFields};
use crate::http::if_match::IfMatch;
use crate::http::path::Path;
use crate::http::query::{FromParameters, NoQuery, Paged, Parameters, Query};
use crate::http::respond::{Created, Json, NoContent, Tagged};
use crate::service::users::{NewUser, PasswordChange, UserPatch, Whose};
use crate::service::{Service, users};
use crate::store::users::UserFilter;

pub(super) fn router() -> Router<Service> {
    Router::new()
        .route("/users", get(list).post(create))
        .route("/users/{user}", get(one).patch(update).delete(delete))
        .route("/users/me/password", put(change_password))
}

async fn create(
    State(service): State<Service>,
    actor: Administrator,
    _: NoQuery,
    body: Body<NewUser>,
) -> Result<Created<Tagged<User>>, Error> {
    let new = body.read().await?;
    let user = users::create(&service, &actor, new).await?;
    Ok(Created {
        location: format!("/users/{}", user.id),
        body: Tagged(user),
    })
}

async fn list(
    State(service): State<Service>,
    actor: Administrator,
    query: Query<Paged<UserFilter>>,
) -> Result<Json<Page<User>>, Error> {
    let Paged(filter, page) = query.read()?;
    users::list(&service, &actor, &filter, page).await.map(Json)
}

async fn one(
    State(service): State<Service>,
    actor: Actor,
    Path(whose): Path<Whose>,
    _: NoQuery,
) -> Result<Tagged<User>, Error> {
    users::get(&service, &actor, whose).await.map(Tagged)
}

async fn update(
    State(service): State<Service>,
    actor: Administrator,
    Path(whose): Path<Whose>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<UserPatch>,
) -> Result<Tagged<User>, Error> {
    users::get(&service, &actor, whose).await?;
    let patch = body.read().await?;
    users::update(&service, &actor, whose, &precondition, patch)
        .await
        .map(Tagged)
}

async fn delete(
    State(service): State<Service>,
    actor: Administrator,
    Path(whose): Path<Whose>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
) -> Result<NoContent, Error> {
    users::delete(&service, &actor, whose, &precondition).await?;
    Ok(NoContent)
}

async fn change_password(
    State(service): State<Service>,
    person: Person,
    ClientAddress(address): ClientAddress,
    _: NoQuery,
    body: Body<PasswordChange>,
) -> Result<NoContent, Error> {
    let change = body.read().await?;
    users::change_password(&service, &person, address, change).await?;
    Ok(NoContent)
}

impl FromFields for NewUser {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let email = fields.required("email");
        let password = fields.required("password");
        let role = fields.required("role");
        Some(Self {
            email: email?,
            password: password?,
            role: role?,
        })
    }
}

impl FromFields for UserPatch {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let role = fields.optional("role");
        let password = fields.optional("password");
        Some(Self {
            role: role?,
            password: password?,
        })
    }
}

impl FromFields for PasswordChange {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let current = fields.required("currentPassword");
        let new = fields.required("newPassword");
        Some(Self {
            current: current?,
            new: new?,
        })
    }
}

impl FromParameters for UserFilter {
    fn from_parameters(parameters: &mut Parameters) -> Option<Self> {
        let email = parameters.optional("email");
        let role = parameters.optional("role");
        Some(Self {
            email: email?,
            role: role?,
        })
    }
}
