//! Values that the server generated for its own use.

use super::{Tx, on_conn};
use crate::error::Error;

/// Returns the value stored under `name`.
pub(crate) async fn get(tx: &mut Tx, name: &str) -> Result<Option<String>, Error> {
    on_conn!(tx, conn => sqlx::query_scalar("select value from settings where name = $1")
        .bind(name).fetch_optional(conn).await)
}

/// Stores `value` under `name` unless a value exists, and returns the stored value.
pub(crate) async fn get_or_insert(tx: &mut Tx, name: &str, value: &str) -> Result<String, Error> {
    on_conn!(tx, conn => sqlx::query_scalar(
        "insert into settings (name, value) values ($1, $2)
         on conflict (name) do update set value = settings.value
         returning value",
    ).bind(name).bind(value).fetch_one(conn).await)
}
