//! Accounts.

use pennon_core::model::id::UserId;
use pennon_core::model::time::Timestamp;
use pennon_core::model::user::{Role, User};
use uuid::Uuid;

use super::{Tx, bad_row, on_conn};
use crate::error::Error;

#[derive(sqlx::FromRow)]
struct UserRow {
    id: Uuid,
    email: String,
    role: String,
    password_hash: String,
}

/// A user and the hash of the password.
pub(crate) struct Account {
    pub(crate) user: User,
    pub(crate) password_hash: String,
}

/// Whether there is any user yet.
pub(crate) async fn any(tx: &mut Tx) -> Result<bool, Error> {
    let count: i64 = on_conn!(tx, conn => sqlx::query_scalar("select count(*) from users").fetch_one(conn).await)?;
    Ok(count > 0)
}

/// Adds a user; false if the e-mail address has an account already.
pub(crate) async fn insert(
    tx: &mut Tx,
    user: &User,
    password_hash: &str,
    now: Timestamp,
) -> Result<bool, Error> {
    let inserted: Option<Uuid> = on_conn!(tx, conn => sqlx::query_scalar(
        "insert into users (id, email, password_hash, role, created_at) values ($1, $2, $3, $4, $5)
         on conflict (email) do nothing returning id",
    )
    .bind(user.id.uuid())
    .bind(&user.email)
    .bind(password_hash)
    .bind(user.role.as_str())
    .bind(now.millis())
    .fetch_optional(conn).await)?;
    Ok(inserted.is_some())
}

/// The account of an e-mail address.
pub(crate) async fn by_email(tx: &mut Tx, email: &str) -> Result<Option<Account>, Error> {
    let row: Option<UserRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, email, role, password_hash from users where email = $1",
    ).bind(email).fetch_optional(conn).await)?;
    row.map(Account::try_from).transpose()
}

impl TryFrom<UserRow> for Account {
    type Error = Error;

    fn try_from(row: UserRow) -> Result<Self, Error> {
        let user = user(row.id, row.email, &row.role)?;
        Ok(Self {
            user,
            password_hash: row.password_hash,
        })
    }
}

/// A user from its columns.
pub(super) fn user(id: Uuid, email: String, role: &str) -> Result<User, Error> {
    let role = Role::parse(role).map_err(|problem| bad_row("users", id, problem))?;
    Ok(User {
        id: UserId::new(id),
        email,
        role,
    })
}
