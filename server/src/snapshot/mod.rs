//! What each environment serves, in memory: evaluation never asks the database.
//!
//! [`Snapshots`] is swapped from one state to the next as environments come and go, and each environment from one
//! [`EnvironmentSnapshot`] to the next as its flags change. Readers take what is there and never wait.

mod document;
mod environment;

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use pennon_core::model::id::EnvironmentId;
use tokio::sync::Mutex;

pub(crate) use document::{Document, Encoding};
pub(crate) use environment::EnvironmentSnapshot;

use crate::auth::secret::SecretHash;
use crate::error::Error;
use crate::store::snapshots::{Head, changed_flags, heads};
use crate::store::{Db, Tx};

/// The snapshots of all active environments.
#[derive(Default)]
pub(crate) struct Snapshots {
    by_key: ArcSwap<HashMap<SecretHash, Arc<Served>>>,
    /// Held by whoever brings the snapshots up to date, so that they change in the order of the commits.
    catching_up: Mutex<()>,
}

/// An environment that is being served.
struct Served {
    id: EnvironmentId,
    snapshot: ArcSwap<EnvironmentSnapshot>,
}

impl Snapshots {
    /// What the environment with this key serves.
    pub(crate) fn by_key(&self, key: SecretHash) -> Option<Arc<EnvironmentSnapshot>> {
        self.by_key
            .load()
            .get(&key)
            .map(|served| served.snapshot.load_full())
    }

    /// Brings the snapshots up to date with the database: new environments are loaded, revoked ones are dropped, and of
    /// changed ones only the flags that changed are read and compiled.
    ///
    /// It is the one way in which snapshots change: at the start, after each commit of this process, and at intervals
    /// for what other processes commit.
    pub(crate) async fn catch_up(&self, db: &Db) -> Result<(), Error> {
        let _turn = self.catching_up.lock().await;
        let mut tx = db.read().await?;
        let heads = heads(&mut tx).await?;
        let known = self.by_key.load_full();
        let mut next = HashMap::with_capacity(heads.len());
        for head in heads {
            let served = known
                .get(&head.sdk_key)
                .filter(|served| served.id == head.id);
            match bring_up_to_date(served, &head, &mut tx).await {
                Ok(served) => {
                    next.insert(head.sdk_key, served);
                }
                Err(error @ Error::Unavailable(_)) => return Err(error),
                // One environment that cannot be read must not hold up the others, and goes on as it was.
                Err(error) => {
                    tracing::error!(environment = %head.id, %error, "an environment cannot be read");
                    next.extend(served.map(|served| (head.sdk_key, Arc::clone(served))));
                }
            }
        }
        if next.len() != known.len() || next.keys().any(|key| !known.contains_key(key)) {
            self.by_key.store(Arc::new(next));
        }
        Ok(())
    }
}

async fn bring_up_to_date(
    served: Option<&Arc<Served>>,
    head: &Head,
    tx: &mut Tx,
) -> Result<Arc<Served>, Error> {
    let Some(served) = served else {
        return load(head, tx).await.map(Arc::new);
    };
    update(served, head, tx).await?;
    Ok(Arc::clone(served))
}

async fn load(head: &Head, tx: &mut Tx) -> Result<Served, Error> {
    let flags = changed_flags(tx, head.id, 0).await?;
    let snapshot = EnvironmentSnapshot::default().with(flags, head.config_revision);
    Ok(Served {
        id: head.id,
        snapshot: ArcSwap::from_pointee(snapshot),
    })
}

async fn update(served: &Served, head: &Head, tx: &mut Tx) -> Result<(), Error> {
    let current = served.snapshot.load_full();
    if current.revision() != head.config_revision {
        let flags = changed_flags(tx, head.id, current.revision()).await?;
        served
            .snapshot
            .store(Arc::new(current.with(flags, head.config_revision)));
    }
    Ok(())
}
