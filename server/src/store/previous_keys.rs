//! Previous SDK keys, which keep working for some time after a rotation, and the clients that use them.

use pennon_model::client::Client;
use pennon_model::id::EnvironmentId;
use pennon_model::previous_key::PreviousKeyClient;
use pennon_model::secret::SecretHash;
use pennon_model::time::Timestamp;

use super::usage::number;
use super::{Tx, bad_row, insert_rows, on_conn};
use crate::error::Error;

/// Requests of a client with the previous key of an environment, to be added.
#[derive(Clone, Debug)]
pub(crate) struct PreviousKeyRequests {
    pub(crate) environment: EnvironmentId,
    pub(crate) client: Client,
    pub(crate) requests: u64,
    pub(crate) last_seen_at: Timestamp,
}

#[derive(sqlx::FromRow)]
struct ClientRow {
    client: String,
    requests: i64,
    last_seen_at: i64,
}

impl From<ClientRow> for PreviousKeyClient {
    fn from(row: ClientRow) -> Self {
        Self {
            client: Client::from_text(&row.client),
            requests: row.requests,
            last_seen_at: Timestamp::from_millis(row.last_seen_at),
        }
    }
}

/// Lets the key of `predecessor` give access to its `successor` until `ends_at`, and returns the hash of the key.
pub(crate) async fn keep(
    tx: &mut Tx,
    successor: EnvironmentId,
    predecessor: EnvironmentId,
    ends_at: Timestamp,
) -> Result<SecretHash, Error> {
    let hash: Vec<u8> = on_conn!(tx, conn => sqlx::query_scalar(
        "update environments set
            previous_key_hash = (select before.sdk_key_hash from environments before where before.id = $2),
            previous_key_prefix = (select before.sdk_key_prefix from environments before where before.id = $2),
            previous_key_ends_at = $3
         where id = $1 returning previous_key_hash",
    ).bind(successor.uuid()).bind(predecessor.uuid()).bind(ends_at.millis()).fetch_one(conn).await)?;
    SecretHash::try_from(&*hash).map_err(|problem| bad_row("environments", successor, problem))
}

/// Forgets the previous key of an environment.
pub(crate) async fn end(tx: &mut Tx, id: EnvironmentId) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "update environments set revision = revision + 1,
            previous_key_hash = null, previous_key_prefix = null, previous_key_ends_at = null
         where id = $1",
    ).bind(id.uuid()).execute(conn).await.map(drop))
}

/// Adds requests. No two may have the same environment and client.
pub(crate) async fn add(tx: &mut Tx, added: &[PreviousKeyRequests]) -> Result<(), Error> {
    insert_rows!(
        tx,
        "insert into previous_key_clients (environment_id, client, requests, last_seen_at) ",
        added,
        |row, one| row
            .push_bind(one.environment.uuid())
            .push_bind(one.client.to_string())
            .push_bind(number(one.requests))
            .push_bind(one.last_seen_at.millis()),
        " on conflict (environment_id, client) do update set
             requests = previous_key_clients.requests + excluded.requests,
             last_seen_at = case when previous_key_clients.last_seen_at < excluded.last_seen_at
             then excluded.last_seen_at else previous_key_clients.last_seen_at end"
    )
}

/// Returns the clients that used the previous key of an environment, most recently seen first. Clients that were seen
/// in the same minute are sorted by name.
pub(crate) async fn clients(
    tx: &mut Tx,
    environment: EnvironmentId,
) -> Result<Vec<PreviousKeyClient>, Error> {
    let rows: Vec<ClientRow> = on_conn!(tx, conn => sqlx::query_as(
        "select client, requests, last_seen_at from previous_key_clients where environment_id = $1
         order by last_seen_at desc, client",
    ).bind(environment.uuid()).fetch_all(conn).await)?;
    Ok(rows.into_iter().map(PreviousKeyClient::from).collect())
}
