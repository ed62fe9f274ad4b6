//! Commits, and the publication of committed changes.

use pennon_model::id::{EnvironmentId, FlagId};
use tracing::Instrument;

use super::Admin;
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::snapshot::Rotation;
use crate::store::Tx;
use crate::store::environments::{Raised, Safeguards};
use crate::store::notifications::announce;
use crate::store::snapshots::{ChangedFlag, flag_in};

/// A change to the flags that an environment serves.
#[derive(Clone, Debug)]
pub(crate) struct EnvironmentChange {
    pub(crate) environment: EnvironmentId,
    /// The flag that changed; none if the environment itself changed.
    pub(crate) flag: Option<FlagId>,
    /// The environment's config revision after the change.
    pub(crate) revision: i64,
    /// The safeguards that the actor must pass; none for a new environment.
    safeguards: Option<Safeguards>,
}

impl EnvironmentChange {
    /// Returns a change of the environment itself, or of more than one flag in it.
    pub(crate) fn of_environment(raised: Raised) -> Self {
        Self::new(raised, None)
    }

    /// Returns a new environment, which has nothing to guard yet.
    pub(crate) fn of_new_environment(raised: Raised) -> Self {
        Self::of_environment(raised).without_safeguards()
    }

    /// Returns a change of one flag in an environment.
    pub(crate) fn of_configuration(flag: FlagId, raised: Raised) -> Self {
        Self::new(raised, Some(flag))
    }

    /// Returns the changes of one flag in several environments.
    pub(crate) fn of_flag(flag: FlagId, raised: Vec<Raised>) -> Vec<Self> {
        let change = |raised| Self::of_configuration(flag, raised);
        raised.into_iter().map(change).collect()
    }

    /// Returns the changes of one flag that is and stays off in several environments. The dashboard does not ask before
    /// them, because no result changes.
    pub(crate) fn of_disabled_flag(flag: FlagId, raised: Vec<Raised>) -> Vec<Self> {
        let unprotected = |mut raised: Raised| {
            raised.safeguards.is_protected = false;
            raised
        };
        Self::of_flag(flag, raised.into_iter().map(unprotected).collect())
    }

    /// Returns the change of an environment that is as new as the change.
    pub(crate) fn without_safeguards(self) -> Self {
        Self {
            safeguards: None,
            ..self
        }
    }

    fn new(raised: Raised, flag: Option<FlagId>) -> Self {
        Self {
            environment: raised.environment,
            flag,
            revision: raised.revision,
            safeguards: Some(raised.safeguards),
        }
    }
}

/// Commits, and publishes the changes before returning. Fails unless the actor passes the safeguards of all
/// environments that change.
///
/// It runs to completion even if the caller disconnects, because every committed change must be published.
pub(crate) async fn commit(
    admin: &Admin,
    tx: Tx,
    actor: &Actor,
    changes: Vec<EnvironmentChange>,
) -> Result<(), Error> {
    check_safeguards(actor, &changes)?;
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
    actor: &Actor,
    keys: KeyChange,
    changes: Vec<EnvironmentChange>,
) -> Result<(), Error> {
    check_safeguards(actor, &changes)?;
    run(admin, tx, changes, Some(keys)).await
}

fn check_safeguards(actor: &Actor, changes: &[EnvironmentChange]) -> Result<(), Error> {
    actor.check_safeguards(
        changes
            .iter()
            .filter_map(|change| change.safeguards.as_ref()),
    )
}

async fn run(
    admin: &Admin,
    mut tx: Tx,
    changes: Vec<EnvironmentChange>,
    keys: Option<KeyChange>,
) -> Result<(), Error> {
    let admin = admin.clone();
    let run = async move {
        announce(&mut tx, admin.instance, &environments(&changes)).await?;
        let flags = changed_flag(&admin, &mut tx, &changes).await?;
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

fn environments(changes: &[EnvironmentChange]) -> Vec<EnvironmentId> {
    changes.iter().map(|change| change.environment).collect()
}

/// Reads the one flag that all changes concern, in each environment. Returns nothing for other changes, which are read
/// after the commit.
async fn changed_flag(
    admin: &Admin,
    tx: &mut Tx,
    changes: &[EnvironmentChange],
) -> Result<Vec<(EnvironmentId, ChangedFlag)>, Error> {
    let Some(flag) = changes.first().and_then(|change| change.flag) else {
        return Ok(Vec::new());
    };
    let concern_it = changes.iter().all(|change| change.flag == Some(flag));
    if !concern_it || !admin.serving.snapshots.is_in_use() {
        return Ok(Vec::new());
    }
    let flags = flag_in(tx, flag, &environments(changes)).await?;
    let is_complete = flags.len() == changes.len();
    Ok(if is_complete { flags } else { Vec::new() })
}

/// Updates the snapshots of this instance, if it serves any.
async fn publish(
    admin: &Admin,
    changes: &[EnvironmentChange],
    flags: Vec<(EnvironmentId, ChangedFlag)>,
) {
    for EnvironmentChange {
        environment,
        flag,
        revision,
        ..
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
