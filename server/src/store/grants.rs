//! Grants of users and tokens.

use std::collections::HashMap;

use pennon_model::environment::ProductName;
use pennon_model::grant::{Grant, GrantScope, Grants};
use pennon_model::id::{EnvironmentId, TokenId, UserId};
use pennon_model::user::Role;
use sqlx::QueryBuilder;
use uuid::Uuid;

use super::query::push_one_of;
use super::{Tx, bad_row, insert_rows, on_conn};
use crate::error::Error;

/// The user or the token whose grants they are.
#[derive(Clone, Copy)]
pub(crate) enum Grantee {
    User(UserId),
    /// A token, with its owner.
    Token(UserId, TokenId),
}

#[derive(sqlx::FromRow)]
struct GrantRow {
    user_id: Uuid,
    token_id: Option<Uuid>,
    product: Option<String>,
    environment_id: Option<Uuid>,
    role: String,
}

/// Returns the grants of users, and those of their tokens. A user or token without grants is absent.
pub(super) async fn of_users(
    tx: &mut Tx,
    users: &[UserId],
) -> Result<HashMap<Uuid, Grants>, Error> {
    if users.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<GrantRow> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new("select user_id, token_id, product, environment_id, role from grants where user_id ");
        push_one_of(&mut query, users.iter().copied().map(UserId::uuid));
        query.build_query_as().fetch_all(conn).await
    })?;
    let mut grants: HashMap<Uuid, Vec<Grant>> = HashMap::new();
    for row in rows {
        let grantee = row.token_id.unwrap_or(row.user_id);
        grants.entry(grantee).or_default().push(row.try_into()?);
    }
    let grants = grants.into_iter().map(|(grantee, grants)| {
        let bad = |problem| bad_row("grants", grantee, problem);
        Ok((grantee, Grants::try_from(grants).map_err(bad)?))
    });
    grants.collect()
}

/// Replaces the grants of a user or token.
pub(super) async fn replace(tx: &mut Tx, grantee: Grantee, grants: &Grants) -> Result<(), Error> {
    let (user, token) = match grantee {
        Grantee::User(user) => (user, None),
        Grantee::Token(user, token) => (user, Some(token.uuid())),
    };
    on_conn!(&mut *tx, conn => sqlx::query(
        "delete from grants where user_id = $1 and (token_id = $2 or token_id is null and $2 is null)",
    ).bind(user.uuid()).bind(token).execute(conn).await.map(drop))?;
    let rows: Vec<&Grant> = grants.iter().collect();
    insert_rows!(
        tx,
        "insert into grants (user_id, token_id, product, environment_id, role) ",
        rows,
        |list, grant| {
            let (product, environment) = match &grant.scope {
                GrantScope::Product(product) => (Some(product.as_str().to_owned()), None),
                GrantScope::Environment(environment) => (None, Some(environment.uuid())),
            };
            list.push_bind(user.uuid())
                .push_bind(token)
                .push_bind(product)
                .push_bind(environment)
                .push_bind(grant.role.as_str());
        },
        ""
    )
}

/// Moves the grants for an environment to the one that replaces it, and increments the revisions of the users who have
/// them.
pub(crate) async fn move_all(
    tx: &mut Tx,
    from: EnvironmentId,
    to: EnvironmentId,
) -> Result<(), Error> {
    on_conn!(&mut *tx, conn => sqlx::query(
        "update users set revision = revision + 1
         where id in (select user_id from grants where environment_id = $1 and token_id is null)",
    ).bind(from.uuid()).execute(conn).await.map(drop))?;
    on_conn!(tx, conn => sqlx::query("update grants set environment_id = $2 where environment_id = $1")
        .bind(from.uuid()).bind(to.uuid()).execute(conn).await.map(drop))
}

impl TryFrom<GrantRow> for Grant {
    type Error = Error;

    fn try_from(row: GrantRow) -> Result<Self, Error> {
        let bad = |problem| bad_row("grants", row.user_id, problem);
        let scope = match (row.product, row.environment_id) {
            (Some(product), None) => {
                GrantScope::Product(ProductName::try_from(product).map_err(bad)?)
            }
            (None, Some(environment)) => GrantScope::Environment(EnvironmentId::new(environment)),
            _ => return Err(bad_row("grants", row.user_id, "it has no single scope")),
        };
        let role = Role::parse(&row.role).map_err(bad)?;
        Self::new(scope, role).map_err(bad)
    }
}
