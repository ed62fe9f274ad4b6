//! Changes of several flags at once: all of them change, or none.

use pennon_core::Invalid;
use pennon_model::bulk::{BulkAction, BulkChange};
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::flag::Flag;
use pennon_model::plan::Plan;

use super::desired::{
    Applied, BeforeAfter, DesiredState, add_outdated_clients, carry_out, check_fingerprint,
};
use super::targeting::{self, DesiredConfiguration};
use super::{Admin, environments, flags};
use crate::auth::authority::AnyEditor;
use crate::error::{Error, Fault, RefusedFlag};
use crate::store::Tx;

/// Plans a change of several flags. Flags that are already as desired do not change.
pub(crate) async fn preview(
    admin: &Admin,
    actor: &AnyEditor,
    change: &BulkChange,
) -> Result<Plan, Error> {
    let mut tx = admin.db.read().await?;
    let desired = desired(admin, &mut tx, actor, change).await?;
    drop(tx);
    let mut plan = desired.plan(admin)?;
    add_outdated_clients(admin, actor, &mut plan).await?;
    Ok(plan)
}

/// Changes several flags. Fails if the state has changed since a preview with this fingerprint.
pub(crate) async fn apply(
    admin: &Admin,
    actor: &AnyEditor,
    change: &BulkChange,
    fingerprint: Option<&str>,
) -> Result<Applied, Error> {
    let mut tx = admin.db.write().await?;
    let desired = desired(admin, &mut tx, actor, change).await?;
    let plan = desired.plan(admin)?;
    check_fingerprint(&plan, fingerprint)?;
    if plan.changes.is_empty() {
        return Ok(Applied { plan, group: None });
    }
    carry_out(admin, tx, actor, desired, plan).await
}

/// Returns the desired state of the flags. Fails with all flags that cannot change, and the reason for each.
async fn desired(
    admin: &Admin,
    tx: &mut Tx,
    actor: &AnyEditor,
    change: &BulkChange,
) -> Result<DesiredState, Error> {
    if let BulkAction::Switch { environment, .. } = change.action {
        let environment = environments::find(tx, environment).await?;
        actor.of(&environment)?;
        environments::not_revoked(environment)?;
    }
    let mut desired = DesiredState::default();
    let mut refusals = Vec::new();
    for (index, id) in change.flags.iter().enumerate() {
        let (key, added) = match flags::find(tx, *id).await {
            Ok(flag) => {
                let key = flag.key.clone();
                let added = add(&mut desired, admin, tx, actor, &change.action, flag).await;
                (Some(key), added)
            }
            Err(error) => (None, Err(error)),
        };
        if let Err(error) = added {
            let detail = detail(&error);
            refusals.push((error, RefusedFlag { index, key, detail }));
        }
    }
    match refused(refusals) {
        Some(refusal) => Err(refusal),
        None => Ok(desired),
    }
}

/// Adds the desired state of one flag, if the actor may change it.
async fn add(
    desired: &mut DesiredState,
    admin: &Admin,
    tx: &mut Tx,
    actor: &AnyEditor,
    action: &BulkAction,
    flag: Flag,
) -> Result<(), Error> {
    match action {
        BulkAction::Switch {
            environment,
            is_enabled,
        } => {
            let id = FlagEnvironmentId {
                flag: flag.id,
                environment: *environment,
            };
            let before = targeting::find_with_targeting(tx, id).await?;
            flags::check_active(&flag)?;
            let mut after = DesiredConfiguration::of(&before);
            after.switch.is_enabled = *is_enabled;
            desired.configurations.push(BeforeAfter { before, after });
        }
        BulkAction::Tag { add, remove } => {
            actor.of_flag(flag.products.as_ref())?;
            flags::check_active(&flag)?;
            let mut after = flag.clone();
            after.metadata.tags = flag.metadata.tags.changed(add, remove).map_err(too_many)?;
            desired.flags.push(BeforeAfter {
                before: flag,
                after,
            });
        }
        BulkAction::Archive => {
            actor.of_flag(flag.products.as_ref())?;
            flags::check_active(&flag)?;
            flags::check_disabled(tx, flag.id).await?;
            let after = Flag {
                archived_at: Some(admin.clock.now()),
                ..flag.clone()
            };
            desired.flags.push(BeforeAfter {
                before: flag,
                after,
            });
        }
    }
    Ok(())
}

/// Converts the error of tags that would be too many.
fn too_many(invalid: Invalid) -> Error {
    Fault::pointer("/addTags", invalid.detail()).into()
}

/// Describes the error of one flag.
fn detail(error: &Error) -> String {
    match error {
        Error::Invalid(faults) => faults.iter().map(|fault| fault.detail.as_str()).collect(),
        error => error.to_string(),
    }
}

/// Returns the error of the whole change. A failure, such as an unavailable database, takes precedence over the flags
/// that cannot change; a missing flag over one that the actor may not change, and that over a conflict.
fn refused(refusals: Vec<(Error, RefusedFlag)>) -> Option<Error> {
    let rank = |error: &Error| match error {
        Error::Conflict(_) | Error::Invalid(_) => 3,
        Error::Forbidden(_) | Error::ForbiddenFor(..) => 2,
        Error::NotFound(_) => 1,
        _ => 0,
    };
    let (errors, flags): (Vec<_>, Vec<_>) = refusals.into_iter().unzip();
    let cause = errors.into_iter().min_by_key(rank)?;
    Some(match rank(&cause) {
        0 => cause,
        _ => Error::OfFlags {
            cause: Box::new(cause),
            flags,
        },
    })
}
