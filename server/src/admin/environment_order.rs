//! The order of the environments of a product, in which the dashboard lists them.

use std::collections::HashSet;

use pennon_model::audit::AuditAction;
use pennon_model::environment::{self, Environment, ProductName};
use pennon_model::id::EnvironmentId;
use serde::Serialize;

use super::environments::at_now;
use super::{Admin, audit, changes};
use crate::auth::authority::{AnyAdministrator, EnvironmentAdministrator};
use crate::error::{Error, Fault};
use crate::store::{self, Tx};

/// All active environments of a product, in their new order.
pub(crate) struct EnvironmentOrder {
    pub(crate) product: ProductName,
    pub(crate) environments: Vec<EnvironmentId>,
}

/// A moved environment in the audit log.
#[derive(Serialize)]
pub(super) struct Positioned<'e> {
    #[serde(flatten)]
    environment: &'e Environment,
    position: Option<i64>,
}

/// Puts the environments of a product into another order, and returns them. A new environment comes last.
pub(crate) async fn set(
    admin: &Admin,
    actor: &AnyAdministrator,
    order: &EnvironmentOrder,
) -> Result<Vec<Environment>, Error> {
    let actor = actor.of_product(&order.product)?;
    let mut tx = admin.db.write().await?;
    let current = of_product(&mut tx, &order.product).await?;
    let ordered = arranged(&current, &order.environments)?;
    if ordered == current {
        return Ok(at_now(admin, current));
    }
    let mut environments = Vec::new();
    for (position, old) in (1..).zip(ordered) {
        environments.push(move_to(admin, &mut tx, &actor, old, Some(position)).await?);
    }
    changes::commit(admin, tx, &actor, Vec::new()).await?;
    Ok(at_now(admin, environments))
}

/// Moves an environment to a position, within a transaction, unless it is there.
pub(super) async fn move_to(
    admin: &Admin,
    tx: &mut Tx,
    actor: &EnvironmentAdministrator,
    old: Environment,
    position: Option<i64>,
) -> Result<Environment, Error> {
    let new = Environment {
        position,
        ..old.clone()
    };
    if new != old {
        store::environments::set_position(tx, old.id, position).await?;
        audit::Entry::of(AuditAction::EnvironmentUpdated)
            .environment(&new)
            .from(Some(&Positioned::of(&old)))?
            .to(&Positioned::of(&new))?
            .record(admin, tx, actor)
            .await?;
    }
    Ok(new)
}

/// Returns true if two of these active environments would have the same place in a product, once some have moved.
pub(super) async fn is_ambiguous(tx: &mut Tx, moved: &[&Environment]) -> Result<bool, Error> {
    let mut environments = store::environments::active(tx).await?;
    for environment in &mut environments {
        let new = moved.iter().find(|moved| moved.id == environment.id);
        environment.position = new.map_or(environment.position, |new| new.position);
    }
    let mut taken = HashSet::new();
    let affected = environments.iter().filter(|environment| {
        moved
            .iter()
            .any(|moved| moved.product == environment.product)
    });
    let mut places = affected.filter_map(|each| Some((&each.product, each.position?)));
    Ok(!places.all(|place| taken.insert(place)))
}

/// Returns the active environments of a product, in their order.
async fn of_product(tx: &mut Tx, product: &ProductName) -> Result<Vec<Environment>, Error> {
    let mut environments = store::environments::active(tx).await?;
    environments.retain(|environment| environment.product == *product);
    environment::sort(&mut environments);
    Ok(environments)
}

/// Returns the environments in this order. Fails unless it contains each exactly once.
fn arranged(current: &[Environment], order: &[EnvironmentId]) -> Result<Vec<Environment>, Error> {
    let mut left = current.to_vec();
    let mut arranged = Vec::new();
    for id in order {
        let index = left.iter().position(|environment| environment.id == *id);
        arranged.extend(index.map(|index| left.swap_remove(index)));
    }
    if left.is_empty() && arranged.len() == order.len() {
        return Ok(arranged);
    }
    let detail = "must contain every active environment of the product exactly once, and no other";
    Err(Fault::pointer("/environmentIds", detail).into())
}

impl<'e> Positioned<'e> {
    pub(super) fn of(environment: &'e Environment) -> Self {
        Self {
            environment,
            position: environment.position,
        }
    }
}
