//! The scope of a flag: the environments in which it is configured. They belong to its products, and are public only if
//! the flag is.

use std::collections::BTreeMap;

use pennon_model::audit::AuditAction;
use pennon_model::configuration::FlagEnvironment;
use pennon_model::environment::ProductName;
use pennon_model::flag::{Flag, FlagProducts};
use pennon_model::id::EnvironmentId;
use pennon_model::text::NewName;
use serde::Serialize;
use utoipa::ToSchema;

use super::changes::EnvironmentChange;
use super::environments::refused_product;
use super::{Admin, audit};
use crate::auth::actor::Actor;
use crate::auth::authority::FlagEditor;
use crate::error::{Conflict, Error, Fault, no_faults};
use crate::store::environments::Raised;
use crate::store::{self, Tx};

/// The treatment of environments that a flag leaves while it is enabled there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WhenEnabled {
    /// Refuse the change.
    #[default]
    Refuse,
    /// Disable the flag there.
    Disable,
}

/// A product of a flag that has no active environment.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct UnknownProduct {
    /// A sentence that names the product.
    #[schema(
        example = "No active environment belongs to the product `Blog`, so the flag is not configured there yet."
    )]
    pub(crate) detail: String,
    /// The product.
    pub(crate) product: ProductName,
}

/// Checks the new products of a flag. Those that it already has may be older than the rules for new ones.
pub(super) fn check(
    admin: &Admin,
    old: Option<&FlagProducts>,
    new: Option<&FlagProducts>,
) -> Result<(), Error> {
    let is_new = |product: &&ProductName| !old.is_some_and(|old| old.contains(product));
    let added = new.into_iter().flat_map(FlagProducts::iter).filter(is_new);
    let refusal = |product: &ProductName| match NewName::new(product.clone()) {
        Err(invalid) => Some(invalid.detail().to_owned()),
        Ok(_) => refused_product(admin, product),
    };
    let fault = |product| {
        let detail = format!("`{product}` {}", refusal(product)?);
        Some(Fault::pointer("/products", detail))
    };
    no_faults(added.filter_map(fault).collect())
}

/// Returns the products of a saved flag that have no active environment. If the database fails, none are returned,
/// because the flag is already saved.
pub(crate) async fn unknown_products(
    admin: &Admin,
    _actor: &Actor,
    flag: &Flag,
) -> Vec<UnknownProduct> {
    let Some(products) = &flag.products else {
        return Vec::new();
    };
    let known = async { store::environments::products(&mut admin.db.read().await?).await };
    let known = match known.await {
        Ok(known) => known,
        Err(error) => {
            tracing::warn!(%error, "cannot find out which products have environments");
            return Vec::new();
        }
    };
    let unknown = products.iter().filter(|product| !known.contains(product));
    let warning = |product: &ProductName| UnknownProduct {
        detail: format!(
            "No active environment belongs to the product `{product}`, so the flag is not configured there yet."
        ),
        product: product.clone(),
    };
    unknown.map(warning).collect()
}

/// Configures a flag, whose scope has just been stored, in its environments and nowhere else, and records each
/// environment that it joins or leaves.
pub(super) async fn apply(
    admin: &Admin,
    tx: &mut Tx,
    actor: &FlagEditor,
    flag: &Flag,
    when_enabled: WhenEnabled,
) -> Result<Vec<EnvironmentChange>, Error> {
    let before = by_environment(store::configurations::of_flag(tx, flag.id).await?);
    let left = before
        .values()
        .filter(|target| !flag.exists_in(&target.environment));
    let enabled_in = left.filter(|target| target.configuration.is_enabled);
    let enabled_in: Vec<_> = enabled_in.map(|target| target.environment.path()).collect();
    if when_enabled == WhenEnabled::Refuse && !enabled_in.is_empty() {
        return Err(Conflict::FlagEnabledElsewhere(enabled_in).into());
    }
    let raised = store::configurations::rescope(tx, flag.id).await?;
    let after = by_environment(store::configurations::of_flag(tx, flag.id).await?);
    for Raised { environment, .. } in &raised {
        let entry = match (before.get(environment), after.get(environment)) {
            (None, Some(joined)) => joining(joined)?,
            (Some(left), None) => leaving(left)?,
            _ => continue,
        };
        entry.record(admin, tx, actor).await?;
    }
    Ok(EnvironmentChange::of_flag(flag.id, raised))
}

/// Starts the audit entry of a flag that joins an environment.
pub(super) fn joining(target: &FlagEnvironment) -> Result<audit::Entry, Error> {
    entry(target).to(&target.configuration)
}

/// Starts the audit entry of a flag that leaves an environment.
pub(super) fn leaving(target: &FlagEnvironment) -> Result<audit::Entry, Error> {
    entry(target).from(Some(&target.configuration))
}

fn entry(target: &FlagEnvironment) -> audit::Entry {
    audit::Entry::of(AuditAction::FlagEnvironmentUpdated)
        .flag(&target.flag)
        .environment(&target.environment)
}

fn by_environment(targets: Vec<FlagEnvironment>) -> BTreeMap<EnvironmentId, FlagEnvironment> {
    let by_id = |target: FlagEnvironment| (target.environment.id, target);
    targets.into_iter().map(by_id).collect()
}
