//! Reverting changes.

use axum::extract::State;
use pennon_model::id::AuditId;
use pennon_model::plan::Plan;
use serde::Serialize;
use utoipa::ToSchema;

use super::dry_run::{DryRunOptions, ObjectChange};
use crate::admin::Admin;
use crate::admin::desired::{Applied, check_fingerprint};
use crate::admin::reversal::{self, RevertError};
use crate::admin::warnings::{self, Warning};
use crate::auth::actor::Actor;
use crate::auth::authority::AnyEditor;
use crate::error::Error;
use crate::http::body::NoBody;
use crate::http::existing::Existing;
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
    changes: Vec<ObjectChange>,
    /// Warnings about clients in use in the changed environments that cannot read the flags; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<Warning>,
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
    query: Query<DryRunOptions>,
    body: NoBody,
) -> Result<Json<Reverted>, Error> {
    let reading = async {
        body.read().await?;
        query.read()
    };
    let (entry, options) = target.with(&admin, &actor, reading).await?;
    let reverted = Reverted::of(&admin, &actor, entry, &options).await;
    Ok(Json(reverted?))
}

impl Reverted {
    async fn of(
        admin: &Admin,
        actor: &Actor,
        entry: AuditId,
        options: &DryRunOptions,
    ) -> Result<Self, RevertError> {
        let seen = options.fingerprint.as_deref();
        if options.dry_run {
            let plan = reversal::preview(admin, actor, entry).await?.plan?;
            check_fingerprint(&plan, seen)?;
            let fingerprint = Some(plan.fingerprint.clone());
            let planned = Self::new(plan, None);
            return Ok(Self {
                fingerprint,
                ..planned
            });
        }
        let Applied { plan, group } = reversal::revert(admin, actor, entry, seen).await?;
        Ok(Self::new(plan, group))
    }

    fn new(plan: Plan, group_id: Option<AuditId>) -> Self {
        Self {
            dry_run: group_id.is_none(),
            group_id,
            fingerprint: None,
            overwrites: plan.overwrites,
            warnings: warnings::of_plan(&plan),
            changes: plan.changes.into_iter().map(Into::into).collect(),
        }
    }
}
