//! What instances on one PostgreSQL tell each other: that something has changed, never what.
//!
//! Nobody else writes to a SQLite file without being noticed soon enough, so nothing is announced there.

use std::time::Duration;

use pennon_core::model::id::EnvironmentId;
use sqlx::Executor;
use sqlx::postgres::{PgListener, PgNotification, PgPoolOptions};
use tokio::time::timeout;
use uuid::Uuid;

use super::postgres::Lease;
use super::{Db, Driver, Open, PATIENCE, Tx};
use crate::error::Error;

/// The channel. PostgreSQL keeps the channels of its databases apart.
const CHANNEL: &str = "pennon";

/// How long it may be quiet before the connection is asked whether it is still there.
const QUIET: Duration = Duration::from_secs(10);

/// A connection on which announcements are heard.
pub(crate) struct Listener {
    listener: PgListener,
    lease: Lease,
}

/// Tells all instances which environments change, as soon as the transaction commits and only then.
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
    let (tx, lease) = tx.parts();
    let notify = sqlx::query("select pg_notify($1, payload) from unnest($2::text[]) as payload")
        .bind(CHANNEL)
        .bind(payloads);
    lease.until_lost(notify.execute(&mut **tx)).await?;
    Ok(())
}

impl Db {
    /// Begins to listen, on a connection of its own; none on SQLite, where nobody announces anything.
    pub(crate) async fn listen(&self) -> Result<Option<Listener>, Error> {
        let Driver::Postgres(server) = &self.driver else {
            return Ok(None);
        };
        let (pools, mut lease) = server.lease()?;
        if pools.readers.is_closed() {
            return Err(sqlx::Error::PoolClosed.into());
        }
        let own = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(PATIENCE)
            .max_lifetime(None)
            .idle_timeout(None)
            .connect_lazy_with(server.options_for("listening"));
        let listen = async {
            let mut listener = PgListener::connect_with(&own).await?;
            listener.eager_reconnect(false);
            listener.listen(CHANNEL).await?;
            Ok(listener)
        };
        match timeout(2 * PATIENCE, lease.until_lost(listen)).await {
            Ok(listening) => Ok(Some(Listener {
                listener: listening?,
                lease,
            })),
            Err(_silent) => Err(Error::Unavailable(None)),
        }
    }
}

impl Listener {
    /// Waits until somebody else than `own` announces something, and then takes all that has been announced by now as
    /// one. An error means that announcements may have been missed.
    pub(crate) async fn heard(&mut self, own: Uuid) -> Result<(), Error> {
        let own = own.to_string();
        let is_foreign = |heard: &PgNotification| !heard.payload().starts_with(&own);
        loop {
            let mut foreign = is_foreign(&self.next().await?);
            // Without waiting: a change of many environments is announced once for each of them.
            while let Ok(next) = timeout(Duration::ZERO, self.listener.try_recv()).await {
                foreign |= is_foreign(&next?.ok_or(Error::Unavailable(None))?);
            }
            if foreign {
                return Ok(());
            }
        }
    }

    /// The next announcement. While it is quiet, makes sure that the silence is not that of a dead connection.
    async fn next(&mut self) -> Result<PgNotification, Error> {
        loop {
            let next = self.lease.until_lost(self.listener.try_recv());
            match timeout(QUIET, next).await {
                Ok(next) => return next?.ok_or(Error::Unavailable(None)),
                Err(_quiet) => self.ask().await?,
            }
        }
    }

    async fn ask(&mut self) -> Result<(), Error> {
        match timeout(PATIENCE, self.listener.execute("select 1")).await {
            Ok(answer) => Ok(answer.map(drop)?),
            Err(_silent) => Err(Error::Unavailable(None)),
        }
    }
}
