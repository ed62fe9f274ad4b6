//! Sessions and refresh tokens.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use pennon_model::id::{SessionId, UserId};
use pennon_model::secret::{MaskedSecret, SecretHash};
use pennon_model::time::Timestamp;
use pennon_model::user::User;
use sqlx::QueryBuilder;
use uuid::Uuid;

use super::query::push_one_of;
use super::users::{UserRow, user_columns, with_grants};
use super::{Tx, bad_row, on_conn};
use crate::error::Error;

/// A session to begin.
pub(crate) struct NewSession<'a> {
    pub(crate) id: SessionId,
    pub(crate) user: &'a User,
    /// The dashboard's cookie; none for API sessions, which have refresh tokens.
    pub(crate) cookie: Option<SecretHash>,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Timestamp,
}

/// A refresh token of a valid session.
pub(crate) struct RefreshToken {
    pub(crate) session: SessionId,
    pub(crate) user: User,
    /// The use of the token; none if it has not been used yet.
    pub(crate) spent: Option<Spent>,
}

/// The use of a refresh token.
pub(crate) struct Spent {
    pub(crate) at: Timestamp,
    /// The next token, masked by the spent one; none once the grace period for a lost response is over.
    pub(crate) successor: Option<MaskedSecret>,
}

#[derive(sqlx::FromRow)]
struct SessionRow {
    session_id: Uuid,
    #[sqlx(flatten)]
    user: UserRow,
}

#[derive(sqlx::FromRow)]
struct RefreshTokenRow {
    #[sqlx(flatten)]
    session: SessionRow,
    spent_at: Option<i64>,
    successor: Option<Vec<u8>>,
}

/// Begins a session.
pub(crate) async fn insert(tx: &mut Tx, session: &NewSession<'_>) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "insert into sessions (id, user_id, cookie_hash, created_at, expires_at) values ($1, $2, $3, $4, $5)",
    )
    .bind(session.id.uuid())
    .bind(session.user.id.uuid())
    .bind(session.cookie.as_ref().map(SecretHash::as_bytes))
    .bind(session.created_at.millis())
    .bind(session.expires_at.millis())
    .execute(conn).await.map(drop))
}

/// Adds a refresh token to a session, and extends the session.
pub(crate) async fn insert_refresh_token(
    tx: &mut Tx,
    session: SessionId,
    token: SecretHash,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "insert into refresh_tokens (hash, session_id, created_at) values ($1, $2, $3)",
    ).bind(token.as_bytes()).bind(session.uuid()).bind(now.millis()).execute(conn).await.map(drop))?;
    on_conn!(tx, conn => sqlx::query("update sessions set expires_at = $2 where id = $1")
        .bind(session.uuid()).bind(expires_at.millis()).execute(conn).await.map(drop))
}

/// Returns a refresh token, spent or not, if its session has neither ended nor expired and it was created after
/// `oldest`.
pub(crate) async fn refresh_token(
    tx: &mut Tx,
    token: SecretHash,
    now: Timestamp,
    oldest: Timestamp,
) -> Result<Option<RefreshToken>, Error> {
    let row: Option<RefreshTokenRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select sessions.id as session_id, ", user_columns!(), ",
                refresh_tokens.spent_at, refresh_tokens.successor
         from refresh_tokens
         join sessions on sessions.id = refresh_tokens.session_id
         join users on users.id = sessions.user_id
         where refresh_tokens.hash = $1 and refresh_tokens.created_at > $3
           and sessions.ended_at is null and sessions.expires_at > $2",
    )).bind(token.as_bytes()).bind(now.millis()).bind(oldest.millis()).fetch_optional(conn).await)?;
    let Some(RefreshTokenRow {
        session: SessionRow { session_id, user },
        spent_at,
        successor,
    }) = row
    else {
        return Ok(None);
    };
    let successor = successor.map(|bytes| MaskedSecret::try_from(&*bytes));
    let successor = successor
        .transpose()
        .map_err(|problem| bad_row("refresh_tokens", session_id, problem))?;
    let user = with_grants(tx, Some(user)).await?;
    Ok(user.map(|user| RefreshToken {
        session: SessionId::new(session_id),
        user,
        spent: spent_at.map(|at| Spent {
            at: Timestamp::from_millis(at),
            successor,
        }),
    }))
}

