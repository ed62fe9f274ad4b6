//! Actions that change several objects, and their dry runs.

use pennon_model::audit::AuditAction;
use pennon_model::environment::{EnvironmentName, ProductName};
use pennon_model::flag::FlagKey;
use pennon_model::id::AuditId;
use pennon_model::plan::{Plan, PlannedChange};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::admin::desired::Applied;
use crate::admin::warnings::{self, Warning};
use crate::http::fields::from_fields;

/// The options of an action that has a dry run.
pub(super) struct DryRunOptions {
    pub(super) dry_run: bool,
    /// The fingerprint of the state that a dry run was about.
    pub(super) fingerprint: Option<String>,
}

from_fields! {
    DryRunOptions {
        /// If true, the changes are returned and nothing is changed; `false` if absent.
        dry_run: or_default("dryRun"),
        /// The `fingerprint` of a dry run. If something that determines its changes has changed since, the request is
        /// refused.
        fingerprint: optional("fingerprint"),
    }
}

/// The result of an action that changes several objects, or of its dry run.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangedObjects {
    /// True if nothing was changed.
    dry_run: bool,
    /// The `groupId` of the audit entries, by which you can revert the changes; `null` if nothing was changed.
    #[schema(required)]
    group_id: Option<AuditId>,
    /// The state that a dry run is about, for the parameter `fingerprint`; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    fingerprint: Option<String>,
    /// The changes. Objects that were already as requested have none, nor do environments that a flag joins or leaves
    /// because its products change.
    changes: Vec<ObjectChange>,
    /// Warnings about clients in use in the changed environments that cannot read the flags; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<Warning>,
}

impl ChangedObjects {
    /// Returns the result of a dry run.
    pub(super) fn planned(plan: Plan) -> Self {
        let fingerprint = Some(plan.fingerprint.clone());
        Self {
            dry_run: true,
            fingerprint,
            ..Self::applied(Applied { plan, group: None })
        }
    }

    pub(super) fn applied(Applied { plan, group }: Applied) -> Self {
        Self {
            dry_run: false,
            group_id: group,
            fingerprint: None,
            warnings: warnings::of_plan(&plan),
            changes: plan.changes.into_iter().map(Into::into).collect(),
        }
    }
}

/// A change of one object that was made, or that a dry run proposes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectChange {
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
    /// The object before the change.
    #[schema(required, value_type = Option<Map<String, Value>>, additional_properties)]
    old_value: Option<Value>,
    /// The object after the change.
    #[schema(required, value_type = Option<Map<String, Value>>, additional_properties)]
    new_value: Option<Value>,
}

impl From<PlannedChange> for ObjectChange {
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
