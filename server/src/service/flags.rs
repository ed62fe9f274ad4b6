//! Flags: creating, listing and archiving them.

use pennon_core::model::audit::AuditAction;
use pennon_core::model::environment::Environment;
use pennon_core::model::flag::{Flag, FlagKey, FlagName, FlagType};
use pennon_core::model::id::FlagId;
use pennon_core::model::page::{Page, PageRequest};
use pennon_core::model::text::Description;

use super::audit::Subject;
use super::changes::Change;
use super::{Service, audit, changes};
use crate::auth::actor::{Actor, Editor};
use crate::error::{Conflict, Entity, Error};
use crate::store::configurations::CellRow;
use crate::store::flags::FlagFilter;
use crate::store::{self, Tx};

/// A flag to create.
pub(crate) struct NewFlag {
    pub(crate) key: FlagKey,
    pub(crate) name: FlagName,
    pub(crate) description: Option<Description>,
    pub(crate) kind: FlagType,
}

/// Flags against environments.
pub(crate) struct FlagTable {
    pub(crate) environments: Vec<Environment>,
    pub(crate) flags: Page<Flag>,
    pub(crate) cells: Vec<CellRow>,
}

/// Creates a flag, disabled in every active environment.
pub(crate) async fn create(service: &Service, actor: &Editor, new: NewFlag) -> Result<Flag, Error> {
    let now = service.clock.now();
    let flag = Flag {
        id: FlagId::new(service.entropy.id(now)),
        key: new.key,
        name: new.name,
        description: new.description,
        kind: new.kind,
        created_by: actor.identity().to_owned(),
        created_at: now,
        archived_at: None,
        revision: 1,
    };
    let mut tx = service.db.write().await?;
    store::flags::insert(&mut tx, &flag).await?;
    let raised = store::configurations::insert_for_flag(&mut tx, flag.id).await?;
    let subject = Subject {
        flag: Some(&flag),
        ..Subject::default()
    };
    let values = (None::<&Flag>, Some(&flag));
    audit::record(
        service,
        &mut tx,
        actor,
        AuditAction::FlagCreated,
        subject,
        values,
    )
    .await?;
    changes::commit(service, tx, Change::of_flag(flag.id, raised)).await?;
    Ok(flag)
}

/// One page of flags, newest first.
pub(crate) async fn list(
    service: &Service,
    _actor: &Actor,
    filter: &FlagFilter,
    page: PageRequest,
) -> Result<Page<Flag>, Error> {
    store::flags::list(&mut service.db.read().await?, filter, page).await
}

/// One page of flags, with how each stands in every active environment.
pub(crate) async fn table(
    service: &Service,
    _actor: &Actor,
    filter: &FlagFilter,
    page: PageRequest,
) -> Result<FlagTable, Error> {
    let mut tx = service.db.read().await?;
    Ok(FlagTable {
        environments: store::environments::active(&mut tx).await?,
        flags: store::flags::list(&mut tx, filter, page).await?,
        cells: store::configurations::cells(&mut tx, filter, page).await?,
    })
}

/// One flag.
pub(crate) async fn get(service: &Service, _actor: &Actor, id: FlagId) -> Result<Flag, Error> {
    find(&mut service.db.read().await?, id).await
}

/// Archives a flag that no active environment has enabled.
pub(crate) async fn archive(service: &Service, actor: &Editor, id: FlagId) -> Result<(), Error> {
    let mut tx = service.db.write().await?;
    let flag = find(&mut tx, id).await?;
    if flag.archived_at.is_some() {
        return Err(Conflict::FlagArchived.into());
    }
    let enabled_in = store::configurations::enabled_in(&mut tx, id).await?;
    if !enabled_in.is_empty() {
        return Err(Conflict::FlagEnabled(enabled_in).into());
    }
    let now = service.clock.now();
    store::flags::archive(&mut tx, id, now).await?;
    let raised = store::configurations::touch_everywhere(&mut tx, id).await?;
    let archived = Flag {
        archived_at: Some(now),
        revision: flag.revision + 1,
        ..flag.clone()
    };
    let subject = Subject {
        flag: Some(&flag),
        ..Subject::default()
    };
    let values = (Some(&flag), Some(&archived));
    audit::record(
        service,
        &mut tx,
        actor,
        AuditAction::FlagArchived,
        subject,
        values,
    )
    .await?;
    changes::commit(service, tx, Change::of_flag(id, raised)).await
}

/// One flag, within a transaction.
pub(super) async fn find(tx: &mut Tx, id: FlagId) -> Result<Flag, Error> {
    store::flags::find(tx, id)
        .await?
        .ok_or(Error::NotFound(Entity::Flag))
}