/// Marks a refresh token as spent in favor of its successor. This ends the grace period of the previous token.
pub(crate) async fn spend(
    tx: &mut Tx,
    session: SessionId,
    token: SecretHash,
    successor: MaskedSecret,
    now: Timestamp,
) -> Result<(), Error> {
    // Few tokens have a successor, and they have their own index. Without `is true`, SQLite would read all tokens of
    // the session.
    on_conn!(tx, conn => sqlx::query(
        "update refresh_tokens set successor = null where (session_id = $1) is true and successor is not null",
    ).bind(session.uuid()).execute(conn).await.map(drop))?;
    on_conn!(tx, conn => sqlx::query(
        "update refresh_tokens set spent_at = $2, successor = $3 where hash = $1 and spent_at is null",
    ).bind(token.as_bytes()).bind(now.millis()).bind(successor.as_bytes().as_slice()).execute(conn).await.map(drop))
}

/// Erases the successors of all tokens that were spent outside of this period, and returns the number of the others.
pub(crate) async fn erase_successors(
    tx: &mut Tx,
    kept: &RangeInclusive<Timestamp>,
) -> Result<i64, Error> {
    on_conn!(tx, conn => sqlx::query(
        "update refresh_tokens set successor = null
         where successor is not null and spent_at not between $1 and $2",
    ).bind(kept.start().millis()).bind(kept.end().millis()).execute(conn).await.map(drop))?;
    on_conn!(tx, conn => sqlx::query_scalar(
        "select count(*) from refresh_tokens where successor is not null",
    ).fetch_one(conn).await)
}

/// Returns the user of a session that has neither ended nor expired.
pub(crate) async fn by_id(
    tx: &mut Tx,
    id: SessionId,
    now: Timestamp,
) -> Result<Option<User>, Error> {
    let row: Option<SessionRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select sessions.id as session_id, ", user_columns!(), "
         from sessions join users on users.id = sessions.user_id
         where sessions.id = $1 and sessions.ended_at is null and sessions.expires_at > $2",
    )).bind(id.uuid()).bind(now.millis()).fetch_optional(conn).await)?;
    with_grants(tx, row.map(|row| row.user)).await
}

/// Returns the dashboard session of a cookie, and its user.
pub(crate) async fn by_cookie(
    tx: &mut Tx,
    cookie: SecretHash,
    now: Timestamp,
) -> Result<Option<(SessionId, User)>, Error> {
    let row: Option<SessionRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select sessions.id as session_id, ", user_columns!(), "
         from sessions join users on users.id = sessions.user_id
         where sessions.cookie_hash = $1 and sessions.ended_at is null and sessions.expires_at > $2",
    )).bind(cookie.as_bytes()).bind(now.millis()).fetch_optional(conn).await)?;
    let Some(SessionRow { session_id, user }) = row else {
        return Ok(None);
    };
    let user = with_grants(tx, Some(user)).await?;
    Ok(user.map(|user| (SessionId::new(session_id), user)))
}

/// Returns the last sign-ins of these users. Those without a stored session have none.
pub(crate) async fn last_begun(
    tx: &mut Tx,
    users: &[User],
) -> Result<HashMap<UserId, Timestamp>, Error> {
    if users.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<(Uuid, i64)> = on_conn!(tx, conn => {
        let mut query =
            QueryBuilder::new("select user_id, max(created_at) from sessions where user_id ");
        push_one_of(&mut query, users.iter().map(|user| user.id.uuid()));
        query.push(" group by user_id");
        query.build_query_as().fetch_all(conn).await
    })?;
    let begun = |(user, at)| (UserId::new(user), Timestamp::from_millis(at));
    Ok(rows.into_iter().map(begun).collect())
}

/// Ends a session.
pub(crate) async fn end(tx: &mut Tx, id: SessionId, now: Timestamp) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("update sessions set ended_at = $2 where id = $1 and ended_at is null")
        .bind(id.uuid()).bind(now.millis()).execute(conn).await.map(drop))
}

/// Ends all sessions of a user except one.
pub(crate) async fn end_all(
    tx: &mut Tx,
    user: UserId,
    but: Option<SessionId>,
    now: Timestamp,
) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "update sessions set ended_at = $3 where user_id = $1 and ($2 is null or id <> $2) and ended_at is null",
    ).bind(user.uuid()).bind(but.map(SessionId::uuid)).bind(now.millis()).execute(conn).await.map(drop))
}
