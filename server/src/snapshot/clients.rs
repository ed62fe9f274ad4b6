//! The clients that fetch an environment's configuration. Their counts are kept in memory and limited in number,
//! because anyone with a public SDK key can send any version.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use pennon_model::client::{Client, ClientRequests};

/// The maximum number of clients to count by name in one environment and hour. Further clients count as
/// [`Client::Other`].
const MAX_CLIENTS: usize = 50;

/// The requests of one environment by client. At most [`MAX_CLIENTS`] clients have a name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientCounts(HashMap<Client, ClientRequests>);

/// The clients of an environment since the last call of `take`, and its open streams.
#[derive(Default)]
pub(super) struct ClientUsage(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    counts: ClientCounts,
    /// The number of open streams by client. At most [`MAX_CLIENTS`] clients have a name.
    open: HashMap<Client, usize>,
}

/// An open stream. Its client counts as in use until this is dropped.
pub(crate) struct OpenStream {
    usage: Arc<ClientUsage>,
    client: Client,
}

impl ClientCounts {
    /// Adds requests of a client.
    pub(crate) fn add(&mut self, client: Client, requests: ClientRequests) {
        let client = bounded(&self.0, client);
        self.0.entry(client).or_default().add(requests);
    }

    /// Adds a client without requests.
    pub(crate) fn note(&mut self, client: Client) {
        self.add(client, ClientRequests::default());
    }

    /// Returns `requests` as they count in addition to `self`: by name only while both together have at most
    /// [`MAX_CLIENTS`] names.
    pub(crate) fn bound(self, requests: &Self) -> Self {
        let (mut names, mut bounded) = (self, Self::default());
        for (client, requests) in &requests.0 {
            let client = self::bounded(&names.0, client.clone());
            names.note(client.clone());
            bounded.add(client, *requests);
        }
        bounded
    }

    /// Returns the number of clients.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the clients and their requests, in no order.
    pub(crate) fn into_iter(self) -> impl Iterator<Item = (Client, ClientRequests)> {
        self.0.into_iter()
    }
}

impl ClientUsage {
    /// Counts a fetch of the configuration.
    pub(super) fn count_request(&self, client: Client) {
        let poll = ClientRequests {
            polls: 1,
            streams: 0,
        };
        self.0.lock().counts.add(client, poll);
    }

    /// Counts a stream, which is open until the result is dropped.
    pub(super) fn count_stream(self: &Arc<Self>, client: Client) -> OpenStream {
        let mut inner = self.0.lock();
        let client = bounded(&inner.open, client);
        let stream = ClientRequests {
            polls: 0,
            streams: 1,
        };
        inner.counts.add(client.clone(), stream);
        *inner.open.entry(client.clone()).or_default() += 1;
        OpenStream {
            usage: Arc::clone(self),
            client,
        }
    }

    /// Takes the counts since the last call. They always include clients with an open stream.
    pub(super) fn take(&self) -> ClientCounts {
        let mut inner = self.0.lock();
        let mut counts = std::mem::take(&mut inner.counts);
        for client in inner.open.keys() {
            counts.note(client.clone());
        }
        counts
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut inner = self.usage.0.lock();
        if let Some(open) = inner.open.get_mut(&self.client) {
            *open = open.saturating_sub(1);
            if *open == 0 {
                inner.open.remove(&self.client);
            }
        }
    }
}

/// Returns the name to count a client by: its own, or [`Client::Other`] if it would exceed the maximum number of names.
fn bounded<V>(map: &HashMap<Client, V>, client: Client) -> Client {
    let names = map.len() - usize::from(map.contains_key(&Client::Other));
    if names < MAX_CLIENTS || map.contains_key(&client) {
        client
    } else {
        Client::Other
    }
}
