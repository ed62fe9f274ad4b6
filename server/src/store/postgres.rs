//! A PostgreSQL server, and the connections to it while it responds.
//!
//! If a server hangs, or a network loses packets, a query waits for a response that never arrives. So Pennon probes the
//! server at short intervals, on a dedicated connection that waits for no lock. When the server stops responding,
//! Pennon closes all connections, which fails everything that waits for one of them, and opens new ones when the server
//! responds again. A long query on a healthy server is never canceled.
//!
//! After a failover, open connections may lead to the former primary, which is a standby now. So while a server is
//! read-only, each probe opens a new connection, and when one accepts writes, all others are replaced.

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::{join, join_all};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{Connection, Row as _};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::lease::{Lease, LeasedTx, begin, lost, own_or_readers};
use super::pooler::ensure_sessions;
use super::reach::reach;
use super::schema::{self, Outdated};
use super::skew::{CorrectedClock, Correction, Skew};
use super::storage::Storage;
use super::target::Target;
use super::{
    ACQUIRE_TIMEOUT, AUTHENTICATORS, Access, FOLLOWERS, OpenError, OpenMode, READERS,
    WRITE_LOCK_TIMEOUT,
};
use crate::clock::{Clock, Confirmed, Entropy};
use crate::database_error::{TOO_MANY_CONNECTIONS, code, is_of_server};

/// The time limit at the start to wait for a server that is still starting.
const START_TIMEOUT: Duration = Duration::from_secs(15);

/// The number of connections for writes per instance: one for the current write, and one for the next, which prepares
/// as much as it can without the lock. More connections would only wait, at a cost to the database.
pub(super) const WRITERS: u32 = 2;

/// The time for which an unused connection is assumed to work. A test before each transaction would cost a round trip.
const KNOWN_ALIVE: Duration = Duration::from_secs(1);

/// The time limit for the test of an unused connection. A connection that a firewall has dropped never responds. The
/// limit leaves the caller enough time to open another one.
const PING_TIMEOUT: Duration = Duration::from_millis(300);

/// The pause between a response to the probe and the next probe.
const PROBE_INTERVAL: Duration = Duration::from_millis(250);

/// The time limit for a response to the probe. This limit plus the interval is the longest time that a request in
/// flight waits when the server is lost.
const PROBE_TIMEOUT: Duration = Duration::from_millis(1250);

/// The time limit for the server to refuse a connection.
const REFUSAL_TIMEOUT: Duration = Duration::from_millis(500);

/// The time limit for the probe while the server is lost. It is longer, because a server that hangs has to accept the
/// connection of each attempt when it recovers, so there should be few.
const LOST_PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest pause between two attempts to reach a lost server.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(1);

/// A server that is shared with other instances.
#[derive(Clone)]
pub(crate) struct Server(Arc<ServerParts>);

struct ServerParts {
    target: Target,
    /// None while the server is lost. Users of a connection watch for changes.
    pools: watch::Sender<Option<Pools>>,
    /// The time of the last response to the probe; empty before the first.
    answered: OnceLock<Confirmed>,
    correction: Arc<Correction>,
}

#[derive(Clone)]
pub(super) struct Pools {
    pub(super) writers: PgPool,
    pub(super) readers: PgPool,
    pub(super) authenticators: PgPool,
    pub(super) followers: PgPool,
    /// The permission to open a connection that nobody waits for.
    pub(super) spare: Arc<Semaphore>,
}

impl Server {
    /// Connects to the server, which may still be starting. Also returns the schema if it is outdated and `mode` leaves
    /// it unchanged.
    pub(super) async fn open(
        url: &str,
        mode: OpenMode,
    ) -> Result<(Self, Option<Outdated>), OpenError> {
        let mut target = Target::parse(url, mode.instance())?;
        let mut first = reach(&mut target, START_TIMEOUT).await?;
        ensure_sessions(&target, &mut first).await?;
        let outdated = match mode {
            OpenMode::AsIs => schema::inspect_postgres(&mut first, target.pooled).await?,
            _ => schema::upgrade_postgres(&mut first, target.pooled)
                .await
                .map(|()| None)?,
        };
        // The connection is no longer needed, so a failure to close it does no harm.
        let _ = first.close().await;
        let server = Self(Arc::new(ServerParts {
            pools: watch::Sender::new(Some(Pools::new(&target.options))),
            target,
            answered: OnceLock::new(),
            correction: Arc::default(),
        }));
        Ok((server, outdated))
    }

    /// Returns the connections, and a lease that ends when they are closed.
    pub(super) fn lease(&self) -> Result<(Pools, Lease), sqlx::Error> {
        let mut receiver = self.0.pools.subscribe();
        let pools = receiver.borrow_and_update().clone();
        Ok((pools.ok_or_else(lost)?, Lease(receiver)))
    }

    pub(super) async fn begin(
        &self,
        access: Access,
        storage: &Storage,
    ) -> Result<LeasedTx, sqlx::Error> {
        let (pools, mut lease) = self.lease()?;
        let own = lease.clone();
        let beginning = begin(&pools, access, storage, &own);
        let tx = lease.until_lost(beginning).await?;
        Ok(LeasedTx {
            tx,
            lease,
            pooled: self.0.target.pooled,
        })
    }

