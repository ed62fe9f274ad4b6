//! Checks of the grants of users and tokens.

use pennon_model::grant::{Grant, GrantScope, Grants, Resource};
use pennon_model::id::EnvironmentId;

use super::environments;
use crate::auth::actor::Actor;
use crate::error::{Entity, Error, Fault, no_faults};
use crate::store::Tx;

/// Checks that the environments of new grants exist and are not revoked. Those that were granted before may be revoked.
pub(super) async fn check(tx: &mut Tx, old: &Grants, new: &Grants) -> Result<(), Error> {
    let mut faults = Vec::new();
    for (index, grant) in new.iter().enumerate() {
        let GrantScope::Environment(id) = grant.scope else {
            continue;
        };
        if old.iter().any(|old| old.scope == grant.scope) {
            continue;
        }
        if let Some(detail) = refused(tx, id).await? {
            faults.push(Fault::pointer(
                format!("/grants/{index}/environmentId"),
                detail,
            ));
        }
    }
    no_faults(faults)
}

/// Returns the reason that an environment cannot be granted; none if it can.
async fn refused(tx: &mut Tx, id: EnvironmentId) -> Result<Option<&'static str>, Error> {
    match environments::find(tx, id).await {
        Ok(environment) => {
            let is_refused = environments::not_revoked(environment).is_err();
            Ok(is_refused.then_some("is the ID of a revoked environment"))
        }
        Err(Error::NotFound(Entity::Environment)) => Ok(Some("is not the ID of an environment")),
        Err(error) => Err(error),
    }
}

/// Checks that the grants of a token do not exceed the rights of its owner.
pub(super) async fn check_limit(tx: &mut Tx, owner: &Actor, grants: &Grants) -> Result<(), Error> {
    for Grant { scope, role } in grants.iter() {
        let resource = match scope {
            GrantScope::Product(product) => Resource::Product(product.clone()),
            GrantScope::Environment(id) => Resource::of(&environments::find(tx, *id).await?),
        };
        if owner.role_for(&resource) < *role {
            return Err(Error::ForbiddenFor(*role, resource));
        }
    }
    Ok(())
}
