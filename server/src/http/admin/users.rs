//! Users, and the password of one's own.

use axum::extract::State;
use pennon_core::model::page::Page;
use pennon_core::model::user::User;

use crate::auth::actor::{Actor, Administrator, Person};
use crate::error::Error;
use crate::http::body::Body;
use crate::http::client_address::ClientAddress;
use crate::http::code::Code;
use crate::http::fields::{Fields, FromFields};
use crate::http::if_match::IfMatch;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::{FromParameters, NoQuery, Paged, Parameters, Query};
use crate::http::respond::{Created, Json, NoContent, Tagged};
use crate::service::users::{NewUser, PasswordChange, UserPatch, Whose};
use crate::service::{Service, users};
use crate::store::users::UserFilter;

pub(super) fn routes() -> Routes {
    Routes::group("Users", "People with accounts, and what they may do.")
        .with(route!(list))
        .with(route!(create).refuses(&[Code::EmailTaken]))
        .with(route!(one).refuses(&[Code::Forbidden]))
        .with(route!(update).refuses(&[Code::LastAdmin]))
        .with(route!(delete).refuses(&[Code::LastAdmin]))
        .with(route!(change_password).refuses(&[Code::TooManyAttempts]))
}

/// Creates an account.
#[utoipa::path(post, path = "/users")]
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

/// Lists users, newest first.
#[utoipa::path(get, path = "/users")]
async fn list(
    State(service): State<Service>,
    actor: Administrator,
    query: Query<Paged<UserFilter>>,
) -> Result<Json<Page<User>>, Error> {
    let Paged(filter, page) = query.read()?;
    users::list(&service, &actor, &filter, page).await.map(Json)
}

/// Reads a user.
///
/// Somebody else needs the role `admin`.
#[utoipa::path(get, path = "/users/{user}")]
async fn one(
    State(service): State<Service>,
    actor: Actor,
    Path(whose): Path<Whose>,
    _: NoQuery,
) -> Result<Tagged<User>, Error> {
    users::get(&service, &actor, whose).await.map(Tagged)
}

/// Changes the role of a user, or resets the password.
///
/// What is absent stays as it is. A reset ends all sessions of the user, and needs a session of one's own: a personal
/// access token does not suffice. There is always an administrator left.
#[utoipa::path(patch, path = "/users/{user}")]
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

/// Deletes a user.
///
/// Sessions and tokens end at once. There is always an administrator left.
#[utoipa::path(delete, path = "/users/{user}")]
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

/// Changes one's own password.
///
/// All other sessions end. A wrong `currentPassword` counts like a failed sign-in.
#[utoipa::path(put, path = "/users/me/password")]
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
    const ABOUT: &'static str = "An account to create.";

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
    const ABOUT: &'static str = "A change of a user: what is absent stays as it is.";

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
    const ABOUT: &'static str = "A change of one's own password.";

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
        let email = parameters
            .about("The one with exactly this address.")
            .optional("email");
        let role = parameters.about("Those with this role.").optional("role");
        Some(Self {
            email: email?,
            role: role?,
        })
    }
}