    /// Returns the server as given by the URL.
    pub(super) fn target(&self) -> &Target {
        &self.0.target
    }

    pub(super) async fn close(&self) {
        let pools = self.0.pools.borrow().clone();
        if let Some(pools) = pools {
            pools.close().await;
        }
    }

    /// Returns true if the server responded to the last probe.
    pub(super) fn is_present(&self) -> bool {
        self.0.pools.borrow().is_some()
    }

    /// Waits until the server responds.
    pub(super) async fn until_present(&self) {
        // An error would mean that the server and all its users are dropped.
        let _ = self.0.pools.subscribe().wait_for(Option::is_some).await;
    }

    /// Returns the time since the last response to the probe.
    pub(super) fn silence(&self) -> Duration {
        let answered = self.0.answered.get();
        answered.map(Confirmed::age).unwrap_or_default()
    }

    /// Returns the clock of this machine, corrected by its difference from the server's.
    pub(super) fn corrected(&self, machine: Arc<dyn Clock>) -> CorrectedClock {
        CorrectedClock {
            machine,
            correction: Arc::clone(&self.0.correction),
        }
    }

    /// Returns true if the clocks of this machine and of the server differ by more than is corrected.
    pub(super) fn doubts_clock(&self) -> bool {
        self.0.correction.is_too_large()
    }

    /// Probes the server at intervals, for as long as it is polled: for answers, and for connections that it refuses.
    /// The latter may wait in vain, and must not delay the former.
    pub(super) async fn probe(
        &self,
        entropy: &Entropy,
        clock: &dyn Clock,
        storage: &Storage,
    ) -> Infallible {
        let answers = self.probe_answers(entropy, clock, storage);
        let (never, _) = join(answers, self.probe_writers(entropy, storage)).await;
        never
    }

    /// Probes whether the server answers, and compares its clock with the corrected one.
    async fn probe_answers(
        &self,
        entropy: &Entropy,
        clock: &dyn Clock,
        storage: &Storage,
    ) -> Infallible {
        let mut connection = None;
        let mut skew = Skew::default();
        loop {
            let probe_timeout = if self.is_present() {
                PROBE_TIMEOUT
            } else {
                LOST_PROBE_TIMEOUT
            };
            if storage.is_read_only() {
                connection = None;
            }
            let probing = async {
                let mut working = self.working_connection(connection.take()).await?;
                if let Some(connection) = &mut working {
                    skew.compare(connection, clock, &self.0.correction).await?;
                    self.compare_access(connection, storage).await?;
                }
                Ok(working)
            };
            let probed = timeout(probe_timeout, probing).await;
            match probed.unwrap_or_else(|_| Err(silent())) {
                Ok(working) => {
                    self.record_answer();
                    connection = working;
                    sleep(probe_interval(entropy, storage.is_read_only())).await;
                }
                Err(error) => {
                    let abandon = async {
                        if self.is_present() {
                            tracing::error!(%error, "PostgreSQL does not answer; closing its connections");
                            self.close_connections().await;
                        }
                    };
                    join(abandon, sleep(retry_delay(entropy))).await;
                }
            }
        }
    }

    /// Probes whether the server refuses connections for writes.
    async fn probe_writers(&self, entropy: &Entropy, storage: &Storage) -> Infallible {
        loop {
            self.compare_writers(storage).await;
            sleep(probe_interval(entropy, storage.refuses_writers())).await;
        }
    }

    /// Tests the server on the last connection or on a new one, and returns that connection. Returns none if the server
    /// accepts no more connections, but existing ones still work.
    async fn working_connection(
        &self,
        connection: Option<PgConnection>,
    ) -> Result<Option<PgConnection>, sqlx::Error> {
        if let Some(mut connection) = connection
            && connection.ping().await.is_ok()
        {
            return Ok(Some(connection));
        }
        match self.connect().await? {
            None => self.probe_reader().await.map(|()| None),
            Some(mut connection) if !self.is_present() => {
                self.terminate_abandoned(&mut connection).await?;
                Ok(Some(connection))
            }
            connected => Ok(connected),
        }
    }

    /// Opens a connection. Returns none if the server accepts no more connections.
    async fn connect(&self) -> Result<Option<PgConnection>, sqlx::Error> {
        match PgConnection::connect_with(&self.0.target.options_for("probing")).await {
            Err(error) if code(&error).as_deref() == Some(TOO_MANY_CONNECTIONS) => Ok(None),
            connected => connected.map(Some),
        }
    }

