//! The in-memory state of all environments, so that evaluation never queries the database.
//!
//! [`Snapshots`] swaps its map of environments atomically when environments are created or revoked, and each
//! environment swaps its [`EnvironmentSnapshot`] when its flags change. Readers never wait.

mod clients;
mod document;
mod environment;
mod faults;
mod filtered;
mod keys;
mod rate_limiter;
mod rotation;
mod served;
mod usage;
mod watchers;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use pennon_model::id::EnvironmentId;
use pennon_model::secret::SecretHash;

pub(crate) use clients::ClientCounts;
pub(crate) use document::{
    Content, Document, DocumentText, Encoding, TagSecret, WORTH_COMPRESSING,
};
pub(crate) use environment::{ActiveFlags, Decision, EnvironmentSnapshot, ServedFlag};
pub(crate) use keys::{Overlap, TICK};
pub(crate) use rate_limiter::RateLimiter;
pub(crate) use rotation::Rotation;
pub(crate) use served::{Follower, OpenStreams};
pub(crate) use usage::{Counts, EnvironmentCounters, Origin, UsageReport};
pub(crate) use watchers::Watch;

use self::faults::{Faults, Found, Unreadable};
use self::keys::{Access, Keys};
use self::served::Served;
use self::usage::Usage;
use crate::clock::Clock;
use crate::error::Error;
use crate::store::snapshots::{ChangedFlag, Head, Heads, changed_flags, heads};
use crate::store::{Db, Tx};

/// The time limit for reading one environment, so that one that takes long does not delay the others.
const READ_TIMEOUT: Duration = Duration::from_secs(15);

/// The time limit for reading all revisions, which are few, however large the database is.
const HEADS_TIMEOUT: Duration = Duration::from_secs(3);

/// The snapshots of all active environments.
pub(crate) struct Snapshots {
    by_key: ArcSwap<Keys>,
    clock: Arc<dyn Clock>,
    tag_secret: TagSecret,
    usage: Usage,
    pub(crate) faults: Faults,
    /// The number of refills that have started to read.
    begun: AtomicU64,
    /// The lock for reading the database. It holds the number of the last refill that succeeded. Changes of this
    /// instance are served without it, because a refill after a large import takes long.
    refilled: tokio::sync::Mutex<u64>,
    /// Keys that were refused since the current refill began, for which it may have read outdated data. Its lock is
    /// also that of rotations and of [`advance`](Self::advance), so that none misses the other's change.
    refused: Mutex<Refused>,
}

/// The keys that are refused.
#[derive(Default)]
struct Refused {
    /// All keys of these environments.
    environments: HashSet<EnvironmentId>,
    /// The previous keys of these environments.
    previous_keys: HashSet<EnvironmentId>,
}

/// The environment to which a key gives access.
pub(crate) struct Opened {
    pub(crate) snapshot: Arc<EnvironmentSnapshot>,
    /// The overlap, if the key is the environment's previous one.
    pub(crate) overlap: Option<Arc<Overlap>>,
}

impl Refused {
    fn contains(&self, access: &Access) -> bool {
        let id = access.served.id;
        self.environments.contains(&id)
            || (access.is_previous() && self.previous_keys.contains(&id))
    }
}

impl Snapshots {
    /// Creates the state, without environments. The clock ends overlaps.
    pub(crate) fn new(clock: Arc<dyn Clock>, tag_secret: TagSecret) -> Self {
        Self {
            by_key: ArcSwap::default(),
            clock,
            tag_secret,
            usage: Usage::default(),
            faults: Faults::default(),
            begun: AtomicU64::default(),
            refilled: tokio::sync::Mutex::default(),
            refused: Mutex::default(),
        }
    }

    /// Returns the environment to which this key gives access now.
    pub(crate) fn by_key(&self, key: SecretHash) -> Option<Opened> {
        let keys = self.by_key.load();
        let access = keys.get(&key).filter(|access| !access.is_over())?;
        Some(Opened {
            snapshot: access.served.current(),
            overlap: access.overlap.clone(),
        })
    }

    /// Follows the environment to which this key gives access now.
    pub(crate) fn follow(&self, key: SecretHash) -> Option<Follower> {
        let keys = self.by_key.load();
        let access = keys.get(&key).filter(|access| !access.is_over())?;
        Some(access.follow())
    }

    /// Watches the evaluations of one flag of an environment, or of all. Returns none if the environment is not served.
    pub(crate) fn watch(&self, environment: EnvironmentId, flag: Option<String>) -> Option<Watch> {
        let served = self.by_id(environment)?;
        let watchers = Arc::clone(served.current().usage().watchers());
        Some(watchers.watch(flag, Arc::clone(&self.clock), served.follow(None)))
    }

    fn by_id(&self, environment: EnvironmentId) -> Option<Arc<Served>> {
        let keys = self.by_key.load();
        let mut served = keys.values().map(|access| &access.served);
        served.find(|served| served.id == environment).cloned()
    }

