//! A PostgreSQL server, and connections to it for as long as it answers.
//!
//! A server that hangs says nothing, and neither does a network that loses what it should carry: whoever asks on such a
//! connection waits. So the server is probed at short intervals, on a connection of its own that waits for no lock and no
//! turn. Once it does not answer, all connections are given up, whatever waits for one of them is told so, and new ones
//! are opened when it answers again. What is long but healthy is never cut off.

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::join;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection, Executor, Postgres, Transaction};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::reach::{options, reach};
use super::schema::{self, Outdated};
use super::skew::Skew;
use super::{OpenError, OpenMode, PATIENCE, WRITERS_PATIENCE};
use crate::clock::{Clock, Entropy};
use crate::metrics::Confirmed;

/// How long the start waits for a server that is itself still starting.
const STARTING_PATIENCE: Duration = Duration::from_secs(15);

/// How many connections an instance reads on.
const READERS: u32 = 10;

/// How many connections an instance writes on: one that writes, and one that is about to, as far as it can be without its
/// turn. With more, those that only wait would cost the database something.
const WRITERS: u32 = 2;

/// For how long a connection that was not used is taken to be alive still. To ask each time would cost each transaction
/// an exchange.
const KNOWN_ALIVE: Duration = Duration::from_secs(1);

/// How long a connection that has rested may take to show that it is alive. One that a firewall has forgotten meanwhile
/// says nothing at all, and another one is opened sooner than anybody loses patience.
const SIGN_OF_LIFE: Duration = Duration::from_millis(300);

/// How long after an answer the probe asks again.
const PROBE_INTERVAL: Duration = Duration::from_millis(250);

/// How long the probe waits for an answer. With the interval it is what somebody waits who was asking when the server was
/// lost.
const PROBE_PATIENCE: Duration = Duration::from_millis(1250);

/// How long the probe waits once the server is lost. Each attempt leaves a connection behind for a server that hangs to
/// take up when it comes back, so there should be few.
const PROBE_PATIENCE_WHEN_LOST: Duration = Duration::from_secs(2);

/// How long the probe rests at most before the next attempt to reach a lost server.
const REST: Duration = Duration::from_secs(1);

/// The longest pause in the middle of a write, after which the instance loses its turn. A suspended one would otherwise
/// keep all others from writing. It may have two writes at the server, the second of which gets the turn after
/// the first; both together are shorter than [`WRITERS_PATIENCE`].
const IDLE_IN_TRANSACTION: Duration = Duration::from_secs(2);

/// A server, shared with other instances.
#[derive(Clone)]
pub(crate) struct Server(Arc<Parts>);

struct Parts {
    options: PgConnectOptions,
    /// None while the server is lost. Those who use a connection watch for changes.
    pools: watch::Sender<Option<Pools>>,
    /// When the probe was last answered; empty as long as nobody probes.
    answered: OnceLock<Confirmed>,
}

#[derive(Clone)]
pub(super) struct Pools {
    writers: PgPool,
    pub(super) readers: PgPool,
}

/// The use of a connection, which ends for good when the server is lost.
pub(crate) struct Lease(watch::Receiver<Option<Pools>>);

/// A transaction on a server that may be lost.
pub(crate) struct LeasedTx {
    tx: Transaction<'static, Postgres>,
    lease: Lease,
}

impl Server {
    /// Connects to the server, which may be starting at the same moment. Returns the schema as well if it is outdated and
    /// `mode` leaves it as it is.
    pub(super) async fn open(
        url: &str,
        mode: OpenMode,
    ) -> Result<(Self, Option<Outdated>), OpenError> {
        let options = options(url, mode.instance())?;
        let mut first = reach(&options, STARTING_PATIENCE).await?;
        let outdated = match mode {
            OpenMode::AsIs => schema::inspect_postgres(&mut first).await?,
            _ => schema::upgrade_postgres(&mut first).await.map(|()| None)?,
        };
        // It has served its purpose, whether or not the server hears of that.
        let _ = first.close().await;
        let server = Self(Arc::new(Parts {
            pools: watch::Sender::new(Some(Pools::new(&options))),
            options,
            answered: OnceLock::new(),
        }));
        Ok((server, outdated))
    }

    /// The connections, and what tells when they have been given up.
    pub(super) fn lease(&self) -> Result<(Pools, Lease), sqlx::Error> {
        let mut receiver = self.0.pools.subscribe();
        let pools = receiver.borrow_and_update().clone();
        Ok((pools.ok_or_else(lost)?, Lease(receiver)))
    }

    pub(super) async fn begin_to_read(&self) -> Result<LeasedTx, sqlx::Error> {
        let (pools, mut lease) = self.lease()?;
        let begin = || begin_to_read(&pools.readers);
        let tx = lease.until_lost(past_dead_connections(begin)).await?;
        Ok(LeasedTx { tx, lease })
    }

    pub(super) async fn begin_to_write(&self) -> Result<LeasedTx, sqlx::Error> {
        let (pools, mut lease) = self.lease()?;
        let begin = || begin_to_write(&pools.writers);
        let tx = lease.until_lost(past_dead_connections(begin)).await?;
        Ok(LeasedTx { tx, lease })
    }

