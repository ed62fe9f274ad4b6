//! Poolers between Pennon and PostgreSQL, such as PgBouncer.
//!
//! In transaction mode, a pooler assigns a server connection to a client for one transaction only. Nothing may stay in
//! a session after a transaction: no named statement, no setting, no lock, no `listen`. The parameter `pgbouncer=true`
//! declares such a pooler.

use std::time::Duration;

use sqlx::postgres::{PgConnection, PgListener, PgPoolOptions};
use sqlx::{AssertSqlSafe, Executor};
use tokio::time::timeout;

use super::reach::{ReachError, address};
use super::target::Target;

/// The time limit for a notification to arrive, which normally takes a few milliseconds.
const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(3);

/// Checks that connections to the server are sessions, unless the URL declares a pooler. Otherwise, a statement that is
/// prepared on one server connection could be executed on another, where its name may belong to a different statement.
pub(super) async fn ensure_sessions(
    target: &Target,
    connection: &mut PgConnection,
) -> Result<(), ReachError> {
    if target.pooled || arrives(target, connection).await {
        return Ok(());
    }
    Err(ReachError::Pooled {
        address: address(&target.options),
    })
}

/// Returns true if a notification that is sent on `connection` arrives on another connection, as it does if both are
/// sessions. Also returns true for a server that does not permit `listen`, such as a standby.
async fn arrives(target: &Target, connection: &mut PgConnection) -> bool {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(target.connect_timeout)
        .connect_lazy_with(target.options_for("checking"));
    let channel = format!("pennon checking {}", std::process::id());
    let Ok(mut listener) = PgListener::connect_with(&pool).await else {
        return true;
    };
    if listener.listen(&channel).await.is_err() {
        return true;
    }
    let notify = AssertSqlSafe(format!("notify \"{channel}\""));
    // Sending fails if the notification arrives on this connection, which cannot handle it.
    let sent = connection.execute(notify).await.is_ok();
    sent && timeout(NOTIFICATION_TIMEOUT, listener.try_recv())
        .await
        .is_ok_and(|result| result.is_ok())
}
