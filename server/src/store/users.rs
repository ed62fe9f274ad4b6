//! Accounts.

use std::collections::HashMap;

use pennon_model::environment::ProductName;
use pennon_model::grant::Grants;
use pennon_model::id::UserId;
use pennon_model::page::{Page, PageRequest};
use pennon_model::time::Timestamp;
use pennon_model::user::{Account, Role, User, UserFilter};
use uuid::Uuid;

use super::flags::pattern;
use super::grants::{self, Grantee};
use super::{Tx, bad_row, bindable, on_conn};
use crate::error::Error;

#[derive(sqlx::FromRow)]
pub(super) struct UserRow {
    id: Uuid,
    email: String,
    role: String,
    created_at: i64,
    revision: i64,
}

/// The columns of a [`UserRow`].
macro_rules! user_columns {
    () => {
        "users.id, users.email, users.role, users.created_at, users.revision"
    };
}
pub(super) use user_columns;

/// The rest of a query of the user with the e-mail address `$1`, which is `$2` in lower case.
macro_rules! by_email {
    () => {
        " from users where lower(email) = $2 order by email = $1 desc, created_at, id limit 1"
    };
}

#[derive(sqlx::FromRow)]
struct AccountRow {
    #[sqlx(flatten)]
    user: UserRow,
    password_hash: String,
}

/// Returns the administrator with the oldest account.
pub(crate) async fn first_administrator(tx: &mut Tx) -> Result<Option<User>, Error> {
    let row: Option<UserRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", user_columns!(), " from users
         where role = 'admin' order by created_at, id limit 1",
    )).fetch_optional(conn).await)?;
    with_grants(tx, row).await
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
    if inserted.is_some() {
        grants::replace(tx, Grantee::User(user.id), &user.grants).await?;
    }
    Ok(inserted.is_some())
}

/// Returns one user.
pub(crate) async fn find(tx: &mut Tx, id: UserId) -> Result<Option<User>, Error> {
    let row: Option<UserRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", user_columns!(), " from users where id = $1",
    )).bind(id.uuid()).fetch_optional(conn).await)?;
    with_grants(tx, row).await
}

/// Returns one page of users, newest first.
pub(crate) async fn list(
    tx: &mut Tx,
    filter: &UserFilter,
    page: PageRequest,
) -> Result<Page<User>, Error> {
    let email = bindable(filter.email.as_ref()).map(|email| email.to_ascii_lowercase());
    let role = filter.role.map(Role::as_str);
    let rows: Vec<UserRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", user_columns!(), " from users
         where ($1 is null or lower(email) = $1) and ($2 is null or role = $2)
         order by created_at desc, id desc limit $3 offset $4",
    )).bind(&email).bind(role).bind(page.limit.get()).bind(page.offset()).fetch_all(conn).await)?;
    let total = on_conn!(tx, conn => sqlx::query_scalar(
        "select count(*) from users where ($1 is null or lower(email) = $1) and ($2 is null or role = $2)",
    ).bind(&email).bind(role).fetch_one(conn).await)?;
    Ok(page.page_of(all_with_grants(tx, rows).await?, total))
}

/// Returns the newest users whose e-mail addresses contain a text, ignoring case.
pub(crate) async fn search(tx: &mut Tx, text: &str, limit: i64) -> Result<Vec<User>, Error> {
    let pattern = pattern(Some(&text.to_ascii_lowercase()));
    let rows: Vec<UserRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", user_columns!(), r" from users where lower(email) like $1 escape '\'
         order by created_at desc, id desc limit $2",
    )).bind(&pattern).bind(limit).fetch_all(conn).await)?;
    all_with_grants(tx, rows).await
}

/// Returns the number of users with a role.
pub(crate) async fn count(tx: &mut Tx, role: Role) -> Result<i64, Error> {
    on_conn!(tx, conn => sqlx::query_scalar("select count(*) from users where role = $1")
        .bind(role.as_str()).fetch_one(conn).await)
}

/// Updates a user's role, grants and revision, and the password if it has changed.
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
    .execute(conn).await.map(drop))?;
    grants::replace(tx, Grantee::User(user.id), &user.grants).await
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