    /// Takes the counts since the last call.
    pub(crate) fn take_usage(&self) -> Counts {
        self.usage.take()
    }

    /// Waits until there are so many usage reports that they should be written to the database now.
    pub(crate) async fn many_reports(&self) {
        self.usage.many_reports().await;
    }

    /// Returns the number of environments, and the number of flags in all of them.
    pub(crate) fn size(&self) -> (usize, usize) {
        let served = environments(&self.by_key.load());
        let flags = served.iter().map(|served| served.current().size());
        (served.len(), flags.sum())
    }

    /// Returns true if a refill has ever begun. It is false on the command line, which serves no flags.
    pub(crate) fn is_in_use(&self) -> bool {
        self.begun.load(Ordering::SeqCst) > 0
    }

    /// Updates the snapshots from the database: loads new environments, drops revoked ones, and reads and compiles only
    /// the changed flags of the others.
    ///
    /// If another refill begins and succeeds while a caller waits for the lock, the caller returns at once, because
    /// that refill has read the same data.
    pub(crate) async fn catch_up(&self, db: &Db) -> Result<(), Error> {
        let seen = self.begun.load(Ordering::SeqCst);
        let mut refilled = self.refilled.lock().await;
        if *refilled <= seen {
            let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
            let found = self.refill(db, number).await;
            let found = found.inspect_err(|error| self.faults.record_failure(error))?;
            self.faults.replace(found);
            *refilled = number;
        }
        Ok(())
    }

    /// Serves flags that a transaction of this instance changed, and returns true if it could serve all of them. A flag
    /// is not served if it is unreadable, or if its revision does not follow the served one directly.
    pub(crate) fn advance(&self, committed: Vec<(EnvironmentId, ChangedFlag)>) -> bool {
        let refills = self.begun.load(Ordering::SeqCst);
        let _turn = self.refused.lock();
        let mut are_served = true;
        for (environment, flag) in committed {
            are_served &= self.advance_one(environment, flag, refills);
        }
        are_served
    }

    fn advance_one(&self, environment: EnvironmentId, flag: ChangedFlag, refills: u64) -> bool {
        let Some(served) = self.by_id(environment) else {
            return false;
        };
        let current = served.current();
        let revision = flag.revision;
        let is_next = current.latest_revision().checked_add(1) == Some(revision);
        if !is_next || flag.fault.is_some() {
            return false;
        }
        let next = current.with(vec![flag], revision);
        served.advance(&current, next, refills)
    }

