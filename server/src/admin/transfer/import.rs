//! Import of a document into an installation.
//!
//! An import plans and stages all changes without the write lock, and then holds the lock for only a few statements,
//! however large the document is. Other writers may commit in the meantime. If the plan depends on their changes, the
//! import is planned again.

use pennon_model::environment::EnvironmentPath;

use super::plan::{ImportPlan, ImportedChange};
use super::{Admin, Document};
use crate::admin::changes::{self, EnvironmentChange};
use crate::auth::authority::Administrator;
use crate::error::Error;
use crate::store::{Tx, batch};

/// The number of times that an import is planned without the write lock before it takes the lock to plan.
const ATTEMPTS: usize = 3;

/// The outcome of an import or a dry run.
pub(crate) struct Imported {
    /// The changes.
    pub(crate) changes: Vec<ImportedChange>,
    /// The environments whose changes require a reason that a dry run lacks.
    pub(crate) unexplained: Vec<EnvironmentPath>,
}

/// Applies a document to its flags, to all of them or none, and returns the changes. Everything that is not in the
/// document stays the same. A dry run only plans, and takes no write lock.
pub(crate) async fn import(
    admin: &Admin,
    actor: &Administrator,
    document: &Document,
    dry_run: bool,
) -> Result<Imported, Error> {
    for _ in 0..ATTEMPTS {
        let mut tx = admin.db.read().await?;
        let plan = ImportPlan::make(admin, actor, document, &mut tx).await?;
        drop(tx);
        if dry_run {
            return dry_run_of(actor, plan);
        }
        if plan.changes.is_empty() {
            return Ok(plan.changes.into());
        }
        let mut tx = admin.db.prepare().await?;
        stage(admin, actor, &plan, &mut tx).await?;
        tx.take_turn().await?;
        if plan.still_holds(&mut tx, document).await? {
            let changes = write(admin, actor, &mut tx).await?;
            changes::commit(admin, tx, actor, changes).await?;
            return Ok(plan.changes.into());
        }
        tracing::info!("flags of the document were changed by others; planning again");
    }
    let mut tx = admin.db.write().await?;
    let (imported, changes) = import_within(admin, actor, document, &mut tx).await?;
    if !imported.is_empty() {
        changes::commit(admin, tx, actor, changes).await?;
    }
    Ok(imported.into())
}

fn dry_run_of(actor: &Administrator, plan: ImportPlan) -> Result<Imported, Error> {
    let unexplained = match actor.check_safeguards(&plan.safeguards()) {
        Ok(()) => Vec::new(),
        Err(Error::ReasonRequired(environments)) => environments,
        Err(error) => return Err(error),
    };
    Ok(Imported {
        changes: plan.changes,
        unexplained,
    })
}

impl From<Vec<ImportedChange>> for Imported {
    fn from(changes: Vec<ImportedChange>) -> Self {
        Self {
            changes,
            unexplained: Vec::new(),
        }
    }
}

/// Imports a document within a transaction that holds the write lock.
pub(crate) async fn import_within(
    admin: &Admin,
    actor: &Administrator,
    document: &Document,
    tx: &mut Tx,
) -> Result<(Vec<ImportedChange>, Vec<EnvironmentChange>), Error> {
    tx.permit_planning().await?;
    let plan = ImportPlan::make(admin, actor, document, tx).await?;
    if plan.changes.is_empty() {
        return Ok((plan.changes, Vec::new()));
    }
    stage(admin, actor, &plan, tx).await?;
    let changes = write(admin, actor, tx).await?;
    Ok((plan.changes, changes))
}

/// Writes everything that needs no write lock.
async fn stage(
    admin: &Admin,
    actor: &Administrator,
    plan: &ImportPlan,
    tx: &mut Tx,
) -> Result<(), Error> {
    plan.batch.stage(tx).await?;
    batch::write_ahead(tx, admin.clock.now(), actor.reason()).await
}

/// Writes the rest, and returns the changes to publish after the commit.
async fn write(
    admin: &Admin,
    actor: &Administrator,
    tx: &mut Tx,
) -> Result<Vec<EnvironmentChange>, Error> {
    actor.confirm(tx, admin.clock.now()).await?;
    let raised = batch::write(tx).await?;
    let changes = raised.into_iter().map(EnvironmentChange::of_environment);
    Ok(changes.collect())
}
