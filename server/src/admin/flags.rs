//! Flags: creating, listing, changing, archiving and restoring them.

use pennon_model::audit::AuditAction;
use pennon_model::flag::{Flag, FlagFilter, FlagKey, FlagName, FlagProducts, FlagType};
use pennon_model::id::FlagId;
use pennon_model::metadata::{Expiry, FlagKind, FlagMetadata, FlagOwner, FlagTags};
use pennon_model::page::{Page, PageRequest};
use pennon_model::text::{Description, NewName};
use pennon_model::time::Timestamp;

use super::changes::EnvironmentChange;
use super::patch::{Patch, renamed};
use super::precondition::Precondition;
use super::scope::{self, WhenEnabled};
use super::{Admin, Existence, audit, changes};
use crate::auth::actor::Actor;
use crate::auth::authority::{AnyEditor, FlagEditor};
use crate::error::{Conflict, Entity, Error};
use crate::store::flags::StateFilter;
use crate::store::{self, Tx};

/// A flag to create.
pub(crate) struct NewFlag {
    pub(crate) key: FlagKey,
    pub(crate) name: NewName<FlagName>,
    pub(crate) description: Option<Description>,
    pub(crate) flag_type: FlagType,
    /// The products in whose environments the flag is configured; every product if none.
    pub(crate) products: Option<FlagProducts>,
    /// True if the flag exists in public environments.
    pub(crate) is_public: bool,
    pub(crate) metadata: FlagMetadata,
}

/// A change of a flag; absent members stay unchanged.
pub(crate) struct FlagPatch {
    pub(crate) name: Option<FlagName>,
    pub(crate) description: Patch<Description>,
    pub(crate) products: Patch<FlagProducts>,
    pub(crate) is_public: Option<bool>,
    pub(crate) metadata: MetadataPatch,
    /// The treatment of environments that the flag leaves while it is enabled there.
    pub(crate) when_enabled: WhenEnabled,
}

/// A change of a flag's metadata; absent members stay unchanged.
#[derive(Default)]
pub(crate) struct MetadataPatch {
    pub(crate) tags: Patch<FlagTags>,
    pub(crate) owner: Patch<FlagOwner>,
    pub(crate) kind: Patch<FlagKind>,
    pub(crate) expires_at: Patch<Expiry>,
}

impl MetadataPatch {
    /// Returns the change to exactly this metadata.
    pub(crate) fn to(metadata: FlagMetadata) -> Self {
        Self {
            tags: Patch::Set(metadata.tags),
            owner: metadata.owner.map_or(Patch::Clear, Patch::Set),
            kind: metadata.kind.map_or(Patch::Clear, Patch::Set),
            expires_at: metadata.expires_at.map_or(Patch::Clear, Patch::Set),
        }
    }

    /// Returns the metadata after the change.
    pub(crate) fn applied_to(self, old: FlagMetadata) -> FlagMetadata {
        FlagMetadata {
            tags: self.tags.applied_to(Some(old.tags)).unwrap_or_default(),
            owner: self.owner.applied_to(old.owner),
            kind: self.kind.applied_to(old.kind),
            expires_at: self.expires_at.applied_to(old.expires_at),
        }
    }
}

/// The members of a flag that can change while it is active.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FlagDetails {
    pub(crate) name: FlagName,
    pub(crate) description: Option<Description>,
    pub(crate) products: Option<FlagProducts>,
    pub(crate) is_public: bool,
    pub(crate) metadata: FlagMetadata,
}

impl FlagDetails {
    /// Returns the current members of a flag.
    pub(super) fn of(flag: &Flag) -> Self {
        Self {
            name: flag.name.clone(),
            description: flag.description.clone(),
            products: flag.products.clone(),
            is_public: flag.is_public,
            metadata: flag.metadata.clone(),
        }
    }
}

/// Creates a flag, disabled in every active environment of its scope.
pub(crate) async fn create(admin: &Admin, actor: &AnyEditor, new: NewFlag) -> Result<Flag, Error> {
    let actor = &actor.of_flag(new.products.as_ref())?;
    scope::check(admin, None, new.products.as_ref())?;
    let flag = created(admin, actor, new);
    let mut tx = admin.db.write().await?;
    store::flags::insert(&mut tx, &flag).await?;
    let raised = store::configurations::insert_for_flag(&mut tx, flag.id).await?;
    entry(AuditAction::FlagCreated, None, &flag)?
        .record(admin, &mut tx, actor)
        .await?;
    let changes = EnvironmentChange::of_disabled_flag(flag.id, raised);
    changes::commit(admin, tx, actor, changes).await?;
    Ok(flag)
}

