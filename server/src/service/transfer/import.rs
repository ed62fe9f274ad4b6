//! Bringing a document into an installation.
//!
//! Everything is planned and staged before the writers' turn, which then takes a few statements, whatever the document
//! holds. Others may write meanwhile: if the plan depends on what they changed, it is made anew.

use super::plan::{Carried, Plan};
use super::{Document, Service};
use crate::auth::actor::Administrator;
use crate::error::Error;
use crate::service::changes::{self, Change};
use crate::store::{Tx, batch};

/// How often an import is planned outside the writers' turn before it is planned within.
const ATTEMPTS: usize = 3;

/// Makes the flags of a document be as it says, all of them or none, and answers what changed. What the document does not
/// speak of stays as it is. A dry run only plans, and needs no turn.
pub(crate) async fn import(
    service: &Service,
    actor: &Administrator,
    document: &Document,
    dry_run: bool,
) -> Result<Vec<Carried>, Error> {
    for _ in 0..ATTEMPTS {
        let mut tx = service.db.read().await?;
        let plan = Plan::make(service, actor, document, &mut tx).await?;
        drop(tx);
        if dry_run || plan.carried.is_empty() {
            return Ok(plan.carried);
        }
        let mut tx = service.db.prepare().await?;
        stage(service, &plan, &mut tx).await?;
        tx.take_turn().await?;
        if plan.still_holds(&mut tx, document).await? {
            write(service, actor, tx).await?;
            return Ok(plan.carried);
        }
        tracing::info!("flags of the document changed meanwhile; planning again");
    }
    let mut tx = service.db.write().await?;
    let plan = Plan::make(service, actor, document, &mut tx).await?;
    if !plan.carried.is_empty() {
        stage(service, &plan, &mut tx).await?;
        write(service, actor, tx).await?;
    }
    Ok(plan.carried)
}

/// Writes all that can be written without a turn.
async fn stage(service: &Service, plan: &Plan, tx: &mut Tx) -> Result<(), Error> {
    plan.batch.stage(tx).await?;
    batch::write_ahead(tx, service.clock.now()).await
}

/// Writes the rest, and commits.
async fn write(service: &Service, actor: &Administrator, mut tx: Tx) -> Result<(), Error> {
    actor.confirm(service, &mut tx).await?;
    let raised = batch::write(&mut tx).await?;
    let change = |(environment, revision)| Change {
        environment,
        flag: None,
        revision,
    };
    changes::commit(service, tx, raised.into_iter().map(change).collect()).await
}
