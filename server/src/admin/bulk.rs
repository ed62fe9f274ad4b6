//! Changes of several flags at once: all of them change, or none.

use std::collections::HashMap;

use pennon_core::Invalid;
use pennon_model::bulk::{BulkAction, BulkChange};
use pennon_model::configuration::FlagConfiguration;
use pennon_model::flag::Flag;
use pennon_model::plan::Plan;

use super::desired::{
    Applied, BeforeAfter, DesiredState, add_outdated_clients, carry_out, check_fingerprint,
};
use super::targeting::{self, DesiredConfiguration};
use super::{Admin, environments, flags};
use crate::auth::authority::AnyEditor;
use crate::error::{Entity, Error, Fault, RefusedFlag};
use crate::store::{self, Tx};

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
    let mut configurations = HashMap::new();
    if let BulkAction::Switch {
        environment: id, ..
    } = change.action
    {
        let environment = environments::find(tx, id).await?;
        actor.of(&environment)?;
        environments::not_revoked(environment)?;
        configurations = targeting::find_all_with_targeting(tx, &change.flags, id).await?;
    }
    let mut flags: HashMap<_, _> = store::flags::find_all(tx, &change.flags)
        .await?
        .into_iter()
        .map(|flag| (flag.id, flag))
        .collect();
    let mut desired = DesiredState::default();
    let mut refusals = Vec::new();
    for (index, id) in change.flags.iter().enumerate() {
        let (key, added) = match flags.remove(id) {
            Some(flag) => {
                let key = flag.key.clone();
                let configured = configurations.remove(id);
                let action = &change.action;
                let added = add(&mut desired, admin, tx, actor, action, flag, configured).await;
                (Some(key), added)
            }
            None => (None, Err(Error::NotFound(Entity::Flag))),
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

/// Adds the desired state of one flag, if the actor may change it. `configured` is the flag in the environment of the
/// change, if it is configured there.
async fn add(
    desired: &mut DesiredState,
    admin: &Admin,
    tx: &mut Tx,
    actor: &AnyEditor,
    action: &BulkAction,
    flag: Flag,
    configured: Option<FlagConfiguration>,
) -> Result<(), Error> {
    match action {
        BulkAction::Switch { is_enabled, .. } => {
            let before = configured.ok_or(Error::NotFound(Entity::Configuration))?;
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
