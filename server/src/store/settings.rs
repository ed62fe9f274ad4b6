//! Values that the service has generated for itself.

use super::{Tx, on_conn};
use crate::error::Error;

/// Keeps `value` under `name` unless one exists, and returns the one that is kept.
pub(crate) async fn get_or_insert(tx: &mut Tx, name: &str, value: &str) -> Result<String, Error> {
    on_conn!(tx, conn => sqlx::query_scalar(
        "insert into settings (name, value) values ($1, $2)
         on conflict (name) do update set value = settings.value
         returning value",
    ).bind(name).bind(value).fetch_one(conn).await)
}
