//! Actions that change several objects, and their dry runs.

use pennon_model::audit::AuditAction;
use pennon_model::environment::{EnvironmentName, ProductName};
use pennon_model::flag::FlagKey;
use pennon_model::plan::PlannedChange;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

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
    #[schema(required, value_type = Option<Object>)]
    old_value: Option<Value>,
    /// The object after the change.
    #[schema(required, value_type = Option<Object>)]
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
