//! Signing in, staying signed in, and signing out.

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use pennon_core::model::user::User;
use serde::Serialize;

use crate::auth::access_token::LIFETIME_SECONDS;
use crate::auth::actor::Person;
use crate::error::Error;
use crate::http::body::Body;
use crate::http::client_address::ClientAddress;
use crate::http::fields::{Fields, FromFields};
use crate::http::query::NoQuery;
use crate::http::respond::{Json, NoContent};
use crate::service::Service;
use crate::service::sessions::{self, Credentials, SessionKind, SignedIn};

pub(super) fn router() -> Router<Service> {
    Router::new()
        .route("/auth/login", post(login))
        .route("/auth/refresh", post(refresh))
        .route("/auth/logout", post(logout))
}

#[derive(Serialize)]
struct Tokens {
    access_token: String,
    refresh_token: String,
    token_type: &'static str,
    expires_in: i64,
    user: User,
    /// The user once more, under the literal name that the contract gives it.
    #[serde(rename = "the service")]
    the_service: User,
}

async fn login(
    State(service): State<Service>,
    ClientAddress(address): ClientAddress,
    _: NoQuery,
    body: Body<Credentials>,
) -> Result<Json<Tokens>, Error> {
    let credentials = body.read().await?;
    let signed_in = sessions::sign_in(&service, credentials, address, SessionKind::Api).await?;
    tokens(&service, signed_in).map(Json)
}

async fn refresh(
    State(service): State<Service>,
    _: NoQuery,
    body: Body<RefreshToken>,
) -> Result<Json<Tokens>, Error> {
    let RefreshToken(token) = body.read().await?;
    let signed_in = sessions::refresh(&service, &token).await?;
    tokens(&service, signed_in).map(Json)
}

fn tokens(service: &Service, signed_in: SignedIn) -> Result<Tokens, Error> {
    let SignedIn {
        user,
        session,
        secret,
    } = signed_in;
    Ok(Tokens {
        access_token: service
            .access_tokens
            .issue(user.id, session, service.clock.now())?,
        refresh_token: secret.expose().to_owned(),
        token_type: "Bearer",
        expires_in: LIFETIME_SECONDS,
        the_service: user.clone(),
        user,
    })
}

async fn logout(
    State(service): State<Service>,
    actor: Person,
    _: NoQuery,
) -> Result<NoContent, Error> {
    sessions::sign_out(&service, &actor).await?;
    Ok(NoContent)
}

impl FromFields for Credentials {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let email = fields.required("email");
        let password = fields.required("password");
        Some(Self {
            email: email?,
            password: password?,
        })
    }
}

/// A refresh token, to be exchanged.
struct RefreshToken(String);

impl FromFields for RefreshToken {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        fields.required("refresh_token").map(Self)
    }
}
