//! The dashboard's access to the audit log.

use async_trait::async_trait;
use pennon_dashboard::describe::sentence;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::audit::{
    AuditAdmin, JointReversal, RecentActions, Record, Reversal, SelectedAction,
};
use pennon_model::audit::{AuditFilter, AuditRecord};
use pennon_model::environment::{EnvironmentName, ProductName};
use pennon_model::flag::FlagProducts;
use pennon_model::grant::Resource;
use pennon_model::id::AuditId;
use pennon_model::page::{Page, PageRequest};
use pennon_model::time::Timestamp;
use serde::Deserialize as _;

use super::SignedIn;
use crate::admin::reversal::{RevertError, several};
use crate::admin::{audit, reversal};

#[async_trait]
impl AuditAdmin for SignedIn {
    async fn changes(
        &self,
        filter: &AuditFilter,
        page: PageRequest,
    ) -> Result<Page<Record>, AdminError> {
        let page = audit::list(&self.admin, &self.actor, filter, page).await?;
        Ok(page.map(|recorded| self.record(recorded)))
    }

    async fn own_last_action(&self, since: Timestamp) -> Result<Vec<Record>, AdminError> {
        let records = audit::own_last_action(&self.admin, &self.actor, since).await?;
        Ok(records.into_iter().map(|each| self.record(each)).collect())
    }

    async fn reversal(&self, id: AuditId) -> Result<Reversal, AdminError> {
        let found = reversal::preview(&self.admin, &self.actor, id).await?;
        let reversal::Reversal { entries, plan } = found;
        Ok(Reversal {
            records: self.records(entries),
            plan: plan.map_err(|reason| sentence(&reason.to_string())),
        })
    }

    async fn revert(&self, id: AuditId, fingerprint: &str) -> Result<(), AdminError> {
        let reverted = reversal::revert(&self.admin, &self.actor, id, Some(fingerprint)).await;
        reverted.map(drop).map_err(to_admin_error)
    }

    async fn recent_actions(&self, filter: &AuditFilter) -> Result<RecentActions, AdminError> {
        let recent = audit::recent(&self.admin, &self.actor, filter, several::MAX_ACTIONS).await?;
        let actions = recent.actions.into_iter();
        Ok(RecentActions {
            actions: actions.map(|entries| self.records(entries)).collect(),
            has_more: recent.has_more,
        })
    }

    async fn joint_reversal(&self, ids: &[AuditId]) -> Result<JointReversal, AdminError> {
        let found = several::preview(&self.admin, &self.actor, ids).await?;
        let actions = found.actions.into_iter().map(|action| SelectedAction {
            records: self.records(action.entries),
            omitted: action.omitted.map(|reason| sentence(&reason)),
        });
        Ok(JointReversal {
            actions: actions.collect(),
            plan: found.plan.map_err(|reason| sentence(&reason.to_string())),
        })
    }

    async fn revert_jointly(&self, ids: &[AuditId], fingerprint: &str) -> Result<(), AdminError> {
        let reverted = several::revert(&self.admin, &self.actor, ids, fingerprint).await;
        reverted.map(drop).map_err(to_admin_error)
    }
}

fn to_admin_error(error: RevertError) -> AdminError {
    match error {
        RevertError::Failed(error) => error.into(),
        RevertError::Obstacle(obstacle) => AdminError::Conflict(sentence(&obstacle.to_string())),
    }
}

impl SignedIn {
    fn records(&self, entries: Vec<AuditRecord>) -> Vec<Record> {
        entries.into_iter().map(|each| self.record(each)).collect()
    }

    fn record(&self, recorded: AuditRecord) -> Record {
        let needed = reversal::needed(&recorded.entry);
        let resources = resources_of(&recorded);
        let has_role = |role| {
            let mut resources = resources.iter();
            resources.all(|resource| self.actor.role_for(resource) >= role)
        };
        Record {
            revertible: needed.is_some_and(has_role),
            environment: recorded.environment,
            entry: recorded.entry,
        }
    }
}

/// Returns what an entry is about: its environment, or the products of its flag, as they were then.
fn resources_of(recorded: &AuditRecord) -> Vec<Resource> {
    let entry = &recorded.entry;
    let product = entry.product.clone().map(ProductName::try_from);
    let name = entry.environment.clone().map(EnvironmentName::try_from);
    if let (Some(id), Some(Ok(product)), Some(Ok(name))) = (recorded.environment, product, name) {
        return vec![Resource::Environment { id, product, name }];
    }
    let flag = entry.new_value.as_ref().or(entry.old_value.as_ref());
    let products = flag.and_then(|flag| FlagProducts::deserialize(flag.get("products")?).ok());
    Resource::of_flag(products.as_ref())
}
