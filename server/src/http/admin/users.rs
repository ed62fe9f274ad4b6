//! Users, and the caller's own password.

use std::net::IpAddr;

use axum::extract::State;
use pennon_model::grant::Grants;
use pennon_model::page::Page;
use pennon_model::user::{Role, User, UserFilter};
use serde_json::json;

use crate::admin::Admin;
use crate::admin::users;
use crate::admin::users::{AccountSelector, CurrentPassword, NewUser, PasswordChange, UserPatch};
use crate::auth::actor::Actor;
use crate::auth::authority::{Administrator, AnyRole};
use crate::auth::password::NewPassword;
use crate::error::Error;
use crate::http::body::{Body, NoBody};
use crate::http::client_address::ClientAddress;
use crate::http::code::Code;
use crate::http::existing::Existing;
use crate::http::fields::from_fields;
use crate::http::if_match::IfMatch;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::{NoQuery, Paged, Query};
use crate::http::respond::{Created, Json, NoContent, Tagged};

pub(super) fn routes() -> Routes {
    Routes::group("Users", "User accounts and their roles.")
        .with(route!(list))
        .with(
            route!(create)
                .refuses(&[Code::EmailTaken, Code::SessionRequired])
                .example(json!({
                    "email": "ana@example.com",
                    "password": "correct horse battery staple",
                    "role": "editor",
                    "grants": [{ "product": "Web shop", "role": "admin" }],
                })),
        )
        .with(route!(one).refuses(&[Code::Forbidden]))
        .with(route!(update).refuses(&[
            Code::LastAdmin,
            Code::SessionRequired,
            Code::TooManyAttempts,
        ]))
        .with(route!(delete).refuses(&[Code::LastAdmin]))
        .with(route!(change_password).refuses(&[Code::SessionRequired, Code::TooManyAttempts]))
}

/// Creates an account.
///
/// Requires a session, because the body contains a password. A personal access token is refused.
#[utoipa::path(post, path = "/users")]
async fn create(
    State(admin): State<Admin>,
    actor: Administrator,
    _: NoQuery,
    body: Body<NewUser>,
) -> Result<Created<Tagged<User>>, Error> {
    let new = body.read().await?;
    let user = users::create(&admin, &actor, new).await?;
    Ok(Created {
        location: format!("/users/{}", user.id),
        body: Tagged(user),
    })
}

/// Lists users, newest first.
#[utoipa::path(get, path = "/users")]
async fn list(
    State(admin): State<Admin>,
    actor: Administrator,
    query: Query<Paged<UserFilter>>,
) -> Result<Json<Page<User>>, Error> {
    let Paged(filter, page) = query.read()?;
    users::list(&admin, &actor, &filter, page).await.map(Json)
}

/// Reads a user.
///
/// Reading another user requires the role `admin`.
#[utoipa::path(get, path = "/users/{user}")]
async fn one(
    State(admin): State<Admin>,
    actor: Actor,
    Path(account): Path<AccountSelector>,
    _: NoQuery,
) -> Result<Tagged<User>, Error> {
    users::get(&admin, &actor, account).await.map(Tagged)
}

/// Changes the rights of a user, or resets the password.
///
/// Absent members stay unchanged. A new password ends all sessions of the user. It requires a session: a personal
/// access token is refused. To change your own password, also send `currentPassword`; a wrong one counts as a failed
/// sign-in. The last administrator cannot be demoted.
#[utoipa::path(patch, path = "/users/{user}")]
async fn update(
    State(admin): State<Admin>,
    actor: Administrator,
    target: Existing<AccountSelector>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    ClientAddress(address): ClientAddress,
    body: Body<UserChange>,
) -> Result<Tagged<User>, Error> {
    let (account, change) = target.with(&admin, &actor, body.read()).await?;
    users::update(&admin, &actor, account, &precondition, change.from(address))
        .await
        .map(Tagged)
}

/// Deletes a user.
///
/// All sessions and tokens of the user end immediately. The last administrator cannot be deleted.
#[utoipa::path(delete, path = "/users/{user}")]
async fn delete(
    State(admin): State<Admin>,
    actor: Administrator,
    target: Existing<AccountSelector>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: NoBody,
) -> Result<NoContent, Error> {
    let (account, ()) = target.with(&admin, &actor, body.read()).await?;
    users::delete(&admin, &actor, account, &precondition).await?;
    Ok(NoContent)
}

/// Changes your own password.
///
/// All your other sessions end. A wrong `currentPassword` counts as a failed sign-in. Requires a session: a personal
/// access token is refused.
#[utoipa::path(put, path = "/users/me/password")]
async fn change_password(
    State(admin): State<Admin>,
    actor: AnyRole,
    ClientAddress(address): ClientAddress,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<OwnPasswordChange>,
) -> Result<NoContent, Error> {
    let person = actor.clone().person().map_err(|_| Error::SessionRequired)?;
    let OwnPasswordChange { current, new } = body.read().await?;
    let current = CurrentPassword {
        text: current,
        from: address,
    };
    let change = PasswordChange { current, new };
    users::change_password(&admin, &person, &precondition, change).await?;
    Ok(NoContent)
}

from_fields! {
    /// An account to create.
    NewUser {
        email: required("email"),
        password: required("password"),
        /// The role, which applies everywhere.
        role: required("role"),
        /// The roles in single products and environments; none if absent.
        grants: grants("grants").map(Option::unwrap_or_default),
    }
}

/// A change of a user, as in the body.
struct UserChange {
    role: Option<Role>,
    grants: Option<Grants>,
    password: Option<NewPassword>,
    current: Option<String>,
}

impl UserChange {
    /// Returns the change, requested from this address.
    fn from(self, address: IpAddr) -> UserPatch {
        let current = |text| CurrentPassword {
            text,
            from: address,
        };
        UserPatch {
            role: self.role,
            grants: self.grants,
            password: self.password,
            current: self.current.map(current),
        }
    }
}

from_fields! {
    /// A change of a user; absent members stay unchanged.
    UserChange {
        role: optional("role"),
        /// All roles in single products and environments. They replace the present ones.
        grants: grants("grants"),
        password: optional("password"),
        current: optional("currentPassword"),
    }
}

/// A change of the caller's own password, as in the body.
struct OwnPasswordChange {
    current: String,
    new: NewPassword,
}

from_fields! {
    /// A change of your own password.
    OwnPasswordChange {
        current: required("currentPassword"),
        new: required("newPassword"),
    }
}

from_fields! {
    UserFilter {
        /// The user with this e-mail address, regardless of case.
        email: optional("email"),
        /// Users with this role.
        role: optional("role"),
    }
}
