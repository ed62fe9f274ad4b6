//! The snapshots that are served, and how current they are.

use std::num::NonZeroU32;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pennon_model::id::EnvironmentId;

use crate::clock::{Clock, Confirmed};
use crate::error::Error;
use crate::snapshot::Snapshots;
use crate::store::Db;
use crate::store::snapshots::ChangedFlag;

/// The time for which the database may be silent before it may have changes that are not served. It is probed four
/// times in that time, so that a busy moment is not taken for silence.
const SILENCE: Duration = Duration::from_secs(1);

/// The state behind evaluation. It is cheap to clone.
#[derive(Clone)]
pub(crate) struct Serving(Arc<Parts>);

/// The flags of one environment that a transaction changed.
pub(crate) struct CommittedFlags {
    pub(crate) environment: EnvironmentId,
    pub(crate) flags: Vec<ChangedFlag>,
    /// The environment's config revision after the change.
    pub(crate) revision: i64,
}

/// Snapshots, and the database that they follow.
pub(crate) struct Parts {
    pub(crate) snapshots: Snapshots,
    pub(crate) clock: Arc<dyn Clock>,
    /// The requests that are accepted for an environment in a second; any number if not set.
    pub(crate) rate_limit: Option<NonZeroU32>,
    /// The last comparison of the snapshots with the database.
    confirmed: Confirmed,
    db: Db,
    database_answers: AtomicBool,
}

impl Deref for Serving {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Serving {
    /// Serves nothing yet.
    pub(crate) fn new(db: Db, clock: Arc<dyn Clock>, rate_limit: Option<NonZeroU32>) -> Self {
        Self(Arc::new(Parts {
            snapshots: Snapshots::default(),
            clock,
            rate_limit,
            confirmed: Confirmed::now(),
            db,
            database_answers: AtomicBool::new(true),
        }))
    }

    /// Updates the snapshots from the database.
    pub(crate) async fn catch_up(&self) -> Result<(), Error> {
        self.snapshots.catch_up(&self.db).await?;
        self.confirmed.again();
        Ok(())
    }

    /// Serves the changes of a transaction of this instance: the flags that were read in it if nothing else has
    /// changed, and otherwise the state of the database.
    pub(crate) async fn follow(&self, committed: Option<CommittedFlags>) -> Result<(), Error> {
        if let Some(CommittedFlags {
            environment,
            flags,
            revision,
        }) = committed
            && self.snapshots.advance(environment, flags, revision).await
        {
            return Ok(());
        }
        self.catch_up().await
    }

    /// Updates the snapshots from the database, and records whether it answered.
    pub(crate) async fn compare(&self) {
        let caught_up = self.catch_up().await;
        let answers = !matches!(caught_up, Err(Error::Unavailable(_)));
        let answered = self.database_answers.swap(answers, Ordering::Relaxed);
        match caught_up {
            Err(error @ Error::Unavailable(_)) if answered => {
                tracing::error!(%error, "cannot read from the database");
            }
            Ok(()) if !answered => tracing::info!("the database answers again"),
            _ => {}
        }
    }

    /// The time since the snapshots were last compared with the database.
    pub(crate) fn age(&self) -> Duration {
        self.confirmed.age()
    }

    /// Returns true if the database answered the last query.
    pub(crate) fn database_answers(&self) -> bool {
        self.db.is_present() && self.database_answers.load(Ordering::Relaxed)
    }

    /// Returns true if a recent change in the database would be known here. When the database stops responding, this is
    /// the first check to fail.
    pub(crate) fn is_current(&self) -> bool {
        self.database_answers() && self.db.silence() < SILENCE
    }
}
