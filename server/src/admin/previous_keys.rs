//! Previous SDK keys, which keep working for some time after a rotation.

use pennon_model::audit::AuditAction;
use pennon_model::environment::Environment;
use pennon_model::id::EnvironmentId;
use pennon_model::previous_key::PreviousKeyUsage;
use pennon_model::secret::SecretHash;
use pennon_model::time::Timestamp;

use super::changes::{EnvironmentChange, KeyChange};
use super::environments::{entry, find, find_active};
use super::precondition::Precondition;
use super::{Admin, changes};
use crate::auth::actor::Actor;
use crate::auth::authority::AnyAdministrator;
use crate::error::{Entity, Error};
use crate::snapshot::{ClientCounts, Rotation};
use crate::store::previous_keys::PreviousKeyRequests;
use crate::store::snapshots::PreviousKeyHash;
use crate::store::{self, Tx};

/// Stores the previous key of the environment that replaces `old`, if it has one, and returns the change of the keys.
/// `key` is the new key.
pub(super) async fn keep(
    tx: &mut Tx,
    old: &Environment,
    new: &Environment,
    key: SecretHash,
) -> Result<KeyChange, Error> {
    let Some(previous) = &new.previous_key else {
        return Ok(KeyChange::Revocation(old.id));
    };
    let ends_at = previous.ends_at;
    let hash = store::previous_keys::keep(tx, new.id, old.id, ends_at).await?;
    Ok(KeyChange::Rotation(Rotation {
        predecessor: old.id,
        successor: new.id,
        key,
        previous_key: PreviousKeyHash { hash, ends_at },
    }))
}

/// Returns the previous key of an environment and its use. Fails if no previous key works.
pub(crate) async fn usage(
    admin: &Admin,
    _actor: &Actor,
    id: EnvironmentId,
) -> Result<PreviousKeyUsage, Error> {
    let mut tx = admin.db.read().await?;
    let environment = find(&mut tx, id).await?.at(admin.clock.now());
    let key = environment.previous_key;
    let key = key.ok_or(Error::NotFound(Entity::PreviousKey))?;
    let clients = store::previous_keys::clients(&mut tx, id).await?;
    Ok(PreviousKeyUsage { key, clients })
}

/// Ends the overlap of an environment. Its previous key stops working at once.
pub(crate) async fn end(
    admin: &Admin,
    actor: &AnyAdministrator,
    id: EnvironmentId,
    precondition: &Precondition,
) -> Result<(), Error> {
    let mut tx = admin.db.write().await?;
    let (old, actor) = find_active(admin, &mut tx, actor, id, precondition).await?;
    if old.previous_key.is_none() {
        return Err(Error::NotFound(Entity::PreviousKey));
    }
    store::previous_keys::end(&mut tx, id).await?;
    let new = Environment {
        previous_key: None,
        revision: old.revision + 1,
        ..old.clone()
    };
    entry(AuditAction::EnvironmentUpdated, Some(&old), &new)?
        .record(admin, &mut tx, &actor)
        .await?;
    // Every instance then reads the keys again.
    let raised = store::environments::raise_config_revision(&mut tx, id).await?;
    let change = EnvironmentChange::of_environment(raised);
    changes::commit_keys(admin, tx, &actor, KeyChange::EndOfOverlap(id), vec![change]).await
}

/// Adds the use of previous keys to the database. The number of names is limited for all instances together.
///
/// An environment may be missing after a failover to a standby without the rotation. Its use is dropped, because no
/// later attempt could write it.
pub(super) async fn add(
    tx: &mut Tx,
    counts: &[(i64, EnvironmentId, ClientCounts)],
    last_seen_in: impl Fn(Timestamp) -> Timestamp,
) -> Result<(), Error> {
    for (hour, environment, counts) in counts {
        if !store::environments::exists(tx, *environment).await? {
            continue;
        }
        let mut known = ClientCounts::default();
        for client in store::previous_keys::clients(tx, *environment).await? {
            known.note(client.client);
        }
        let last_seen_at = last_seen_in(Timestamp::from_millis(*hour));
        let added = known.bound(counts).into_iter();
        let added: Vec<PreviousKeyRequests> = added
            .map(|(client, requests)| PreviousKeyRequests {
                environment: *environment,
                client,
                requests: requests.polls.saturating_add(requests.streams),
                last_seen_at,
            })
            .collect();
        store::previous_keys::add(tx, &added).await?;
    }
    Ok(())
}
