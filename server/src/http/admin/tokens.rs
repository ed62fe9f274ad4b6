//! Personal access tokens.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use pennon_core::model::token::Token;
use serde::Serialize;

use crate::auth::actor::{Actor, Person};
use crate::error::Error;
use crate::http::body::Body;
use crate::http::fields::{Fields, FromFields};
use crate::http::path::Path;
use crate::http::query::NoQuery;
use crate::http::respond::{Created, Json, NoContent};
use crate::service::tokens::{CreatedToken, NewToken, WhichToken};
use crate::service::users::Whose;
use crate::service::{Service, tokens};

pub(super) fn router() -> Router<Service> {
    Router::new()
        // Nobody can create tokens for others, so there is no other path to post to.
        .route("/users/me/tokens", get(list_own).post(create))
        .route("/users/{user}/tokens", get(list))
        .route("/users/{user}/tokens/{token}", get(one).delete(revoke))
}

/// A token with its secret, which no other answer has.
#[derive(Serialize)]
struct TokenWithSecret {
    #[serde(flatten)]
    token: Token,
    #[serde(rename = "token")]
    secret: String,
}

async fn create(
    State(service): State<Service>,
    person: Person,
    _: NoQuery,
    body: Body<NewToken>,
) -> Result<Created<Json<TokenWithSecret>>, Error> {
    let new = body.read().await?;
    let CreatedToken { token, secret } = tokens::create(&service, &person, new).await?;
    Ok(Created {
        location: format!("/users/{}/tokens/{}", token.user_id, token.id),
        body: Json(TokenWithSecret {
            token,
            secret: secret.expose().to_owned(),
        }),
    })
}

async fn list_own(
    State(service): State<Service>,
    actor: Actor,
    _: NoQuery,
) -> Result<Json<Vec<Token>>, Error> {
    tokens::list(&service, &actor, Whose::Mine).await.map(Json)
}

async fn list(
    State(service): State<Service>,
    actor: Actor,
    Path(owner): Path<Whose>,
    _: NoQuery,
) -> Result<Json<Vec<Token>>, Error> {
    tokens::list(&service, &actor, owner).await.map(Json)
}

async fn one(
    State(service): State<Service>,
    actor: Actor,
    Path(which): Path<WhichToken>,
    _: NoQuery,
) -> Result<Json<Token>, Error> {
    tokens::get(&service, &actor, which).await.map(Json)
}

async fn revoke(
    State(service): State<Service>,
    actor: Actor,
    Path(which): Path<WhichToken>,
    _: NoQuery,
) -> Result<NoContent, Error> {
    tokens::revoke(&service, &actor, which).await?;
    Ok(NoContent)
}

impl FromFields for NewToken {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let name = fields.required("name");
        let role = fields.required("role");
        let expires_at = fields.optional("expiresAt");
        Some(Self {
            name: name?,
            role: role?,
            expires_at: expires_at?,
        })
    }
}