    /// Reads all environments again, one after the other, regardless of their revisions. Each is served unchanged until
    /// it is replaced. Other refills can run in between.
    pub(crate) async fn reload(&self, db: &Db) -> Result<(), Error> {
        self.catch_up(db).await?;
        for served in &environments(&self.by_key.load()) {
            let _turn = self.refilled.lock().await;
            match within_read_timeout(reload_one(served, db)).await {
                Err(error @ Error::Unavailable(_)) => return Err(error),
                Err(error) => {
                    tracing::error!(environment = %served.id, %error, "an environment cannot be read");
                }
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Reads and serves all changes, and returns the unreadable data.
    async fn refill(&self, db: &Db, number: u64) -> Result<Found, Error> {
        // Environments that were revoked before this point are not read, and neither are ended overlaps.
        *self.refused.lock() = Refused::default();
        let (mut tx, heads): (Tx, Heads) = within(HEADS_TIMEOUT, async {
            let mut tx = db.follow().await?;
            let heads = heads(&mut tx).await?;
            Ok((tx, heads))
        })
        .await?;
        // Keys are moved and dropped before new data is loaded, which may take long.
        self.follow_rotations(&heads.readable);
        let known = self.by_key.load_full();
        self.drop_all_but(&heads, &known);
        let mut next = keys_of_unreadable(&heads, &known);
        let unreadable = heads.unreadable.into_iter();
        let mut found: Found = unreadable
            .map(|(id, error)| (Unreadable::Environment(id), error.to_string().into()))
            .collect();
        for head in heads.readable {
            let current = known.get(&head.sdk_key).map(|access| &access.served);
            let current = current.filter(|served| served.id == head.id);
            let reading = self.bring_up_to_date(current, &head, &mut tx, number);
            let served = match within_read_timeout(reading).await {
                Ok(served) => {
                    found.extend(served.faults());
                    Some(served)
                }
                Err(error @ Error::Unavailable(_)) => return Err(error),
                // An unreadable environment stays unchanged, and does not stop the others.
                Err(error) => {
                    found.insert(Unreadable::Environment(head.id), error.to_string().into());
                    // After a failed query, PostgreSQL refuses all others in the same transaction. A new transaction
                    // may see later changes, which does no harm: data that is read too early is read again.
                    drop(tx);
                    tx = within(HEADS_TIMEOUT, db.follow()).await?;
                    current.cloned()
                }
            };
            if let Some(served) = served {
                next.extend(self.accesses(&head, &served, &known));
            }
        }
        self.serve(next);
        Ok(found)
    }

    async fn bring_up_to_date(
        &self,
        served: Option<&Arc<Served>>,
        head: &Head,
        tx: &mut Tx,
        refill: u64,
    ) -> Result<Arc<Served>, Error> {
        if let Some(served) = served {
            update(served, head, tx, refill).await?;
            return Ok(Arc::clone(served));
        }
        let usage = self.usage.of_environment(head.lineage);
        let empty = EnvironmentSnapshot::empty(usage, self.tag_secret);
        let snapshot = load(head, &empty, tx).await?;
        Ok(Arc::new(Served::new(head.id, snapshot)))
    }

    /// Serves these environments, except by keys that were refused while they were being read.
    fn serve(&self, mut next: Keys) {
        let refused = self.refused.lock();
        next.retain(|_, access| !refused.contains(access));
        let current = self.by_key.load();
        let is_same = |(key, access): (&SecretHash, &Access)| {
            current.get(key).is_some_and(|known| known.is_same(access))
        };
        if next.len() != current.len() || !next.iter().all(is_same) {
            self.by_key.store(Arc::new(next));
        }
    }
}

/// Returns each environment once.
fn environments(keys: &Keys) -> Vec<Arc<Served>> {
    let own = keys.values().filter(|access| !access.is_previous());
    own.map(|access| Arc::clone(&access.served)).collect()
}

/// Returns the keys of the environments that have an unreadable row.
fn keys_of_unreadable(heads: &Heads, known: &Keys) -> Keys {
    let unreadable = heads.unreadable_ids();
    let kept = known
        .iter()
        .filter(|(_, access)| unreadable.contains(&access.served.id));
    kept.map(|(key, access)| (*key, access.clone())).collect()
}

/// Limits the time of reading one environment. A timeout is an error of that environment only: if the whole database
/// hangs, the next transaction does not begin.
async fn within_read_timeout<T>(
    reading: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::time::timeout(READ_TIMEOUT, reading)
        .await
        .unwrap_or_else(|_| {
            let seconds = READ_TIMEOUT.as_secs();
            Err(Error::Internal(format!(
                "it takes longer than {seconds} s to read"
            )))
        })
}

/// Limits the time of a read from the database.
async fn within<T>(
    limit: Duration,
    reading: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::time::timeout(limit, reading)
        .await
        .unwrap_or(Err(Error::Unavailable(None)))
}

/// Reads all flags of an environment.
async fn load(
    head: &Head,
    current: &EnvironmentSnapshot,
    tx: &mut Tx,
) -> Result<EnvironmentSnapshot, Error> {
    let flags = changed_flags(tx, head.id, 0).await?;
    let rebuilt = current.rebuilt(flags, head.config_revision);
    Ok(rebuilt.revealing(head.client_rules))
}

/// Serves the changes of an environment that a refill finds.
async fn update(served: &Arc<Served>, head: &Head, tx: &mut Tx, refill: u64) -> Result<(), Error> {
    loop {
        let current = served.current();
        if head.config_revision < current.revision() && served.is_ahead_of(refill) {
            return Ok(());
        }
        let Some(next) = successor(&current, head, tx).await? else {
            return Ok(());
        };
        if served.replace(&current, next) {
            return Ok(());
        }
    }
}

/// Returns the snapshot that follows the current one in the database; none if it is up to date.
async fn successor(
    current: &EnvironmentSnapshot,
    head: &Head,
    tx: &mut Tx,
) -> Result<Option<EnvironmentSnapshot>, Error> {
    let (known, behind) = (
        current.latest_revision(),
        head.config_revision - current.revision(),
    );
    if behind < 0 {
        // A lower revision means that the database was restored to an earlier state, so all flags are read again.
        return load(head, current, tx).await.map(Some);
    }
    if known >= head.config_revision {
        return Ok(None);
    }
    let mut flags = changed_flags(tx, head.id, known).await?;
    flags.retain(|flag| current.lacks(flag));
    if behind == 0 && flags.is_empty() {
        return Ok(None);
    }
    let next = current.with(flags, head.config_revision);
    Ok(Some(next.revealing(head.client_rules)))
}

async fn reload_one(served: &Arc<Served>, db: &Db) -> Result<(), Error> {
    loop {
        let current = served.current();
        let mut tx = db.follow().await?;
        let heads = heads(&mut tx).await?;
        let Some(head) = heads.readable.iter().find(|head| head.id == served.id) else {
            return Ok(());
        };
        let next = load(head, &current, &mut tx).await?;
        if served.replace(&current, next) {
            return Ok(());
        }
    }
}
