//! Reverting changes.

use axum::extract::State;
use pennon_model::id::AuditId;
use serde::Serialize;
use utoipa::ToSchema;

use super::dry_run::{ChangedObjects, DryRunOptions};
use crate::admin::Admin;
use crate::admin::desired::check_fingerprint;
use crate::admin::reversal::{self, RevertError};
use crate::auth::actor::Actor;
use crate::auth::authority::AnyEditor;
use crate::error::Error;
use crate::http::body::NoBody;
use crate::http::existing::Existing;
use crate::http::query::Query;
use crate::http::respond::Json;

/// The result of a revert or of its dry run.
#[derive(Serialize, ToSchema)]
pub(super) struct Reverted {
    #[serde(flatten)]
    changed: ChangedObjects,
    /// True if the revert overwrites a change that was made after the action.
    overwrites: bool,
}

/// Reverts the action that wrote an audit entry.
///
/// All entries with the same `groupId` are reverted in one transaction, which restores what they changed and nothing
/// else. A revert is recorded like any other change. With `dryRun`, nothing is changed.
///
/// Requires the role `admin` if an environment or the roles of an account were changed.
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
        let expected = options.fingerprint.as_deref();
        if options.dry_run {
            let plan = reversal::preview(admin, actor, entry).await?.plan?;
            check_fingerprint(&plan, expected)?;
            return Ok(Self {
                overwrites: plan.overwrites,
                changed: ChangedObjects::planned(plan),
            });
        }
        let applied = reversal::revert(admin, actor, entry, expected).await?;
        Ok(Self {
            overwrites: applied.plan.overwrites,
            changed: ChangedObjects::applied(applied),
        })
    }
}
