//! Notifications between instances that share a PostgreSQL database. A notification says that something has changed,
//! but not what.
//!
//! `listen` does not work through a pooler in transaction mode. With such a pooler, each instance polls the revisions
//! of the environments at short intervals. On SQLite, nothing is announced, because the regular comparison of revisions
//! notices the writes of other processes soon enough.

use std::time::Duration;

use pennon_model::id::EnvironmentId;
use sqlx::postgres::{PgConnection, PgListener, PgNotification, PgPoolOptions};
use sqlx::{Connection, Executor, Row};
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};
use uuid::Uuid;

use super::lease::Lease;
use super::postgres::Server;
use super::{ACQUIRE_TIMEOUT, Db, Driver, Open, Tx};
use crate::error::Error;

/// The channel. PostgreSQL has separate channels for each database.
const CHANNEL: &str = "pennon";

/// The time without notifications after which the connection is tested.
const MAX_SILENCE: Duration = Duration::from_secs(10);

/// The polling interval if `listen` is unavailable. A change of another instance is served within 250 ms, including the
/// time to read it.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The state of all environments as one value, which differs after each change to the flags of active ones, and never
/// returns to an earlier one, because the sum of the revisions only grows; and a value that differs after a failover to
/// another server or database, whose flags may differ although the revisions are equal.
const STATE: &str = "select encode(sha256(convert_to(
                            concat(sum(config_revision + revision), ' ', string_agg(id || ' ' || config_revision, ',' order by id)
                                filter (where status = 'active')), 'UTF8')), 'hex'),
                            (select oid || ' ' || pg_postmaster_start_time() from pg_database
                             where datname = current_database())
                     from environments";

/// A connection that detects changes of other instances.
pub(crate) struct Listener {
    source: Source,
    lease: Lease,
}

/// The two ways to detect changes.
enum Source {
    /// PostgreSQL notifies the connection.
    Notifications(PgListener),
    /// The connection polls the state at intervals.
    Polled(Poll),
}

struct Poll {
    connection: PgConnection,
    ticks: Interval,
    /// None before the first response, which counts as a change because one may have happened earlier.
    state: Option<String>,
    /// The server and the database; none before the first response.
    server: Option<String>,
}

/// Notifies all instances of the changed environments when the transaction commits.
pub(crate) async fn announce(
    tx: &mut Tx,
    sender: Uuid,
    environments: &[EnvironmentId],
) -> Result<(), Error> {
    let Open::Postgres(tx) = &mut tx.open else {
        return Ok(());
    };
    if environments.is_empty() {
        return Ok(());
    }
    let payloads: Vec<String> = environments
        .iter()
        .map(|environment| format!("{sender} {environment}"))
        .collect();
    let (statements, lease) = tx.parts();
    let notify = sqlx::query("select pg_notify($1, payload) from unnest($2::text[]) as payload")
        .bind(CHANNEL)
        .bind(payloads);
    lease.until_lost(notify.execute(statements)).await?;
    Ok(())
}

impl Db {
    /// Starts to follow changes on a dedicated connection; none on SQLite, where nothing is announced.
    pub(crate) async fn listen(&self) -> Result<Option<Listener>, Error> {
        let Driver::Postgres(server) = &self.driver else {
            return Ok(None);
        };
        let (pools, mut lease) = server.lease()?;
        if pools.readers.is_closed() {
            return Err(sqlx::Error::PoolClosed.into());
        }
        match timeout(2 * ACQUIRE_TIMEOUT, lease.until_lost(source(server))).await {
            Ok(source) => Ok(Some(Listener {
                source: source?,
                lease,
            })),
            Err(_silent) => Err(Error::Unavailable(None)),
        }
    }
}

async fn source(server: &Server) -> Result<Source, sqlx::Error> {
    if server.target().pooled {
        let connection =
            PgConnection::connect_with(&server.target().options_for("polling")).await?;
        let mut ticks = interval(POLL_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        return Ok(Source::Polled(Poll {
            connection,
            ticks,
            state: None,
            server: None,
        }));
    }
    let own = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(server.target().options_for("listening"));
    let mut listener = PgListener::connect_with(&own).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    Ok(Source::Notifications(listener))
}

impl Listener {
    /// Waits until an instance other than `own` has made changes, and combines all changes so far. An error means that
    /// changes may have been missed.
    pub(crate) async fn foreign_change(&mut self, own: Uuid) -> Result<(), Error> {
        let Self { source, lease } = self;
        match source {
            Source::Notifications(listener) => foreign_change(listener, lease, own).await,
            Source::Polled(poll) => poll.changed(lease).await,
        }
    }
}

async fn foreign_change(
    listener: &mut PgListener,
    lease: &mut Lease,
    own: Uuid,
) -> Result<(), Error> {
    let own = own.to_string();
    let is_foreign = |notification: &PgNotification| !notification.payload().starts_with(&own);
    loop {
        let mut foreign = is_foreign(&next(listener, lease).await?);
        // Takes all notifications that have arrived, because a change of many environments is announced once for each
        // of them.
        while let Ok(next) = timeout(Duration::ZERO, listener.try_recv()).await {
            foreign |= is_foreign(&next?.ok_or(Error::Unavailable(None))?);
        }
        if foreign {
            return Ok(());
        }
    }
}

/// Returns the next notification. While none arrives, checks that the connection still works.
async fn next(listener: &mut PgListener, lease: &mut Lease) -> Result<PgNotification, Error> {
    loop {
        let next = lease.until_lost(listener.try_recv());
        match timeout(MAX_SILENCE, next).await {
            Ok(next) => return next?.ok_or(Error::Unavailable(None)),
            Err(_quiet) => answer(listener.execute("select 1")).await.map(drop)?,
        }
    }
}

impl Poll {
    /// Waits until the state differs. Changes of this instance count, too. Fails if the responses come from another
    /// server.
    async fn changed(&mut self, lease: &mut Lease) -> Result<(), Error> {
        loop {
            self.ticks.tick().await;
            // A raw query takes one round trip, and prepares no statement.
            let asking = sqlx::raw_sql(STATE).fetch_one(&mut self.connection);
            let row = answer(lease.until_lost(asking)).await?;
            let (state, server) = (Some(row.try_get(0)?), row.try_get(1)?);
            if *self.server.get_or_insert_with(|| String::clone(&server)) != server {
                return Err(Error::Unavailable(None));
            }
            if self.state != state {
                self.state = state;
                return Ok(());
            }
        }
    }
}

/// Waits for a response that a working connection returns at once.
async fn answer<T>(asking: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, Error> {
    match timeout(ACQUIRE_TIMEOUT, asking).await {
        Ok(answer) => Ok(answer?),
        Err(_silent) => Err(Error::Unavailable(None)),
    }
}