    /// Records whether the server accepts writes. When it does again, replaces the other connections, which may lead to
    /// another server, or keep the setting with which they began.
    async fn compare_access(
        &self,
        connection: &mut PgConnection,
        storage: &Storage,
    ) -> Result<(), sqlx::Error> {
        let query = "show transaction_read_only";
        let is_read_only = match sqlx::raw_sql(query).fetch_one(connection).await {
            Ok(row) => row.try_get::<String, _>(0)? == "on",
            Err(error) if is_of_server(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        if is_read_only {
            storage.set_read_only();
        } else if storage.is_read_only() {
            self.close_connections().await;
            storage.set_writable();
        }
        Ok(())
    }

    /// Records whether the server refuses to open a connection for a write that waits for one. Such a write may also
    /// wait for connections that are in use, so this opens one to find out.
    async fn compare_writers(&self, storage: &Storage) {
        let pools = self.0.pools.borrow().clone();
        let Some(pools) = pools.filter(|_| storage.take_awaits_writer()) else {
            return;
        };
        let refuses = pools.writers.num_idle() == 0
            && matches!(timeout(REFUSAL_TIMEOUT, self.connect()).await, Ok(Ok(None)));
        storage.set_refuses_writers(refuses);
    }

    /// Pings the server on a connection for reads. Fails if none is usable, because then the server is of no use, even
    /// if it is alive.
    async fn probe_reader(&self) -> Result<(), sqlx::Error> {
        let (pools, _lease) = self.lease()?;
        let pool = own_or_readers(&pools, &pools.followers);
        pool.acquire().await?.ping().await
    }

    /// Ends this instance's earlier connections on the server's side. If the network lost them, the server keeps them
    /// open, and one of them may hold the write lock. Idle connections of a pooler stay open, because other clients use
    /// them.
    async fn terminate_abandoned(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let name = self.0.target.options.get_application_name();
        let mut tx = connection.begin().await?;
        sqlx::query(
            "select count(pg_terminate_backend(pid)) from pg_stat_activity
             where starts_with(application_name, $1) and datname = current_database() and pid <> pg_backend_pid()
               and (state <> 'idle' or not $2)",
        )
        .bind(name.unwrap_or_default())
        .bind(self.0.target.pooled)
        .execute(self.0.target.statements(&mut tx))
        .await?;
        tx.commit().await
    }

    fn record_answer(&self) {
        self.0.answered.get_or_init(Confirmed::now).again();
        let found_again = self.0.pools.send_if_modified(|pools| {
            let was_lost = pools.is_none();
            pools.get_or_insert_with(|| Pools::new(&self.0.target.options));
            was_lost
        });
        if found_again {
            tracing::info!("PostgreSQL answers again");
        }
    }

    /// Closes the connections for reads and writes, and fails everything that waits for one of them.
    async fn close_connections(&self) {
        let Some(pools) = self.0.pools.borrow().clone() else {
            return;
        };
        // Closed before waiters are notified. A closed pool closes the connections that return to it, whereas an open
        // pool would first test whether they still work, and wait.
        let closing = pools.close();
        self.0.pools.send_replace(None);
        // Connections that take longer to close end on their own, at the latest when the network times out.
        let _ = timeout(MAX_RETRY_DELAY / 2, closing).await;
    }
}

impl Pools {
    /// Creates pools that open one connection at once and others on demand, and keep them, because the server may
    /// refuse to open them later.
    fn new(options: &PgConnectOptions) -> Self {
        let pool = |connections, acquire_timeout| {
            PgPoolOptions::new()
                .min_connections(1)
                .max_connections(connections)
                .acquire_timeout(acquire_timeout)
                .idle_timeout(None)
                .max_lifetime(None)
                .test_before_acquire(false)
                .before_acquire(|connection, state| {
                    Box::pin(async move {
                        if state.idle_for > KNOWN_ALIVE {
                            let alive = timeout(PING_TIMEOUT, connection.ping()).await;
                            alive.unwrap_or_else(|_| Err(silent()))?;
                        }
                        Ok(true)
                    })
                })
                .connect_lazy_with(options.clone())
        };
        Self {
            writers: pool(WRITERS, WRITE_LOCK_TIMEOUT),
            readers: pool(READERS, ACQUIRE_TIMEOUT),
            authenticators: pool(AUTHENTICATORS, ACQUIRE_TIMEOUT),
            followers: pool(FOLLOWERS, ACQUIRE_TIMEOUT),
            spare: Arc::new(Semaphore::new(1)),
        }
    }

    /// Stops handing out connections at once, and returns a future that closes them all.
    fn close(&self) -> impl Future<Output = ()> {
        let pools = [
            &self.writers,
            &self.readers,
            &self.authenticators,
            &self.followers,
        ];
        let closing = join_all(pools.map(PgPool::close));
        async { drop(closing.await) }
    }
}

/// Returns the pause between two probes. It is longer if each of them opens a connection.
fn probe_interval(entropy: &Entropy, opens_connections: bool) -> Duration {
    if opens_connections {
        retry_delay(entropy)
    } else {
        PROBE_INTERVAL
    }
}

/// Returns the pause between two attempts, randomized so that instances do not reconnect together.
fn retry_delay(entropy: &Entropy) -> Duration {
    let [random] = entropy.bytes();
    MAX_RETRY_DELAY / 2 + MAX_RETRY_DELAY / 2 * u32::from(random) / 255
}

/// Returns the error of a lost server without a known cause.
fn silent() -> sqlx::Error {
    sqlx::Error::Io(io::Error::new(ErrorKind::TimedOut, "no sign of life"))
}