/// Returns the product to which a user has limited the dashboard.
pub(crate) async fn dashboard_product(tx: &mut Tx, id: UserId) -> Result<Option<String>, Error> {
    let product: Option<Option<String>> = on_conn!(tx, conn => sqlx::query_scalar(
        "select dashboard_product from users where id = $1",
    ).bind(id.uuid()).fetch_optional(conn).await)?;
    Ok(product.flatten())
}

/// Stores the product to which a user limits the dashboard; none for all products.
pub(crate) async fn set_dashboard_product(
    tx: &mut Tx,
    id: UserId,
    product: Option<&ProductName>,
) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("update users set dashboard_product = $2 where id = $1")
        .bind(id.uuid())
        .bind(product.map(ProductName::as_str))
        .execute(conn).await.map(drop))
}

/// Deletes a user, with all sessions and tokens.
pub(crate) async fn delete(tx: &mut Tx, id: UserId) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("delete from users where id = $1")
        .bind(id.uuid()).execute(conn).await.map(drop))
}

/// Returns a user with the hash of the password.
pub(crate) async fn account(tx: &mut Tx, id: UserId) -> Result<Option<Account>, Error> {
    let row: Option<AccountRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", user_columns!(), ", password_hash from users where id = $1",
    )).bind(id.uuid()).fetch_optional(conn).await)?;
    let Some(AccountRow {
        user,
        password_hash,
    }) = row
    else {
        return Ok(None);
    };
    let user = with_grants(tx, Some(user)).await?;
    Ok(user.map(|user| Account {
        user,
        password_hash,
    }))
}

/// Returns the user with an e-mail address: the one with exactly this address, or else the oldest one with the address
/// in another case. Addresses are ASCII, so both databases ignore case in the same way.
pub(crate) async fn by_email(tx: &mut Tx, email: &str) -> Result<Option<User>, Error> {
    let row: Option<UserRow> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select ", user_columns!(), by_email!(),
    )).bind(email).bind(email.to_ascii_lowercase()).fetch_optional(conn).await)?;
    with_grants(tx, row).await
}

/// Returns the ID of the user with an e-mail address, as [`by_email`] does, and the hash of the password. Makes one
/// query whether there is such a user or not, so that the time does not reveal it.
pub(crate) async fn password_by_email(
    tx: &mut Tx,
    email: &str,
) -> Result<Option<(UserId, String)>, Error> {
    let row: Option<(Uuid, String)> = on_conn!(tx, conn => sqlx::query_as(concat!(
        "select id, password_hash", by_email!(),
    )).bind(email).bind(email.to_ascii_lowercase()).fetch_optional(conn).await)?;
    Ok(row.map(|(id, hash)| (UserId::new(id), hash)))
}

/// Reads the grants of users, and returns the users.
async fn all_with_grants(tx: &mut Tx, rows: Vec<UserRow>) -> Result<Vec<User>, Error> {
    let ids: Vec<UserId> = rows.iter().map(UserRow::id).collect();
    let mut grants = grants::of_users(tx, &ids).await?;
    let users = rows.into_iter().map(|row| row.with(&mut grants));
    users.collect()
}

/// Reads the grants of a user, and returns the user.
pub(super) async fn with_grants(tx: &mut Tx, row: Option<UserRow>) -> Result<Option<User>, Error> {
    let Some(row) = row else { return Ok(None) };
    let mut grants = grants::of_users(tx, &[row.id()]).await?;
    row.with(&mut grants).map(Some)
}

impl UserRow {
    pub(super) fn id(&self) -> UserId {
        UserId::new(self.id)
    }

    /// Returns the user, whose grants are among these.
    pub(super) fn with(self, grants: &mut HashMap<Uuid, Grants>) -> Result<User, Error> {
        let role = Role::parse(&self.role).map_err(|problem| bad_row("users", self.id, problem))?;
        Ok(User {
            id: self.id(),
            email: self.email,
            role,
            grants: grants.remove(&self.id).unwrap_or_default(),
            created_at: Timestamp::from_millis(self.created_at),
            revision: self.revision,
        })
    }
}
