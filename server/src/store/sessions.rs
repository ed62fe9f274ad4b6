//! Sign-ins that are still good.

use pennon_core::model::id::SessionId;
use pennon_core::model::time::Timestamp;
use pennon_core::model::user::User;
use uuid::Uuid;

use super::{Tx, on_conn, users};
use crate::auth::secret::SecretHash;
use crate::error::Error;

/// What the holder of a session's secret can do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionKind {
    /// The secret is a refresh token of the Admin API.
    Api,
    /// The secret is the dashboard's cookie.
    Dashboard,
}

impl SessionKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Dashboard => "dashboard",
        }
    }
}

/// A session to begin.
pub(crate) struct NewSession<'a> {
    pub(crate) id: SessionId,
    pub(crate) user: &'a User,
    pub(crate) kind: SessionKind,
    pub(crate) secret: SecretHash,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Timestamp,
}

#[derive(sqlx::FromRow)]
struct SessionRow {
    session_id: Uuid,
    id: Uuid,
    email: String,
    role: String,
}

/// Begins a session.
pub(crate) async fn insert(tx: &mut Tx, session: &NewSession<'_>) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "insert into sessions (id, user_id, kind, secret_hash, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6)",
    )
    .bind(session.id.uuid())
    .bind(session.user.id.uuid())
    .bind(session.kind.as_str())
    .bind(session.secret.as_bytes())
    .bind(session.created_at.millis())
    .bind(session.expires_at.millis())
    .execute(conn).await.map(drop))?;
    Ok(())
}

/// Whose session it is, as long as it has neither ended nor expired.
pub(crate) async fn by_id(
    tx: &mut Tx,
    id: SessionId,
    now: Timestamp,
) -> Result<Option<User>, Error> {
    let row: Option<SessionRow> = on_conn!(tx, conn => sqlx::query_as(
        "select sessions.id as session_id, users.id, users.email, users.role
         from sessions join users on users.id = sessions.user_id
         where sessions.id = $1 and sessions.ended_at is null and sessions.expires_at > $2",
    ).bind(id.uuid()).bind(now.millis()).fetch_optional(conn).await)?;
    row.map(|row| users::user(row.id, row.email, &row.role))
        .transpose()
}

/// The dashboard session that a cookie belongs to, and whose it is.
pub(crate) async fn by_cookie(
    tx: &mut Tx,
    cookie: SecretHash,
    now: Timestamp,
) -> Result<Option<(SessionId, User)>, Error> {
    let row: Option<SessionRow> = on_conn!(tx, conn => sqlx::query_as(
        "select sessions.id as session_id, users.id, users.email, users.role
         from sessions join users on users.id = sessions.user_id
         where sessions.secret_hash = $1 and sessions.kind = 'dashboard'
           and sessions.ended_at is null and sessions.expires_at > $2",
    ).bind(cookie.as_bytes()).bind(now.millis()).fetch_optional(conn).await)?;
    let Some(row) = row else { return Ok(None) };
    let user = users::user(row.id, row.email, &row.role)?;
    Ok(Some((SessionId::new(row.session_id), user)))
}

/// Ends a session.
pub(crate) async fn end(tx: &mut Tx, id: SessionId, now: Timestamp) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("update sessions set ended_at = $2 where id = $1 and ended_at is null")
        .bind(id.uuid()).bind(now.millis()).execute(conn).await.map(drop))?;
    Ok(())
}

/// Forgets the sessions that expired before `then`.
pub(crate) async fn forget_expired(tx: &mut Tx, then: Timestamp) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("delete from sessions where expires_at < $1")
        .bind(then.millis()).execute(conn).await.map(drop))?;
    Ok(())
}
