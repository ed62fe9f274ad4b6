//! Keys that come and go: revocations, rotations and the overlaps after them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pennon_model::id::EnvironmentId;
use pennon_model::secret::SecretHash;

use super::keys::{Access, Keys};
use super::served::Served;
use super::{HEADS_TIMEOUT, Snapshots, within};
use crate::error::Error;
use crate::store::Db;
use crate::store::snapshots::{Head, Heads, PreviousKeyHash, heads};

/// A rotation after which the previous key keeps working for some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rotation {
    /// The revoked environment.
    pub(crate) predecessor: EnvironmentId,
    /// The environment that replaces it.
    pub(crate) successor: EnvironmentId,
    /// The key of the successor.
    pub(crate) key: SecretHash,
    /// The key of the predecessor.
    pub(crate) previous_key: PreviousKeyHash,
}

impl Snapshots {
    /// Refuses the keys of a revoked environment from now on, even if a refill in progress has read it as active.
    pub(crate) fn revoke(&self, environment: EnvironmentId) {
        let mut refused = self.refused.lock();
        refused.environments.insert(environment);
        let mut next = Keys::clone(&self.by_key.load());
        next.retain(|_, access| {
            let is_kept = access.served.id != environment;
            if !is_kept {
                access.served.end();
            }
            is_kept
        });
        self.by_key.store(Arc::new(next));
    }

    /// Refuses the previous key of an environment from now on, even if a refill in progress has read it as valid.
    pub(crate) fn end_overlap(&self, environment: EnvironmentId) {
        let mut refused = self.refused.lock();
        refused.previous_keys.insert(environment);
        let mut next = Keys::clone(&self.by_key.load());
        next.retain(|_, access| {
            let is_kept = access.served.id != environment || !access.is_previous();
            if !is_kept {
                access.end_overlap();
            }
            is_kept
        });
        self.by_key.store(Arc::new(next));
    }

    /// Serves the successor of an environment under both keys, without a gap and without the database. The streams of
    /// the predecessor end, so that clients reconnect.
    pub(crate) async fn rotate(&self, rotation: Rotation) {
        // Only the last key can overlap.
        self.end_overlap(rotation.predecessor);
        let _turn = self.refilled.lock().await;
        self.succeed(rotation);
    }

    /// Serves the successors of environments whose keys other instances have rotated. The caller holds the lock for
    /// updates.
    pub(super) fn follow_rotations(&self, active: &[Head]) {
        let known = self.by_key.load_full();
        for head in active {
            let Some(previous_key) = head.previous_key else {
                continue;
            };
            if let Some(access) = known.get(&previous_key.hash)
                && access.served.id != head.id
            {
                self.succeed(Rotation {
                    predecessor: access.served.id,
                    successor: head.id,
                    key: head.sdk_key,
                    previous_key,
                });
            }
        }
    }

    /// Replaces an environment by its successor, unless the successor is served or revoked already.
    fn succeed(&self, rotation: Rotation) {
        let Rotation {
            predecessor,
            successor,
            key,
            previous_key,
        } = rotation;
        let refused = self.refused.lock();
        let known = self.by_key.load();
        let own = known.get(&previous_key.hash);
        let own = own.filter(|own| own.served.id == predecessor && !own.is_previous());
        let Some(old) = own.map(|own| Arc::clone(&own.served)) else {
            return;
        };
        let mut next = Keys::clone(&known);
        next.retain(|_, access| access.served.id != predecessor);
        let served = Arc::new(Served::new(successor, old.current().copied()));
        let previous = Access::previous(&served, previous_key, None, &self.clock);
        let accesses = previous.map(|previous| (previous_key.hash, previous));
        let accesses = accesses.into_iter().chain([(key, Access::own(&served))]);
        next.extend(accesses.filter(|(_, access)| !refused.contains(access)));
        self.by_key.store(Arc::new(next));
        old.end();
    }

    /// Returns the keys that give access to an environment, and the environment to which they do. `known` are the keys
    /// so far.
    pub(super) fn accesses(
        &self,
        head: &Head,
        served: &Arc<Served>,
        known: &Keys,
    ) -> impl Iterator<Item = (SecretHash, Access)> + use<> {
        let previous = head.previous_key.and_then(|key| {
            let access = Access::previous(served, key, known.get(&key.hash), &self.clock)?;
            Some((key.hash, access))
        });
        let own = (head.sdk_key, Access::own(served));
        previous.into_iter().chain([own])
    }

    /// If a refill is in progress, reads which keys are valid, and drops the others. A key that was refused stays
    /// refused, so this needs no lock.
    pub(crate) async fn drop_revoked(&self, db: &Db) -> Result<(), Error> {
        if self.refilled.try_lock().is_ok() {
            return Ok(());
        }
        let known = self.by_key.load_full();
        let active = within(HEADS_TIMEOUT, async {
            heads(&mut db.follow().await?).await
        })
        .await?;
        self.drop_all_but(&active, &known);
        Ok(())
    }

    /// Drops the keys that no longer give access. An environment whose key was rotated stays until its successor is
    /// served, if the key is still valid. An environment whose row is unreadable keeps its keys.
    pub(super) fn drop_all_but(&self, active: &Heads, known: &Keys) {
        let unreadable = active.unreadable_ids();
        let active = &active.readable;
        let heads: HashMap<EnvironmentId, &Head> =
            active.iter().map(|head| (head.id, head)).collect();
        let now = self.clock.now();
        let overlapping: HashSet<SecretHash> = active
            .iter()
            .filter_map(|head| head.previous_key)
            .filter(|key| now < key.ends_at)
            .map(|key| key.hash)
            .collect();
        let rotated: HashSet<EnvironmentId> = known
            .iter()
            .filter(|(key, access)| !access.is_previous() && overlapping.contains(key))
            .map(|(_, access)| access.served.id)
            .collect();
        for (key, access) in known {
            let id = access.served.id;
            match heads.get(&id) {
                None if unreadable.contains(&id) => {}
                None if !rotated.contains(&id) => self.revoke(id),
                None => self.end_overlap(id),
                Some(head) => {
                    let previous = head.previous_key.map(|key| key.hash);
                    if access.is_previous() && previous != Some(*key) {
                        self.end_overlap(id);
                    }
                }
            }
        }
    }
}