    /// Begins as [`begin_to_write`](Self::begin_to_write) does, but without the turn.
    pub(super) async fn begin_to_prepare(&self) -> Result<LeasedTx, sqlx::Error> {
        let (pools, mut lease) = self.lease()?;
        let begin = || pools.writers.begin();
        let tx = lease.until_lost(past_dead_connections(begin)).await?;
        Ok(LeasedTx { tx, lease })
    }

    /// How to connect for a purpose of one's own, which the server shows its administrator.
    pub(super) fn options_for(&self, purpose: &str) -> PgConnectOptions {
        let options = &self.0.options;
        let name = options.get_application_name().unwrap_or_default();
        options
            .clone()
            .application_name(&format!("{name} {purpose}"))
    }

    pub(super) async fn close(&self) {
        let pools = self.0.pools.borrow().clone();
        if let Some(pools) = pools {
            pools.close().await;
        }
    }

    /// Whether the server answered when it was last probed.
    pub(super) fn is_present(&self) -> bool {
        self.0.pools.borrow().is_some()
    }

    /// Waits until the server answers.
    pub(super) async fn until_present(&self) {
        // An error would mean that the server is gone with all who use it.
        let _ = self.0.pools.subscribe().wait_for(Option::is_some).await;
    }

    /// For how long the server has said nothing to the probe.
    pub(super) fn silence(&self) -> Duration {
        let answered = self.0.answered.get();
        answered.map(Confirmed::age).unwrap_or_default()
    }

    /// Finds out at intervals whether the server answers, and how far its clock is from this one, for as long as it is
    /// polled.
    pub(super) async fn probe(&self, entropy: &Entropy, clock: &dyn Clock) -> Infallible {
        let mut connection = None;
        let mut skew = Skew::default();
        loop {
            let patience = if self.is_present() {
                PROBE_PATIENCE
            } else {
                PROBE_PATIENCE_WHEN_LOST
            };
            let asking = async {
                let mut asked = self.ask(connection.take()).await?;
                if let Some(connection) = &mut asked {
                    skew.compare(connection, clock).await?;
                }
                Ok(asked)
            };
            let asked = timeout(patience, asking).await;
            match asked.unwrap_or_else(|_| Err(silent())) {
                Ok(asked) => {
                    connection = asked;
                    self.answered();
                    sleep(PROBE_INTERVAL).await;
                }
                Err(error) => {
                    // Never quite the same, so that instances do not come back together.
                    let [random] = entropy.bytes();
                    let rest = REST / 2 + REST / 2 * u32::from(random) / 255;
                    join(self.give_up(&error), sleep(rest)).await;
                }
            }
        }
    }

    /// Asks for a sign of life: on the connection of the last time, or else on a new one. None if the server takes no more
    /// connections, but those that there are still answer.
    async fn ask(
        &self,
        connection: Option<PgConnection>,
    ) -> Result<Option<PgConnection>, sqlx::Error> {
        if let Some(mut connection) = connection
            && connection.ping().await.is_ok()
        {
            return Ok(Some(connection));
        }
        match PgConnection::connect_with(&self.options_for("probing")).await {
            Err(sqlx::Error::Database(answer)) if answer.code().as_deref() == Some("53300") => {
                self.ask_reader().await.map(|()| None)
            }
            Ok(mut connection) if !self.is_present() => {
                self.end_what_was_given_up(&mut connection).await?;
                Ok(Some(connection))
            }
            connected => connected.map(Some),
        }
    }

    /// Asks for a sign of life on a connection that others read on. Without one, nothing can be done at the server, even
    /// though it is alive.
    async fn ask_reader(&self) -> Result<(), sqlx::Error> {
        let (pools, _lease) = self.lease()?;
        pools.readers.acquire().await?.ping().await
    }

    /// Ends this instance's earlier connections at the server as well. If the network lost them, it does not know that
    /// they are of no use, and one of them may have the writers' turn.
    async fn end_what_was_given_up(
        &self,
        connection: &mut PgConnection,
    ) -> Result<(), sqlx::Error> {
        let name = self.0.options.get_application_name();
        sqlx::query(
            "select count(pg_terminate_backend(pid)) from pg_stat_activity
             where starts_with(application_name, $1) and datname = current_database() and pid <> pg_backend_pid()",
        )
        .bind(name.unwrap_or_default())
        .execute(connection)
        .await
        .map(drop)
    }

    fn answered(&self) {
        self.0.answered.get_or_init(Confirmed::now).again();
        let found_again = self.0.pools.send_if_modified(|pools| {
            let was_lost = pools.is_none();
            pools.get_or_insert_with(|| Pools::new(&self.0.options));
            was_lost
        });
        if found_again {
            tracing::info!("PostgreSQL answers again");
        }
    }

