//! Accounts.

use pennon_core::model::id::UserId;
use pennon_core::model::time::Timestamp;
use pennon_core::model::user::{Role, User};
use uuid::Uuid;

use super::{Tx, bad_row, on_conn};
use crate::error::Error;

#[derive(sqlx::FromRow)]
pub(super) struct UserRow {
    id: Uuid,
    email: String,
    role: String,
    created_at: i64,
    revision: i64,
}

#[derive(sqlx::FromRow)]
struct AccountRow {
    #[sqlx(flatten)]
    user: UserRow,
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
pub(crate) async fn insert(tx: &mut Tx, user: &User, password_hash: &str) -> Result<bool, Error> {
    let inserted: Option<Uuid> = on_conn!(tx, conn => sqlx::query_scalar(
        "insert into users (id, email, password_hash, role, created_at, revision) values ($1, $2, $3, $4, $5, $6)
         on conflict (email) do nothing returning id",
    )
    .bind(user.id.uuid())
    .bind(&user.email)
    .bind(password_hash)
    .bind(user.role.as_str())
    .bind(user.created_at.millis())
    .bind(user.revision)
    .fetch_optional(conn).await)?;
    Ok(inserted.is_some())
}

/// The account of an e-mail address.
pub(crate) async fn by_email(tx: &mut Tx, email: &str) -> Result<Option<Account>, Error> {
    let row: Option<AccountRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, email, role, created_at, revision, password_hash from users where email = $1",
    ).bind(email).fetch_optional(conn).await)?;
    row.map(Account::try_from).transpose()
}

impl TryFrom<AccountRow> for Account {
    type Error = Error;

    fn try_from(row: AccountRow) -> Result<Self, Error> {
        Ok(Self {
            user: row.user.try_into()?,
            password_hash: row.password_hash,
        })
    }
}

impl TryFrom<UserRow> for User {
    type Error = Error;

    fn try_from(row: UserRow) -> Result<Self, Error> {
        let role = Role::parse(&row.role).map_err(|problem| bad_row("users", row.id, problem))?;
        Ok(Self {
            id: UserId::new(row.id),
            email: row.email,
            role,
            created_at: Timestamp::from_millis(row.created_at),
            revision: row.revision,
        })
    }
}
