//! Personal access tokens.

use axum::extract::State;
use pennon_model::token::{CreatedToken, Token};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::admin::Admin;
use crate::admin::tokens;
use crate::admin::tokens::{NewToken, TokenSelector};
use crate::admin::users::AccountSelector;
use crate::auth::actor::{Actor, Person};
use crate::auth::authority::AnyRole;
use crate::error::Error;
use crate::http::body::{Body, NoBody};
use crate::http::code::Code;
use crate::http::existing::Existing;
use crate::http::fields::from_fields;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::NoQuery;
use crate::http::respond::{Created, Json, NoContent};

pub(super) fn routes() -> Routes {
    Routes::group(
        "Tokens",
        "Personal access tokens let scripts act on behalf of a user. A token never has more rights than its owner's \
         current role.",
    )
    .with(route!(list_own))
    // A user cannot create tokens for others, so no other path accepts POST.
    .with(
        route!(create)
            .refuses(&[Code::Forbidden, Code::TokenNameTaken, Code::TooManyTokens])
            .example(json!({ "name": "deploy", "role": "viewer" })),
    )
    .with(route!(list).refuses(&[Code::Forbidden]))
    .with(route!(one).refuses(&[Code::Forbidden]))
    .with(route!(revoke).refuses(&[Code::Forbidden]))
}

/// A token with its secret, which no other response contains.
#[derive(Serialize, ToSchema)]
struct TokenWithSecret {
    #[serde(flatten)]
    token: Token,
    /// The secret.
    #[serde(rename = "token")]
    #[schema(example = "pnt_KcuZYI13saRJiEZi-7vpEG3jzZGv0SyyRP5qrhw3vHo")]
    secret: String,
}

/// Tokens, newest first.
#[derive(Serialize, ToSchema)]
struct TokenList(Vec<Token>);

/// Creates a token for yourself.
///
/// Only this response contains the secret, `token`: the server stores a hash. The role of the token must not exceed
/// your own. You can have 50 tokens.
#[utoipa::path(post, path = "/users/me/tokens")]
async fn create(
    State(admin): State<Admin>,
    person: Person,
    _: NoQuery,
    body: Body<NewToken>,
) -> Result<Created<Json<TokenWithSecret>>, Error> {
    let new = body.read().await?;
    let CreatedToken { token, secret } = tokens::create(&admin, &person, new).await?;
    Ok(Created {
        location: format!("/users/{}/tokens/{}", token.user_id, token.id),
        body: Json(TokenWithSecret {
            token,
            secret: secret.expose().to_owned(),
        }),
    })
}

/// Lists your own tokens, newest first.
///
/// Expired tokens are listed until they are revoked.
#[utoipa::path(get, path = "/users/me/tokens")]
async fn list_own(
    State(admin): State<Admin>,
    actor: Actor,
    _: NoQuery,
) -> Result<Json<TokenList>, Error> {
    let tokens = tokens::list(&admin, &actor, AccountSelector::Mine).await?;
    Ok(Json(TokenList(tokens)))
}

/// Lists a user's tokens, newest first.
///
/// Tokens of another user require the role `admin`.
#[utoipa::path(get, path = "/users/{user}/tokens")]
async fn list(
    State(admin): State<Admin>,
    actor: Actor,
    Path(owner): Path<AccountSelector>,
    _: NoQuery,
) -> Result<Json<TokenList>, Error> {
    let tokens = tokens::list(&admin, &actor, owner).await?;
    Ok(Json(TokenList(tokens)))
}

/// Reads a token.
///
/// A token of another user requires the role `admin`.
#[utoipa::path(get, path = "/users/{user}/tokens/{token}")]
async fn one(
    State(admin): State<Admin>,
    actor: Actor,
    Path(which): Path<TokenSelector>,
    _: NoQuery,
) -> Result<Json<Token>, Error> {
    tokens::get(&admin, &actor, which).await.map(Json)
}

/// Revokes a token.
///
/// The token is refused immediately. A token of another user requires the role `admin`. A personal access token with a
/// lesser role can revoke itself, but no other token.
#[utoipa::path(delete, path = "/users/{user}/tokens/{token}")]
async fn revoke(
    State(admin): State<Admin>,
    actor: AnyRole,
    target: Existing<TokenSelector>,
    _: NoQuery,
    body: NoBody,
) -> Result<NoContent, Error> {
    let (which, ()) = target.with(&admin, &*actor, body.read()).await?;
    tokens::revoke(&admin, &actor, which).await?;
    Ok(NoContent)
}

from_fields! {
    /// A token to create.
    NewToken {
        name: required("name"),
        /// The role, which applies everywhere.
        role: required("role"),
        /// The roles in single products and environments; none if absent.
        grants: grants("grants").map(Option::unwrap_or_default),
        /// The time of expiry: in the future, at most 366 days from now; 90 days from now if absent.
        expires_at: optional("expiresAt"),
    }
}
