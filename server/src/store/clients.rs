//! The clients that fetch configurations, by environment and hour.

use pennon_model::client::{Client, ClientRequests, ClientUsage};
use pennon_model::id::EnvironmentId;
use pennon_model::page::{Page, PageRequest};
use pennon_model::time::Timestamp;
use sqlx::QueryBuilder;
use uuid::Uuid;

use super::query::push_one_of;
use super::usage::number;
use super::{Tx, insert_rows, on_conn};
use crate::error::Error;

/// The requests of a client to an environment within an hour, to be added.
#[derive(Clone, Debug)]
pub(crate) struct ClientHour {
    pub(crate) lineage: EnvironmentId,
    pub(crate) hour: Timestamp,
    pub(crate) client: Client,
    pub(crate) requests: ClientRequests,
    pub(crate) last_seen_at: Timestamp,
}

#[derive(sqlx::FromRow)]
struct ClientRow {
    client: String,
    polls: i64,
    streams: i64,
    last_seen_at: i64,
}

impl From<ClientRow> for ClientUsage {
    fn from(row: ClientRow) -> Self {
        Self {
            client: Client::from_text(&row.client),
            polls: row.polls,
            streams: row.streams,
            last_seen_at: Timestamp::from_millis(row.last_seen_at),
        }
    }
}

/// Returns the clients of these environments that are already counted in an hour.
pub(crate) async fn of_hour(
    tx: &mut Tx,
    hour: Timestamp,
    lineages: &[EnvironmentId],
) -> Result<Vec<(EnvironmentId, Client)>, Error> {
    let rows: Vec<(Uuid, String)> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new("select lineage_id, client from client_hours where hour = ");
        query.push_bind(hour.millis()).push(" and lineage_id ");
        push_one_of(&mut query, lineages.iter().copied().map(EnvironmentId::uuid));
        query.build_query_as().persistent(false).fetch_all(conn).await
    })?;
    let named = |(lineage, client): (Uuid, String)| {
        (EnvironmentId::new(lineage), Client::from_text(&client))
    };
    Ok(rows.into_iter().map(named).collect())
}

/// Adds requests. No two may have the same environment, hour and client.
pub(crate) async fn add(tx: &mut Tx, added: &[ClientHour]) -> Result<(), Error> {
    insert_rows!(
        tx,
        "insert into client_hours (lineage_id, hour, client, polls, streams, last_seen_at) ",
        added,
        |row, one| row
            .push_bind(one.lineage.uuid())
            .push_bind(one.hour.millis())
            .push_bind(one.client.to_string())
            .push_bind(number(one.requests.polls))
            .push_bind(number(one.requests.streams))
            .push_bind(one.last_seen_at.millis()),
        " on conflict (lineage_id, hour, client) do update set
             polls = client_hours.polls + excluded.polls,
             streams = client_hours.streams + excluded.streams,
             last_seen_at = case when client_hours.last_seen_at < excluded.last_seen_at
             then excluded.last_seen_at else client_hours.last_seen_at end"
    )
}

/// Returns at most `limit` clients with requests in at least two hours since this one, most recently seen first.
pub(crate) async fn in_use_since(
    tx: &mut Tx,
    lineage: EnvironmentId,
    hour: Timestamp,
    limit: i64,
) -> Result<Vec<Client>, Error> {
    let rows: Vec<String> = on_conn!(tx, conn => sqlx::query_scalar(
        "select client from client_hours where lineage_id = $1 and hour >= $2
         group by client having count(*) >= 2 order by max(last_seen_at) desc, client limit $3",
    ).bind(lineage.uuid()).bind(hour.millis()).bind(limit).fetch_all(conn).await)?;
    Ok(rows
        .iter()
        .map(|client| Client::from_text(client))
        .collect())
}

/// Returns one page of the clients of an environment, most recently seen first. Clients that were seen in the same
/// minute are sorted by name.
pub(crate) async fn of_environment(
    tx: &mut Tx,
    lineage: EnvironmentId,
    page: PageRequest,
) -> Result<Page<ClientUsage>, Error> {
    let rows: Vec<ClientRow> = on_conn!(tx, conn => sqlx::query_as(
        "select client, cast(sum(polls) as bigint) as polls, cast(sum(streams) as bigint) as streams,
         max(last_seen_at) as last_seen_at from client_hours where lineage_id = $1
         group by client order by max(last_seen_at) desc, client limit $2 offset $3",
    ).bind(lineage.uuid()).bind(page.limit.get()).bind(page.offset()).fetch_all(conn).await)?;
    let total = on_conn!(tx, conn => sqlx::query_scalar(
        "select count(distinct client) from client_hours where lineage_id = $1",
    ).bind(lineage.uuid()).fetch_one(conn).await)?;
    let items = rows.into_iter().map(ClientUsage::from).collect();
    Ok(page.page_of(items, total))
}