/// Returns one page of flags.
pub(crate) async fn list(
    admin: &Admin,
    _actor: &Actor,
    selection: &FlagFilter,
    page: PageRequest,
) -> Result<Page<Flag>, Error> {
    let mut tx = admin.db.read().await?;
    store::flags::list(&mut tx, selection, &StateFilter::default(), page).await
}

/// Returns the flag with a key, archived or not.
pub(crate) async fn by_key(
    admin: &Admin,
    _actor: &Actor,
    key: &str,
) -> Result<Option<Flag>, Error> {
    find_by_key(&mut admin.db.read().await?, key).await
}

/// Returns the flags with these IDs, in the same order; none for an ID that no flag has.
pub(crate) async fn with_ids(
    admin: &Admin,
    _actor: &Actor,
    ids: &[FlagId],
) -> Result<Vec<Option<Flag>>, Error> {
    let mut tx = admin.db.read().await?;
    let mut flags = Vec::new();
    for id in ids {
        flags.push(store::flags::find(&mut tx, *id).await?);
    }
    Ok(flags)
}

/// Returns one flag.
pub(crate) async fn get(admin: &Admin, _actor: &Actor, id: FlagId) -> Result<Flag, Error> {
    find(&mut admin.db.read().await?, id).await
}

impl Existence<AnyEditor> for FlagId {
    async fn check(&self, admin: &Admin, actor: &AnyEditor) -> Result<(), Error> {
        let flag = get(admin, actor, *self).await?;
        actor.of_flag(flag.products.as_ref()).map(drop)
    }
}

impl Existence for FlagId {
    async fn check(&self, admin: &Admin, actor: &Actor) -> Result<(), Error> {
        get(admin, actor, *self).await.map(drop)
    }
}

/// Changes the name, the description, the scope and the metadata of a flag.
pub(crate) async fn update(
    admin: &Admin,
    actor: &AnyEditor,
    id: FlagId,
    precondition: &Precondition,
    patch: FlagPatch,
) -> Result<Flag, Error> {
    let mut tx = admin.db.write().await?;
    let (old, actor) = find_active(&mut tx, actor, id, precondition).await?;
    let details = FlagDetails {
        name: renamed(&old.name, patch.name)?,
        description: patch.description.applied_to(old.description.clone()),
        products: patch.products.applied_to(old.products.clone()),
        is_public: patch.is_public.unwrap_or(old.is_public),
        metadata: patch.metadata.applied_to(old.metadata.clone()),
    };
    scope::check(admin, old.products.as_ref(), details.products.as_ref())?;
    if details == FlagDetails::of(&old) {
        return Ok(old);
    }
    let (new, changes) = rewrite(admin, &mut tx, &actor, &old, details, patch.when_enabled).await?;
    changes::commit(admin, tx, &actor, changes).await?;
    Ok(new)
}

/// Restores an archived flag, disabled in every active environment.
pub(crate) async fn restore(
    admin: &Admin,
    actor: &AnyEditor,
    id: FlagId,
    precondition: &Precondition,
) -> Result<Flag, Error> {
    let mut tx = admin.db.write().await?;
    let old = find(&mut tx, id).await?;
    let actor = actor.of_flag(old.products.as_ref())?;
    precondition.check(old.revision)?;
    if old.archived_at.is_none() {
        return Err(Conflict::FlagNotArchived.into());
    }
    let (new, changes) = unarchive(admin, &mut tx, &actor, &old).await?;
    changes::commit(admin, tx, &actor, changes).await?;
    Ok(new)
}

/// Archives a flag, which must be disabled in all active environments.
pub(crate) async fn archive(
    admin: &Admin,
    actor: &AnyEditor,
    id: FlagId,
    precondition: &Precondition,
) -> Result<(), Error> {
    let mut tx = admin.db.write().await?;
    let (flag, actor) = find_active(&mut tx, actor, id, precondition).await?;
    let now = admin.clock.now();
    let changes = archive_within(admin, &mut tx, &actor, &flag, now).await?;
    changes::commit(admin, tx, &actor, changes).await
}

/// Returns one flag, within a transaction.
pub(super) async fn find(tx: &mut Tx, id: FlagId) -> Result<Flag, Error> {
    store::flags::find(tx, id)
        .await?
        .ok_or(Error::NotFound(Entity::Flag))
}

/// Returns the flag with a key, within a transaction; none for a text that is not a key.
pub(super) async fn find_by_key(tx: &mut Tx, key: &str) -> Result<Option<Flag>, Error> {
    match FlagKey::try_from(key.to_owned()) {
        Ok(key) => Ok(store::flags::find_by_key(tx, &key).await?),
        Err(_) => Ok(None),
    }
}

