//! Personal access tokens.

use std::collections::HashMap;

use pennon_model::grant::Grants;
use pennon_model::id::{TokenId, UserId};
use pennon_model::secret::SecretHash;
use pennon_model::time::Timestamp;
use pennon_model::token::Token;
use pennon_model::user::{Role, User};
use uuid::Uuid;

use super::grants::{self, Grantee};
use super::users::UserRow;
use super::{Tx, bad_row, on_conn};
use crate::error::Error;

#[derive(sqlx::FromRow)]
struct TokenRow {
    token_id: Uuid,
    user_id: Uuid,
    name: String,
    prefix: String,
    token_role: String,
    token_created_at: i64,
    expires_at: i64,
}

#[derive(sqlx::FromRow)]
struct OwnedRow {
    #[sqlx(flatten)]
    token: TokenRow,
    #[sqlx(flatten)]
    owner: UserRow,
}

/// Adds a token; false if its owner has another token with the same name.
pub(crate) async fn insert(tx: &mut Tx, token: &Token, hash: SecretHash) -> Result<bool, Error> {
    let inserted: Option<Uuid> = on_conn!(tx, conn => sqlx::query_scalar(
        "insert into tokens (id, user_id, name, hash, prefix, role, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_id, name) do nothing returning id",
    )
    .bind(token.id.uuid())
    .bind(token.user_id.uuid())
    .bind(token.name.as_str())
    .bind(hash.as_bytes())
    .bind(&token.token_prefix)
    .bind(token.role.as_str())
    .bind(token.created_at.millis())
    .bind(token.expires_at.millis())
    .fetch_optional(conn).await)?;
    if inserted.is_some() {
        let grantee = Grantee::Token(token.user_id, token.id);
        grants::replace(tx, grantee, &token.grants).await?;
    }
    Ok(inserted.is_some())
}

/// Returns all tokens of a user, newest first, including expired ones.
pub(crate) async fn of_user(tx: &mut Tx, user: UserId) -> Result<Vec<Token>, Error> {
    let rows: Vec<TokenRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id as token_id, user_id, name, prefix, role as token_role, created_at as token_created_at, expires_at
         from tokens where user_id = $1 order by created_at desc, id desc",
    ).bind(user.uuid()).fetch_all(conn).await)?;
    let mut grants = grants::of_users(tx, &[user]).await?;
    rows.into_iter().map(|row| row.with(&mut grants)).collect()
}

/// Deletes a token.
pub(crate) async fn delete(tx: &mut Tx, id: TokenId) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("delete from tokens where id = $1")
        .bind(id.uuid()).execute(conn).await.map(drop))
}

/// The columns of an [`OwnedRow`].
macro_rules! owned_columns {
    () => {
        "tokens.id as token_id, tokens.user_id, tokens.name, tokens.prefix, tokens.role as token_role,
         tokens.created_at as token_created_at, tokens.expires_at,
         users.id, users.email, users.role, users.created_at, users.revision"
    };
}

/// Returns a valid token and its owner.
pub(crate) async fn by_hash(
    tx: &mut Tx,
    hash: SecretHash,
    now: Timestamp,
) -> Result<Option<(Token, User)>, Error> {
    let row: Option<OwnedRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", owned_columns!(), " from tokens join users on users.id = tokens.user_id
         where tokens.hash = $1 and tokens.expires_at > $2",
    )).bind(hash.as_bytes()).bind(now.millis()).fetch_optional(conn).await)?;
    with_owner(tx, row).await
}

/// Returns a token and its owner, if it is still valid.
pub(crate) async fn by_id(
    tx: &mut Tx,
    id: TokenId,
    now: Timestamp,
) -> Result<Option<(Token, User)>, Error> {
    let row: Option<OwnedRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", owned_columns!(), " from tokens join users on users.id = tokens.user_id
         where tokens.id = $1 and tokens.expires_at > $2",
    )).bind(id.uuid()).bind(now.millis()).fetch_optional(conn).await)?;
    with_owner(tx, row).await
}

/// Reads the grants of a token and of its owner, and returns both.
async fn with_owner(tx: &mut Tx, row: Option<OwnedRow>) -> Result<Option<(Token, User)>, Error> {
    let Some(OwnedRow { token, owner }) = row else {
        return Ok(None);
    };
    let mut grants = grants::of_users(tx, &[owner.id()]).await?;
    Ok(Some((token.with(&mut grants)?, owner.with(&mut grants)?)))
}

impl TokenRow {
    /// Returns the token, whose grants are among these.
    fn with(self, grants: &mut HashMap<Uuid, Grants>) -> Result<Token, Error> {
        let bad = |problem| bad_row("tokens", self.token_id, problem);
        Ok(Token {
            id: TokenId::new(self.token_id),
            user_id: UserId::new(self.user_id),
            name: self.name.try_into().map_err(bad)?,
            role: Role::parse(&self.token_role).map_err(bad)?,
            grants: grants.remove(&self.token_id).unwrap_or_default(),
            token_prefix: self.prefix,
            created_at: Timestamp::from_millis(self.token_created_at),
            expires_at: Timestamp::from_millis(self.expires_at),
        })
    }
}
