//! Clients by version: their counts in memory and in the database.

use std::collections::{BTreeMap, HashMap};

use pennon_model::capabilities::{self, supports_all};
use pennon_model::client::{Client, ClientUsage, Package};
use pennon_model::environment::ClientRules;
use pennon_model::id::EnvironmentId;
use pennon_model::page::{Page, PageRequest};
use pennon_model::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::hour_of;
use crate::admin::{Admin, environments};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::snapshot::ClientCounts;
use crate::store::clients::ClientHour;
use crate::store::{self, Tx};

/// The number of days after its last request for which a client counts as in use.
const IN_USE_DAYS: i64 = 7;

/// The maximum number of clients to check for parts that they cannot read.
const MAX_IN_USE: i64 = 1000;

/// A client that fetched the configuration of an environment within the last 31 days.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnvironmentClient {
    /// The package; null for the sum of all clients that do not name a package of Pennon.
    #[schema(required)]
    package: Option<Package>,
    /// The version; `newer` for all versions that are newer than the server's, and null if `package` is null.
    #[schema(required, example = "0.1.0")]
    version: Option<String>,
    /// The number of fetches of the configuration.
    polls: i64,
    /// The number of opened streams.
    streams: i64,
    /// The last fetch, or the last minute in which a stream was open; to the minute.
    last_seen_at: Timestamp,
}

impl From<ClientUsage> for EnvironmentClient {
    fn from(usage: ClientUsage) -> Self {
        Self {
            package: usage.client.package(),
            version: usage.client.version(),
            polls: usage.polls,
            streams: usage.streams,
            last_seen_at: usage.last_seen_at,
        }
    }
}

/// The counts of clients that are not in the database yet, by hour and environment.
#[derive(Default)]
pub(super) struct ClientSums(BTreeMap<(i64, EnvironmentId), ClientCounts>);

impl ClientSums {
    pub(super) fn add(&mut self, hour: i64, lineage: EnvironmentId, counts: ClientCounts) {
        let sums = self.0.entry((hour, lineage)).or_default();
        for (client, requests) in counts.into_iter() {
            sums.add(client, requests);
        }
    }

    /// Drops hours before `oldest`. While more than `limit` counts remain, drops the oldest hour, but never the last
    /// one.
    pub(super) fn bound(&mut self, oldest: i64, limit: usize) {
        let Some((&(last, _), _)) = self.0.last_key_value() else {
            return;
        };
        let mut size: usize = self.0.values().map(ClientCounts::len).sum();
        while let Some(first) = self.0.first_entry()
            && (first.key().0 < oldest || (size > limit && first.key().0 < last))
        {
            size = size.saturating_sub(first.remove().len());
        }
    }

    /// Takes the counts of the oldest hours, environment by environment, until it has at least `limit` counts or none
    /// remain.
    pub(super) fn take(&mut self, limit: usize) -> Vec<(i64, EnvironmentId, ClientCounts)> {
        let mut taken = Vec::new();
        let mut size = 0;
        while size < limit
            && let Some(((hour, lineage), counts)) = self.0.pop_first()
        {
            size += counts.len();
            taken.push((hour, lineage, counts));
        }
        taken
    }
}

/// Adds counts to the database. The number of names in an hour is limited for all instances together.
pub(super) async fn add(
    tx: &mut Tx,
    counts: &[(i64, EnvironmentId, ClientCounts)],
    last_seen_in: impl Fn(Timestamp) -> Timestamp,
) -> Result<(), Error> {
    let mut by_hour: BTreeMap<i64, Vec<(EnvironmentId, &ClientCounts)>> = BTreeMap::new();
    for (hour, lineage, counts) in counts {
        by_hour.entry(*hour).or_default().push((*lineage, counts));
    }
    for (hour, counts) in by_hour {
        let hour = Timestamp::from_millis(hour);
        let last_seen_at = last_seen_in(hour);
        let lineages: Vec<EnvironmentId> = counts.iter().map(|(lineage, _)| *lineage).collect();
        let mut known: HashMap<EnvironmentId, ClientCounts> = HashMap::new();
        for (lineage, client) in store::clients::of_hour(tx, hour, &lineages).await? {
            known.entry(lineage).or_default().note(client);
        }
        let added: Vec<ClientHour> = counts
            .into_iter()
            .flat_map(|(lineage, counts)| {
                let known = known.remove(&lineage).unwrap_or_default();
                let counted = known.bound(counts).into_iter();
                counted.map(move |(client, requests)| ClientHour {
                    lineage,
                    hour,
                    client,
                    requests,
                    last_seen_at,
                })
            })
            .collect();
        store::clients::add(tx, &added).await?;
    }
    Ok(())
}

/// Returns the clients that fetched the configuration of an environment, most recently seen first.
pub(crate) async fn clients(
    admin: &Admin,
    _actor: &Actor,
    id: EnvironmentId,
    page: PageRequest,
) -> Result<Page<ClientUsage>, Error> {
    let mut tx = admin.db.read().await?;
    environments::find(&mut tx, id).await?;
    let lineage = store::environments::lineage(&mut tx, id).await?;
    store::clients::of_environment(&mut tx, lineage, page).await
}

/// Returns the clients in use in an environment that cannot read every part of the config document. A client is in use
/// if it was seen within the last 7 days, in two different hours: anyone with a public key can send any version,
/// so a name that occurs once has no effect.
pub(crate) async fn outdated_clients(
    admin: &Admin,
    _actor: &Actor,
    id: EnvironmentId,
) -> Result<Vec<Client>, Error> {
    let since = hour_of(admin.clock.now().plus_days(-IN_USE_DAYS));
    let mut tx = admin.db.read().await?;
    let lineage = store::environments::lineage(&mut tx, id).await?;
    let mut clients = store::clients::in_use_since(&mut tx, lineage, since, MAX_IN_USE).await?;
    clients.retain(|client| match client {
        Client::Known(_, version) => !supports_all(version, capabilities::since),
        Client::Newer(_) | Client::Other => false,
    });
    if !clients.is_empty() {
        let environment = environments::find(&mut tx, id).await?;
        // Without rules, a client of any version can read everything.
        if environment.client_rules == ClientRules::Answers {
            clients.clear();
        }
    }
    Ok(clients)
}