/// Returns a flag that can be changed, and the actor as one who may change it, within a transaction.
async fn find_active(
    tx: &mut Tx,
    actor: &AnyEditor,
    id: FlagId,
    precondition: &Precondition,
) -> Result<(Flag, FlagEditor), Error> {
    let flag = find(tx, id).await?;
    let actor = actor.of_flag(flag.products.as_ref())?;
    precondition.check(flag.revision)?;
    check_active(&flag)?;
    Ok((flag, actor))
}

/// Fails if the flag is archived.
pub(super) fn check_active(flag: &Flag) -> Result<(), Error> {
    match flag.archived_at {
        None => Ok(()),
        Some(_) => Err(Conflict::FlagArchived.into()),
    }
}

/// Fails if the flag is enabled in an active environment.
pub(super) async fn check_disabled(tx: &mut Tx, id: FlagId) -> Result<(), Error> {
    let enabled_in = store::configurations::enabled_in(tx, id).await?;
    if enabled_in.is_empty() {
        Ok(())
    } else {
        Err(Conflict::FlagEnabled(enabled_in).into())
    }
}

/// Builds a new flag. The caller stores it.
pub(super) fn created(admin: &Admin, actor: &Actor, new: NewFlag) -> Flag {
    let now = admin.clock.now();
    Flag {
        id: FlagId::new(admin.entropy.id(now)),
        key: new.key,
        name: new.name.into_inner(),
        description: new.description,
        flag_type: new.flag_type,
        products: new.products,
        is_public: new.is_public,
        metadata: new.metadata,
        created_by: actor.identity(),
        created_at: now,
        archived_at: None,
        revision: 1,
    }
}

/// Returns the flag with other details.
pub(super) fn rewritten(old: &Flag, details: FlagDetails) -> Flag {
    Flag {
        name: details.name,
        description: details.description,
        products: details.products,
        is_public: details.is_public,
        metadata: details.metadata,
        revision: old.revision + 1,
        ..old.clone()
    }
}

/// Returns the flag with this time of archiving; active if `None`.
pub(super) fn archived(old: &Flag, archived_at: Option<Timestamp>) -> Flag {
    Flag {
        archived_at,
        revision: old.revision + 1,
        ..old.clone()
    }
}

/// Starts the audit entry of a changed flag.
pub(super) fn entry(
    action: AuditAction,
    old: Option<&Flag>,
    new: &Flag,
) -> Result<audit::Entry, Error> {
    audit::Entry::of(action).flag(new).from(old)?.to(new)
}

/// Stores other details of a flag, within a transaction. If its scope changes, the flag joins and leaves environments.
pub(super) async fn rewrite(
    admin: &Admin,
    tx: &mut Tx,
    actor: &FlagEditor,
    old: &Flag,
    details: FlagDetails,
    when_enabled: WhenEnabled,
) -> Result<(Flag, Vec<EnvironmentChange>), Error> {
    let actor = &actor.also_of(details.products.as_ref())?;
    let new = rewritten(old, details);
    store::flags::update(tx, old, &new).await?;
    entry(AuditAction::FlagUpdated, Some(old), &new)?
        .record(admin, tx, actor)
        .await?;
    let stays = new.products == old.products && new.is_public == old.is_public;
    let changes = if stays {
        Vec::new()
    } else {
        scope::apply(admin, tx, actor, &new, when_enabled).await?
    };
    Ok((new, changes))
}

/// Restores an archived flag, within a transaction.
pub(super) async fn unarchive(
    admin: &Admin,
    tx: &mut Tx,
    actor: &FlagEditor,
    old: &Flag,
) -> Result<(Flag, Vec<EnvironmentChange>), Error> {
    store::flags::restore(tx, old.id).await?;
    let raised = store::configurations::reset_for_flag(tx, old.id).await?;
    let new = archived(old, None);
    entry(AuditAction::FlagUpdated, Some(old), &new)?
        .record(admin, tx, actor)
        .await?;
    Ok((new, EnvironmentChange::of_disabled_flag(old.id, raised)))
}

/// Archives a flag, within a transaction. The flag must be disabled in all active environments.
pub(super) async fn archive_within(
    admin: &Admin,
    tx: &mut Tx,
    actor: &FlagEditor,
    old: &Flag,
    at: Timestamp,
) -> Result<Vec<EnvironmentChange>, Error> {
    check_disabled(tx, old.id).await?;
    store::flags::archive(tx, old.id, at).await?;
    let raised = store::configurations::touch_everywhere(tx, old.id).await?;
    let new = archived(old, Some(at));
    entry(AuditAction::FlagArchived, Some(old), &new)?
        .record(admin, tx, actor)
        .await?;
    Ok(EnvironmentChange::of_disabled_flag(old.id, raised))
}
