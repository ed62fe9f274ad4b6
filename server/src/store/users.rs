//! Accounts.

use pennon_model::id::UserId;
use pennon_model::page::{Page, PageRequest};
use pennon_model::time::Timestamp;
use pennon_model::user::{Account, Role, User, UserFilter};
use uuid::Uuid;

use super::{Tx, bad_row, bindable, on_conn, page_of};
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

/// Returns the administrator with the oldest account.
pub(crate) async fn first_administrator(tx: &mut Tx) -> Result<Option<User>, Error> {
    let row: Option<UserRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, email, role, created_at, revision from users
         where role = 'admin' order by created_at, id limit 1",
    ).fetch_optional(conn).await)?;
    row.map(User::try_from).transpose()
}

/// Adds a user; false if the e-mail address already has an account, ignoring case.
pub(crate) async fn insert(tx: &mut Tx, user: &User, password_hash: &str) -> Result<bool, Error> {
    // Writers take turns, so no other writer can add the address in between.
    if by_email(tx, &user.email).await?.is_some() {
        return Ok(false);
    }
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

/// Returns one user.
pub(crate) async fn find(tx: &mut Tx, id: UserId) -> Result<Option<User>, Error> {
    let row: Option<UserRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, email, role, created_at, revision from users where id = $1",
    ).bind(id.uuid()).fetch_optional(conn).await)?;
    row.map(User::try_from).transpose()
}

/// Returns one page of users, newest first.
pub(crate) async fn list(
    tx: &mut Tx,
    filter: &UserFilter,
    page: PageRequest,
) -> Result<Page<User>, Error> {
    let role = filter.role.map(Role::as_str);
    let rows: Vec<UserRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, email, role, created_at, revision from users
         where ($1 is null or email = $1) and ($2 is null or role = $2)
         order by created_at desc, id desc limit $3 offset $4",
    ).bind(bindable(filter.email.as_ref())).bind(role).bind(page.limit.get()).bind(page.offset()).fetch_all(conn).await)?;
    let total = on_conn!(tx, conn => sqlx::query_scalar(
        "select count(*) from users where ($1 is null or email = $1) and ($2 is null or role = $2)",
    ).bind(bindable(filter.email.as_ref())).bind(role).fetch_one(conn).await)?;
    page_of(page, rows, total)
}

/// Returns the number of users with a role.
pub(crate) async fn count(tx: &mut Tx, role: Role) -> Result<i64, Error> {
    on_conn!(tx, conn => sqlx::query_scalar("select count(*) from users where role = $1")
        .bind(role.as_str()).fetch_one(conn).await)
}

/// Updates a user's role and revision, and the password if it has changed.
pub(crate) async fn update(
    tx: &mut Tx,
    user: &User,
    password_hash: Option<&str>,
) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "update users set role = $2, revision = $3, password_hash = coalesce($4, password_hash) where id = $1",
    )
    .bind(user.id.uuid())
    .bind(user.role.as_str())
    .bind(user.revision)
    .bind(password_hash)
    .execute(conn).await.map(drop))
}

/// Replaces the password hash `old_hash`; false if the account has another one, or no longer exists.
pub(crate) async fn replace_password(
    tx: &mut Tx,
    id: UserId,
    old_hash: &str,
    new_hash: &str,
) -> Result<bool, Error> {
    let revision: Option<i64> = on_conn!(tx, conn => sqlx::query_scalar(
        "update users set password_hash = $3, revision = revision + 1 where id = $1 and password_hash = $2
         returning revision",
    ).bind(id.uuid()).bind(old_hash).bind(new_hash).fetch_optional(conn).await)?;
    Ok(revision.is_some())
}

/// Deletes a user, with all sessions and tokens.
pub(crate) async fn delete(tx: &mut Tx, id: UserId) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("delete from users where id = $1")
        .bind(id.uuid()).execute(conn).await.map(drop))
}

/// Returns a user with the hash of the password.
pub(crate) async fn account(tx: &mut Tx, id: UserId) -> Result<Option<Account>, Error> {
    let row: Option<AccountRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, email, role, created_at, revision, password_hash from users where id = $1",
    ).bind(id.uuid()).fetch_optional(conn).await)?;
    row.map(Account::try_from).transpose()
}

/// Returns the account of an e-mail address: the one with exactly this address, or else the oldest one with the address
/// in another case. Addresses are ASCII, so both databases ignore case in the same way.
pub(crate) async fn by_email(tx: &mut Tx, email: &str) -> Result<Option<Account>, Error> {
    let row: Option<AccountRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, email, role, created_at, revision, password_hash from users
         where lower(email) = $2 order by email = $1 desc, created_at, id limit 1",
    ).bind(email).bind(email.to_ascii_lowercase()).fetch_optional(conn).await)?;
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