    async fn give_up(&self, error: &sqlx::Error) {
        let Some(pools) = self.0.pools.borrow().clone() else {
            return;
        };
        tracing::error!(%error, "PostgreSQL does not answer, so its connections are given up");
        // Before anybody hears of it: what comes back to a closed pool is closed. An open one would first ask whether the
        // connection is still good, and wait.
        let closing = pools.close();
        self.0.pools.send_replace(None);
        // What takes longer ends by itself, at the latest when the network gives up.
        let _ = timeout(REST / 2, closing).await;
    }
}

impl Pools {
    /// Opens no connection until one is wanted.
    fn new(options: &PgConnectOptions) -> Self {
        let pool = |connections, patience| {
            PgPoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(patience)
                .test_before_acquire(false)
                .before_acquire(|connection, state| {
                    Box::pin(async move {
                        if state.idle_for > KNOWN_ALIVE {
                            let alive = timeout(SIGN_OF_LIFE, connection.ping()).await;
                            alive.unwrap_or_else(|_| Err(silent()))?;
                        }
                        Ok(true)
                    })
                })
                .connect_lazy_with(options.clone())
        };
        Self {
            writers: pool(WRITERS, WRITERS_PATIENCE),
            readers: pool(READERS, PATIENCE),
        }
    }

    /// Lets out no connection any more, from the call on, and closes them all.
    fn close(&self) -> impl Future<Output = ()> {
        let closing = join(self.readers.close(), self.writers.close());
        async { ((), ()) = closing.await }
    }
}

impl Lease {
    /// Works with the server until that is done or the server is lost.
    pub(super) async fn until_lost<T>(
        &mut self,
        work: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        if self.is_over() {
            return Err(lost());
        }
        tokio::select! {
            biased;
            done = work => done,
            _ = self.0.changed() => Err(lost()),
        }
    }

    fn is_over(&self) -> bool {
        self.0.has_changed().unwrap_or(true)
    }
}

impl LeasedTx {
    /// The transaction, and what every use of it must be bound to.
    pub(super) fn parts(&mut self) -> (&mut Transaction<'static, Postgres>, &mut Lease) {
        (&mut self.tx, &mut self.lease)
    }

    /// Waits for the writers' turn.
    pub(super) async fn take_turn(&mut self) -> Result<(), sqlx::Error> {
        let take = take_turn(&mut self.tx, WRITERS_PATIENCE);
        self.lease.until_lost(take).await
    }

    pub(super) async fn commit(self) -> Result<(), CommitError> {
        let Self { tx, mut lease } = self;
        if lease.is_over() {
            return Err(CommitError::Failed(lost()));
        }
        match lease.until_lost(tx.commit()).await {
            // What was said last may have arrived.
            Err(error)
                if is_cut_off(&error)
                    || matches!(error, sqlx::Error::Io(_) | sqlx::Error::PoolClosed) =>
            {
                Err(CommitError::Unknown(error))
            }
            committed => committed.map_err(CommitError::Failed),
        }
    }
}

/// Why a commit was not confirmed.
pub(super) enum CommitError {
    /// Nothing was written.
    Failed(sqlx::Error),
    /// Nobody knows whether it was.
    Unknown(sqlx::Error),
}

/// What everybody is told who works with a lost server.
fn lost() -> sqlx::Error {
    sqlx::Error::PoolClosed
}

/// Why the server is lost if nothing else is known.
fn silent() -> sqlx::Error {
    sqlx::Error::Io(io::Error::new(ErrorKind::TimedOut, "no sign of life"))
}

async fn begin_to_read(pool: &PgPool) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    pool.begin_with("begin transaction isolation level repeatable read, read only")
        .await
}

async fn begin_to_write(pool: &PgPool) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    let began = Instant::now();
    let mut tx = pool.begin().await?;
    take_turn(&mut tx, WRITERS_PATIENCE.saturating_sub(began.elapsed())).await?;
    Ok(tx)
}

/// Takes the writers' turn, in one exchange, or fails after `patience`. The number stands for writing; any will do as
/// long as it stays the same.
async fn take_turn(
    tx: &mut Transaction<'static, Postgres>,
    patience: Duration,
) -> Result<(), sqlx::Error> {
    // Zero would be no limit.
    let patience = patience.as_millis().max(1);
    let idle = IDLE_IN_TRANSACTION.as_millis();
    let statements = format!(
        "set local lock_timeout = {patience}; set local idle_in_transaction_session_timeout = {idle};
         select pg_advisory_xact_lock(22594200760438272)"
    );
    tx.execute(AssertSqlSafe(statements)).await.map(drop)
}

/// Begins a transaction, once more for each connection that turns out to have been cut off: nothing was done on it yet.
async fn past_dead_connections<T, F>(begin: impl Fn() -> F) -> Result<T, sqlx::Error>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    for _ in 0..WRITERS.max(READERS) {
        match begin().await {
            Err(error) if is_cut_off(&error) => {}
            other => return other,
        }
    }
    begin().await
}

/// Whether the server, or whoever stands between, has closed the connection. 57P01 is what PostgreSQL says before it
/// does.
fn is_cut_off(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => error.kind() != ErrorKind::ConnectionRefused,
        sqlx::Error::Database(answer) => answer.code().is_some_and(|code| code == "57P01"),
        _ => false,
    }
}
