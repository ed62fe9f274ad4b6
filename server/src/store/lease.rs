//! Transactions on a PostgreSQL server, which end when the server is lost.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgPool;
use sqlx::{AssertSqlSafe, Executor, Postgres, SqlSafeStr as _, Transaction};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout};

use super::postgres::{Pools, WRITERS};
use super::statements::Statements;
use super::storage::Storage;
use super::{AUTHENTICATORS, Access, FOLLOWERS, READERS, WRITE_LOCK_TIMEOUT};
use crate::database_error::{ADMIN_SHUTDOWN, code, is_of_pooler};
use crate::error::Error;

/// The longest pause in the middle of a write, after which the instance loses the write lock, because a suspended
/// instance would otherwise keep all others from writing. An instance may have two writes at the server, the second of
/// which gets the lock after the first; both pauses together are shorter than [`WRITE_LOCK_TIMEOUT`].
const IDLE_IN_TRANSACTION: Duration = Duration::from_secs(2);

/// The longest pause in the middle of a write that plans a large document while it has the write lock.
const PLANNING_IN_TRANSACTION: Duration = Duration::from_secs(30);

/// The interval at which a caller that waits for a new connection looks for one that has become free.
const REUSE_INTERVAL: Duration = Duration::from_millis(20);

/// Compiling a query takes longer than any query of Pennon.
const BEGIN_READ: &str =
    "begin transaction isolation level repeatable read, read only; set local jit = off";

/// At a higher level, which may be the default of the user or the database, a writer would see the state from before it
/// waited for the write lock.
const BEGIN_WRITE: &str = "begin transaction isolation level read committed; set local jit = off";

/// The permission to use a connection. It ends permanently when the server is lost.
#[derive(Clone)]
pub(crate) struct Lease(pub(super) watch::Receiver<Option<Pools>>);

/// A transaction on a server, and the lease that ends when the server is lost.
pub(crate) struct LeasedTx {
    pub(super) tx: Transaction<'static, Postgres>,
    pub(super) lease: Lease,
    pub(super) pooled: bool,
}

impl Lease {
    /// Runs `work`, and fails if the server is lost before it completes.
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
    /// Returns the transaction, and the lease to which each use of it must be bound.
    pub(super) fn parts(&mut self) -> (Statements<'_>, &mut Lease) {
        (Statements::on(&mut self.tx, self.pooled), &mut self.lease)
    }

    /// Waits for the write lock.
    pub(super) async fn take_turn(&mut self) -> Result<(), sqlx::Error> {
        let take = take_turn(&mut self.tx, WRITE_LOCK_TIMEOUT);
        self.lease.until_lost(take).await
    }

    /// Permits pauses of up to [`PLANNING_IN_TRANSACTION`] in the rest of the write.
    pub(super) async fn permit_planning(&mut self) -> Result<(), sqlx::Error> {
        let idle = PLANNING_IN_TRANSACTION.as_millis();
        let statement = format!("set local idle_in_transaction_session_timeout = {idle}");
        let permit = self.tx.execute(AssertSqlSafe(statement));
        self.lease.until_lost(permit).await.map(drop)
    }

    pub(super) async fn commit(self) -> Result<(), Error> {
        let Self { tx, mut lease, .. } = self;
        if lease.is_over() {
            return Err(lost().into());
        }
        match lease.until_lost(tx.commit()).await {
            // The server may have received the commit.
            Err(error)
                if is_cut_off(&error)
                    || is_of_pooler(&error)
                    || matches!(error, sqlx::Error::Io(_) | sqlx::Error::PoolClosed) =>
            {
                Err(Error::Unconfirmed(error))
            }
            committed => Ok(committed?),
        }
    }
}

/// Returns the error for work with a lost server.
pub(super) fn lost() -> sqlx::Error {
    sqlx::Error::PoolClosed
}

/// Begins a transaction. It retries once for each connection that turns out to be closed, which is safe because nothing
/// was done on it yet. The future is on the heap, because opening a connection takes a large one for TLS.
pub(super) async fn begin(
    pools: &Pools,
    access: Access,
    storage: &Storage,
    lease: &Lease,
) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    for _ in 0..WRITERS.max(READERS + AUTHENTICATORS.max(FOLLOWERS)) {
        match Box::pin(begin_once(pools, access, storage, lease)).await {
            Err(error) if is_cut_off(&error) => {}
            other => return other,
        }
    }
    Box::pin(begin_once(pools, access, storage, lease)).await
}

