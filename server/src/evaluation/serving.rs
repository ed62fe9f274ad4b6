//! The served snapshots, and the check whether they are current.

use std::num::NonZeroU32;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pennon_model::id::EnvironmentId;

use crate::clock::{Clock, Confirmed};
use crate::error::Error;
use crate::snapshot::{Snapshots, TagSecret};
use crate::store::Db;
use crate::store::snapshots::ChangedFlag;

/// The time without a response from the database after which the snapshots no longer count as current. The database is
/// probed four times in this period, so that a short delay does not count as silence.
const SILENCE: Duration = Duration::from_secs(1);

/// The time without a comparison with the database after which the snapshots no longer count as current. A running
/// server compares them four times in this period.
const MAX_AGE: Duration = Duration::from_secs(2);

/// The state of evaluation. It is cheap to clone.
#[derive(Clone)]
pub(crate) struct Serving(Arc<ServingParts>);

/// The snapshots, and the database that they follow.
pub(crate) struct ServingParts {
    pub(crate) snapshots: Snapshots,
    pub(crate) clock: Arc<dyn Clock>,
    /// The maximum number of requests per second for one environment; unlimited if not set.
    pub(crate) rate_limit: Option<NonZeroU32>,
    /// The time of the last comparison of the snapshots with the database.
    confirmed: Confirmed,
    /// The time at which the last comparison at intervals began; empty before the first, as without its task.
    compared: OnceLock<Confirmed>,
    db: Db,
    database_answers: AtomicBool,
}

impl Deref for Serving {
    type Target = ServingParts;

    fn deref(&self) -> &ServingParts {
        &self.0
    }
}

impl Serving {
    /// Creates the state, without snapshots.
    pub(crate) fn new(
        db: Db,
        clock: Arc<dyn Clock>,
        rate_limit: Option<NonZeroU32>,
        tag_secret: TagSecret,
    ) -> Self {
        Self(Arc::new(ServingParts {
            snapshots: Snapshots::new(Arc::clone(&clock), tag_secret),
            clock,
            rate_limit,
            confirmed: Confirmed::now(),
            compared: OnceLock::new(),
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

    /// Serves the flags that a transaction of this instance changed, as it read them. If it read none, or anything else
    /// has changed too, this serves the state of the database.
    pub(crate) async fn follow(
        &self,
        committed: Vec<(EnvironmentId, ChangedFlag)>,
    ) -> Result<(), Error> {
        if !committed.is_empty() && self.snapshots.advance(committed) {
            return Ok(());
        }
        self.catch_up().await
    }

    /// Updates the snapshots from the database, at intervals, and records whether the database responded.
    pub(crate) async fn compare(&self) {
        let began = Instant::now();
        let caught_up = self.catch_up().await;
        let answers = !matches!(caught_up, Err(Error::Unavailable(_)));
        let answered = self.database_answers.swap(answers, Ordering::Relaxed);
        match caught_up {
            Err(error @ Error::Unavailable(_)) if answered => {
                tracing::error!(%error, "cannot read from the database");
            }
            Ok(()) => {
                // Later changes may not be among those that it has read.
                self.compared.get_or_init(Confirmed::now).again_at(began);
                if !answered {
                    tracing::info!("the database answers again");
                }
            }
            Err(_) => {}
        }
    }

    /// Returns the time since the snapshots were last compared with the database.
    pub(crate) fn age(&self) -> Duration {
        self.confirmed.age()
    }

    /// Returns true if the database responded to the last query, and accepts the connections of writes.
    pub(crate) fn is_database_up(&self) -> bool {
        self.database_answers() && !self.db.storage().refuses_writers()
    }

    /// Returns true if the database responded to the last query.
    fn database_answers(&self) -> bool {
        self.db.is_present() && self.database_answers.load(Ordering::Relaxed)
    }

    /// Returns true if this instance would have noticed a recent change in the database. This is the first check to
    /// fail when the database stops responding.
    pub(crate) fn is_current(&self) -> bool {
        let compared = self.compared.get().map(Confirmed::age).unwrap_or_default();
        self.database_answers() && self.db.silence() < SILENCE && compared < MAX_AGE
    }
}
