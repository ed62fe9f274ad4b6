//! Sign-in, token refresh and sign-out.

use axum::extract::State;
use pennon_model::user::User;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Admin;
use crate::admin::sessions::{self, Credentials, SessionKind, SignedIn};
use crate::auth::access_token::LIFETIME_SECONDS;
use crate::auth::actor::Person;
use crate::error::Error;
use crate::http::body::{Body, NoBody};
use crate::http::client_address::ClientAddress;
use crate::http::code::Code;
use crate::http::fields::{Fields, FromFields, from_fields};
use crate::http::openapi::{Routes, route};
use crate::http::query::NoQuery;
use crate::http::respond::{Json, NoContent};
use crate::state::Runtime;

pub(super) fn routes() -> Routes {
    let database = &[Code::DatabaseUnavailable, Code::StorageFull];
    Routes::group(
        "Sessions",
        "Sign in with an e-mail address and a password to start a session with short-lived access tokens.",
    )
    .with(
        route!(login)
            .refuses(database)
            .refuses(&[Code::WrongPassword, Code::TooManyAttempts]),
    )
    .with(route!(refresh).refuses(database).refuses(&[Code::Unauthenticated]))
    .with(route!(logout))
}

#[derive(Serialize, ToSchema)]
struct Tokens {
    /// The access token.
    access_token: String,
    /// The token to send to `/auth/refresh`, once, within 30 days.
    refresh_token: String,
    /// `Bearer`.
    #[schema(example = "Bearer")]
    token_type: &'static str,
    /// The lifetime of the access token, in seconds.
    #[schema(example = 900)]
    expires_in: i64,
    /// The signed-in user.
    user: User,
    /// The same user, under the member name that the API contract requires.
    #[serde(rename = "the service")]
    the_service: User,
}

/// Signs in.
#[utoipa::path(post, path = "/auth/login")]
async fn login(
    State(admin): State<Admin>,
    State(runtime): State<Runtime>,
    ClientAddress(address): ClientAddress,
    _: NoQuery,
    body: Body<Credentials>,
) -> Result<Json<Tokens>, Error> {
    let credentials = body
        .read_sign_in(&runtime.in_flight.unauthenticated)
        .await?;
    let signed_in = sessions::sign_in(&admin, credentials, address, SessionKind::Api).await?;
    tokens(&admin, signed_in).map(Json)
}

/// Exchanges a refresh token for a new pair of tokens.
///
/// A refresh token works once. For ten seconds it returns the same new pair again, in case the response was lost,
/// unless the new refresh token has been used. Later use of a spent token ends the session.
#[utoipa::path(post, path = "/auth/refresh")]
async fn refresh(
    State(admin): State<Admin>,
    State(runtime): State<Runtime>,
    _: NoQuery,
    body: Body<RefreshToken>,
) -> Result<Json<Tokens>, Error> {
    let RefreshToken(token) = body
        .read_sign_in(&runtime.in_flight.unauthenticated)
        .await?;
    let signed_in = sessions::refresh(&admin, &token).await?;
    tokens(&admin, signed_in).map(Json)
}

fn tokens(admin: &Admin, signed_in: SignedIn) -> Result<Tokens, Error> {
    let SignedIn {
        user,
        session,
        secret,
    } = signed_in;
    Ok(Tokens {
        access_token: admin
            .auth
            .access_tokens
            .issue(user.id, session, admin.clock.now())?,
        refresh_token: secret.expose().to_owned(),
        token_type: "Bearer",
        expires_in: LIFETIME_SECONDS,
        the_service: user.clone(),
        user,
    })
}

/// Signs out.
///
/// The session and its access token end immediately.
#[utoipa::path(post, path = "/auth/logout")]
async fn logout(
    State(admin): State<Admin>,
    actor: Person,
    _: NoQuery,
    body: NoBody,
) -> Result<NoContent, Error> {
    body.read().await?;
    sessions::sign_out(&admin, &actor).await?;
    Ok(NoContent)
}

from_fields! {
    /// The credentials of an account.
    Credentials {
        email: required("email"),
        password: required("password"),
    }
}

/// A refresh token to exchange.
struct RefreshToken(String);

impl FromFields for RefreshToken {
    const ABOUT: &'static str = "A refresh token to exchange.";

    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        fields.required("refresh_token").map(Self)
    }
}
