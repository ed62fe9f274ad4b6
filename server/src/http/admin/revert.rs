//! Reverting changes.

use axum::extract::State;
use pennon_model::audit::AuditAction;
use pennon_model::environment::{EnvironmentName, ProductName};
use pennon_model::flag::FlagKey;
use pennon_model::id::AuditId;
use pennon_model::reversal::{Plan, PlannedChange, PlannedEffect};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::admin::Admin;
use crate::admin::reversal::{self, RevertError};
use crate::admin::warnings::{self, Warning};
use crate::auth::actor::Actor;
use crate::auth::authority::AnyEditor;
use crate::error::Error;
use crate::http::body::NoBody;
use crate::http::existing::Existing;
use crate::http::fields::from_fields;
use crate::http::query::Query;
use crate::http::respond::Json;

/// The result of a revert or of its dry run.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reverted {
    /// True if nothing was changed.
    dry_run: bool,
    /// The `groupId` of the audit entries of the revert, by which you can revert it in turn; `null` for a dry run.
    #[schema(required)]
    group_id: Option<AuditId>,
    /// The state that a dry run is about, for the parameter `fingerprint`; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    fingerprint: Option<String>,
    /// True if the revert overwrites a change that was made after the action.
    overwrites: bool,
    /// The changes, without those in environments that a flag joins or leaves because its products change.
    changes: Vec<RevertedChange>,
    /// Warnings about clients in use in the changed environments that cannot read the flags; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<Warning>,
}

/// A change of a revert.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RevertedChange {
    /// The action, as in the audit log.
    action: AuditAction,
    /// The key of the flag.
    #[schema(required)]
    flag_key: Option<FlagKey>,
    /// The name of the environment.
    #[schema(required)]
    environment: Option<EnvironmentName>,
    /// The product of that environment.
    #[schema(required)]
    product: Option<ProductName>,
    /// The object before the revert.
    #[schema(required, value_type = Option<Object>)]
    old_value: Option<Value>,
    /// The object after the revert.
    #[schema(required, value_type = Option<Object>)]
    new_value: Option<Value>,
}

impl From<PlannedChange> for RevertedChange {
    fn from(planned: PlannedChange) -> Self {
        let environment = planned.environment;
        let environment = environment.map(|environment| (environment.name, environment.product));
        let (environment, product) = environment.unzip();
        Self {
            action: planned.action,
            flag_key: planned.flag,
            environment,
            product,
            old_value: planned.old_value,
            new_value: planned.new_value,
        }
    }
}

/// Reverts the action that wrote an audit entry.
///
/// All entries with the same `groupId` are reverted in one transaction, which restores what they changed and nothing
/// else. A revert is recorded like any other change. With `dryRun`, nothing is changed.
///
/// Requires the role `admin` if an environment was renamed.
#[utoipa::path(post, path = "/audit/{entry}/revert")]
pub(super) async fn revert(
    State(admin): State<Admin>,
    actor: AnyEditor,
    target: Existing<AuditId>,
    query: Query<RevertOptions>,
    body: NoBody,
) -> Result<Json<Reverted>, Error> {
    let reading = async {
        body.read().await?;
        query.read()
    };
    let (entry, options) = target.with(&admin, &actor, reading).await?;
    let reverted = options.revert(&admin, &actor, entry).await;
    Ok(Json(reverted?))
}

impl RevertOptions {
    async fn revert(
        self,
        admin: &Admin,
        actor: &Actor,
        entry: AuditId,
    ) -> Result<Reverted, RevertError> {
        let seen = self.fingerprint.as_deref();
        if self.dry_run {
            let plan = reversal::preview(admin, actor, entry).await?.plan?;
            reversal::check(&plan, seen)?;
            let fingerprint = Some(plan.fingerprint.clone());
            let planned = Reverted::new(plan, None);
            return Ok(Reverted {
                fingerprint,
                ..planned
            });
        }
        let reversal::Reverted { plan, group } =
            reversal::revert(admin, actor, entry, seen).await?;
        Ok(Reverted::new(plan, group))
    }
}

impl Reverted {
    fn new(plan: Plan, group_id: Option<AuditId>) -> Self {
        let unreadable =
            |effect: &PlannedEffect| warnings::about([&effect.after], &effect.outdated_clients);
        Self {
            dry_run: group_id.is_none(),
            group_id,
            fingerprint: None,
            overwrites: plan.overwrites,
            warnings: plan.effects.iter().flat_map(unreadable).collect(),
            changes: plan.changes.into_iter().map(Into::into).collect(),
        }
    }
}

/// The options of a revert.
pub(super) struct RevertOptions {
    dry_run: bool,
    fingerprint: Option<String>,
}

from_fields! {
    RevertOptions {
        /// If true, the changes are returned and nothing is changed; `false` if absent.
        dry_run: or_default("dryRun"),
        /// The `fingerprint` of a dry run. If something that determines its changes has changed since, the revert is
        /// refused.
        fingerprint: optional("fingerprint"),
    }
}
