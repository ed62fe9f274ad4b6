//! Commits, and the publication of committed changes.

use pennon_model::id::{EnvironmentId, FlagId};
use tracing::Instrument;

use super::Admin;
use crate::error::Error;
use crate::evaluation::CommittedFlags;
use crate::snapshot::Rotation;
use crate::store::Tx;
use crate::store::notifications::announce;
use crate::store::snapshots::changed_flags;

/// A change to the flags that an environment serves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnvironmentChange {
    pub(crate) environment: EnvironmentId,
    /// The flag that changed; none if the environment itself changed.
    pub(crate) flag: Option<FlagId>,
    /// The environment's config revision after the change.
    pub(crate) revision: i64,
}

impl EnvironmentChange {
    /// Returns a change of the environment itself, or of more than one flag in it.
    pub(crate) fn of_environment(environment: EnvironmentId, revision: i64) -> Self {
        Self {
            environment,
            flag: None,
            revision,
        }
    }

    /// Returns the changes of one flag in several environments.
    pub(crate) fn of_flag(flag: FlagId, raised: Vec<(EnvironmentId, i64)>) -> Vec<Self> {
        let change = |(environment, revision)| Self {
            environment,
            flag: Some(flag),
            revision,
        };
        raised.into_iter().map(change).collect()
    }
}

/// Commits, and publishes the changes before returning.
///
/// It runs to completion even if the caller disconnects, because every committed change must be published.
pub(crate) async fn commit(
    admin: &Admin,
    tx: Tx,
    changes: Vec<EnvironmentChange>,
) -> Result<(), Error> {
    run(admin, tx, changes, None).await
}

/// The keys that a transaction ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeyChange {
    /// The keys of a revoked environment.
    Revocation(EnvironmentId),
    /// All keys of an environment but the one that gives access to its successor for some time.
    Rotation(Rotation),
    /// The previous key of an environment.
    EndOfOverlap(EnvironmentId),
}

/// Commits like [`commit`], and refuses keys as soon as the commit succeeds.
pub(crate) async fn commit_keys(
    admin: &Admin,
    tx: Tx,
    keys: KeyChange,
    changes: Vec<EnvironmentChange>,
) -> Result<(), Error> {
    run(admin, tx, changes, Some(keys)).await
}

async fn run(
    admin: &Admin,
    mut tx: Tx,
    changes: Vec<EnvironmentChange>,
    keys: Option<KeyChange>,
) -> Result<(), Error> {
    let admin = admin.clone();
    let run = async move {
        let environments: Vec<EnvironmentId> =
            changes.iter().map(|change| change.environment).collect();
        announce(&mut tx, admin.instance, &environments).await?;
        let flags = changed_flags_of(&admin, &mut tx, &changes).await?;
        // A commit may succeed although its response is lost. The next comparison of revisions then finds the change.
        tx.commit().await?;
        let snapshots = &admin.serving.snapshots;
        match keys {
            None => {}
            Some(KeyChange::Revocation(environment)) => snapshots.revoke(environment),
            Some(KeyChange::Rotation(rotation)) => snapshots.rotate(rotation).await,
            Some(KeyChange::EndOfOverlap(environment)) => snapshots.end_overlap(environment),
        }
        publish(&admin, &changes, flags).await;
        admin.feed.committed();
        Ok(())
    };
    tokio::spawn(run.in_current_span())
        .await
        .map_err(|error| Error::Internal(format!("the commit was aborted: {error}")))?
}

/// Reads the flag of a change that concerns one flag in one environment. All other changes are read after the commit.
async fn changed_flags_of(
    admin: &Admin,
    tx: &mut Tx,
    changes: &[EnvironmentChange],
) -> Result<Option<CommittedFlags>, Error> {
    let [
        EnvironmentChange {
            environment,
            flag: Some(_),
            revision,
        },
    ] = *changes
    else {
        return Ok(None);
    };
    if !admin.serving.snapshots.is_in_use() {
        return Ok(None);
    }
    Ok(Some(CommittedFlags {
        environment,
        flags: changed_flags(tx, environment, revision.saturating_sub(1)).await?,
        revision,
    }))
}

/// Updates the snapshots of this instance, if it serves any.
async fn publish(admin: &Admin, changes: &[EnvironmentChange], flags: Option<CommittedFlags>) {
    for EnvironmentChange {
        environment,
        flag,
        revision,
    } in changes
    {
        tracing::debug!(%environment, flag = flag.map(tracing::field::display), revision, "changed");
    }
    if !admin.serving.snapshots.is_in_use() {
        return;
    }
    if let Err(error) = admin.serving.follow(flags).await {
        tracing::warn!(%error, "a change is committed but not served yet");
    }
}
