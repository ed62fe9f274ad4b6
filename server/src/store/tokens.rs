//! Personal access tokens.

use pennon_model::id::{TokenId, UserId};
use pennon_model::secret::SecretHash;
use pennon_model::time::Timestamp;
use pennon_model::token::Token;
use pennon_model::user::{Role, User};
use uuid::Uuid;

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
    Ok(inserted.is_some())
}

/// Returns all tokens of a user, newest first, including expired ones.
pub(crate) async fn of_user(tx: &mut Tx, user: UserId) -> Result<Vec<Token>, Error> {
    let rows: Vec<TokenRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id as token_id, user_id, name, prefix, role as token_role, created_at as token_created_at, expires_at
         from tokens where user_id = $1 order by created_at desc, id desc",
    ).bind(user.uuid()).fetch_all(conn).await)?;
    rows.into_iter().map(Token::try_from).collect()
}

/// Deletes a token.
pub(crate) async fn delete(tx: &mut Tx, id: TokenId) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("delete from tokens where id = $1")
        .bind(id.uuid()).execute(conn).await.map(drop))
}

/// Returns a valid token and its owner.
pub(crate) async fn by_hash(
    tx: &mut Tx,
    hash: SecretHash,
    now: Timestamp,
) -> Result<Option<(Token, User)>, Error> {
    let row: Option<OwnedRow> = on_conn!(tx, conn => sqlx::query_as(
        "select tokens.id as token_id, tokens.user_id, tokens.name, tokens.prefix, tokens.role as token_role,
                tokens.created_at as token_created_at, tokens.expires_at,
                users.id, users.email, users.role, users.created_at, users.revision
         from tokens join users on users.id = tokens.user_id
         where tokens.hash = $1 and tokens.expires_at > $2",
    ).bind(hash.as_bytes()).bind(now.millis()).fetch_optional(conn).await)?;
    let Some(OwnedRow { token, owner }) = row else {
        return Ok(None);
    };
    Ok(Some((token.try_into()?, owner.try_into()?)))
}

/// Returns the rights of a valid token.
pub(crate) async fn living(
    tx: &mut Tx,
    id: TokenId,
    now: Timestamp,
) -> Result<Option<Role>, Error> {
    let roles: Option<(String, String)> = on_conn!(tx, conn => sqlx::query_as(
        "select tokens.role, users.role from tokens join users on users.id = tokens.user_id
         where tokens.id = $1 and tokens.expires_at > $2",
    ).bind(id.uuid()).bind(now.millis()).fetch_optional(conn).await)?;
    let bad = |problem| bad_row("tokens", id, problem);
    let Some((token, owner)) = roles else {
        return Ok(None);
    };
    let token = Role::parse(&token).map_err(bad)?;
    Ok(Some(token.min(Role::parse(&owner).map_err(bad)?)))
}

impl TryFrom<TokenRow> for Token {
    type Error = Error;

    fn try_from(row: TokenRow) -> Result<Self, Error> {
        let bad = |problem| bad_row("tokens", row.token_id, problem);
        Ok(Self {
            id: TokenId::new(row.token_id),
            user_id: UserId::new(row.user_id),
            name: row.name.try_into().map_err(bad)?,
            role: Role::parse(&row.token_role).map_err(bad)?,
            token_prefix: row.prefix,
            created_at: Timestamp::from_millis(row.token_created_at),
            expires_at: Timestamp::from_millis(row.expires_at),
        })
    }
}
