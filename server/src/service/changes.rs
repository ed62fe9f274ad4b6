//! Commits, and what follows from them.

use pennon_core::model::id::{EnvironmentId, FlagId};

use super::Service;
use crate::error::Error;
use crate::store::Tx;

/// A change of what an environment serves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) environment: EnvironmentId,
    /// The flag that changed; none if the environment itself did.
    pub(crate) flag: Option<FlagId>,
    /// The environment's config revision after the change.
    pub(crate) revision: i64,
}

impl Change {
    /// The same flag's change in each of several environments.
    pub(crate) fn of_flag(flag: FlagId, raised: Vec<(EnvironmentId, i64)>) -> Vec<Self> {
        let change = |(environment, revision)| Self {
            environment,
            flag: Some(flag),
            revision,
        };
        raised.into_iter().map(change).collect()
    }
}

/// Commits, and publishes the changes before it answers.
///
/// It runs to its end even if the caller goes away meanwhile: a commit whose changes nobody hears of must not be.
pub(crate) async fn commit(service: &Service, tx: Tx, changes: Vec<Change>) -> Result<(), Error> {
    let service = service.clone();
    let committed = tokio::spawn(async move {
        tx.commit().await?;
        publish(&service, &changes).await;
        Ok(())
    });
    committed
        .await
        .map_err(|error| Error::Internal(format!("the commit was cut off: {error}")))?
}

/// Tells everyone who follows changes: now that is the snapshots.
async fn publish(service: &Service, changes: &[Change]) {
    for Change {
        environment,
        flag,
        revision,
    } in changes
    {
        tracing::debug!(%environment, flag = flag.map(tracing::field::display), revision, "changed");
    }
    if let Err(error) = service.snapshots.catch_up(&service.db).await {
        tracing::warn!(%error, "a change is committed but not served yet");
    }
}