async fn begin_once(
    pools: &Pools,
    access: Access,
    storage: &Storage,
    lease: &Lease,
) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    let began = Instant::now();
    let read = async |pool| acquire(pool, &pools.spare).await;
    let (connection, statement) = match access {
        Access::Read => (read(&pools.readers).await?, BEGIN_READ),
        Access::Authenticate => {
            let pool = own_or_readers(pools, &pools.authenticators);
            (read(pool).await?, BEGIN_READ)
        }
        Access::Follow => {
            let pool = own_or_readers(pools, &pools.followers);
            (read(pool).await?, BEGIN_READ)
        }
        Access::Write | Access::Prepare => (acquire_writer(pools, storage).await?, BEGIN_WRITE),
    };
    let mut tx = begin_on(connection, statement, lease.clone()).await?;
    if matches!(access, Access::Write) {
        let remaining = WRITE_LOCK_TIMEOUT.saturating_sub(began.elapsed());
        take_turn(&mut tx, remaining).await?;
    }
    Ok(tx)
}

/// Waits for a new connection or one that has become free. When PostgreSQL accepts no more connections, sqlx keeps
/// trying to open one, and ignores those that other callers return.
///
/// The connection that nobody waits for anymore is still opened, for the next caller: to open one takes PostgreSQL a
/// process. While it refuses to, one attempt at a time is enough; `spare` is the permission for it.
async fn acquire(
    pool: &PgPool,
    spare: &Arc<Semaphore>,
) -> Result<PoolConnection<Postgres>, sqlx::Error> {
    let mut was_empty = pool.num_idle() == 0;
    let mut acquiring = Box::pin(pool.acquire());
    loop {
        if let Ok(acquired) = timeout(REUSE_INTERVAL, &mut acquiring).await {
            return acquired;
        }
        // Connections that were idle before may be dead, and only `acquire` tests them.
        if was_empty && let Some(returned) = pool.try_acquire() {
            if let Ok(permission) = Arc::clone(spare).try_acquire_owned() {
                tokio::spawn(async move {
                    drop(acquiring.await);
                    drop(permission);
                });
            }
            return Ok(returned);
        }
        was_empty |= pool.num_idle() == 0;
    }
}

/// Returns the pool for a read that has connections of its own: these, unless none of them is free but one for other
/// reads is, or PostgreSQL has refused to open any.
pub(super) fn own_or_readers<'p>(pools: &'p Pools, own: &'p PgPool) -> &'p PgPool {
    let are_readers_free = pools.readers.num_idle() > 0 || own.size() == 0;
    if own.num_idle() == 0 && are_readers_free {
        &pools.readers
    } else {
        own
    }
}

/// Waits for a connection for a write. Fails once it is known that PostgreSQL refuses to open one.
async fn acquire_writer(
    pools: &Pools,
    storage: &Storage,
) -> Result<PoolConnection<Postgres>, sqlx::Error> {
    tokio::select! {
        biased;
        acquired = acquire(&pools.writers, &pools.spare) => acquired,
        () = storage.until_refused() => Err(lost()),
    }
}

/// Begins a transaction in a separate task, which continues if the caller is canceled and then rolls back. Otherwise,
/// sqlx would return the connection to the pool with an open transaction.
async fn begin_on(
    connection: PoolConnection<Postgres>,
    statement: &'static str,
    mut lease: Lease,
) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    let beginning = Transaction::begin(connection, Some(statement.into_sql_str()));
    let begun = tokio::spawn(async move { lease.until_lost(beginning).await });
    // The task fails only if the runtime stops.
    begun.await.unwrap_or_else(|_| Err(lost()))
}

/// Takes the write lock in one round trip, or fails after `timeout`. The number that identifies the lock is arbitrary,
/// but must never change.
async fn take_turn(
    tx: &mut Transaction<'static, Postgres>,
    timeout: Duration,
) -> Result<(), sqlx::Error> {
    // Zero would mean no limit.
    let timeout = timeout.as_millis().max(1);
    let idle = IDLE_IN_TRANSACTION.as_millis();
    let statements = format!(
        "set local lock_timeout = {timeout}; set local idle_in_transaction_session_timeout = {idle};
         select pg_advisory_xact_lock(22594200760438272)"
    );
    tx.execute(AssertSqlSafe(statements)).await.map(drop)
}

/// Returns true if the server, or a proxy in front of it, has closed the connection. PostgreSQL reports a shutdown
/// before it closes one.
fn is_cut_off(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => error.kind() != ErrorKind::ConnectionRefused,
        _ => code(error).as_deref() == Some(ADMIN_SHUTDOWN),
    }
}
