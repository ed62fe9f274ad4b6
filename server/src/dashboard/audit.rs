//! The dashboard's access to the audit log.

use async_trait::async_trait;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::audit::{AuditAdmin, Record, Reversal};
use pennon_model::audit::{AuditFilter, AuditRecord};
use pennon_model::id::AuditId;
use pennon_model::page::{Page, PageRequest};
use pennon_model::time::Timestamp;

use super::{SignedIn, sentence};
use crate::admin::reversal::RevertError;
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
            records: entries.into_iter().map(|each| self.record(each)).collect(),
            plan: plan.map_err(|obstacle| sentence(&obstacle.to_string())),
        })
    }

    async fn revert(&self, id: AuditId, fingerprint: &str) -> Result<(), AdminError> {
        match reversal::revert(&self.admin, &self.actor, id, Some(fingerprint)).await {
            Ok(_) => Ok(()),
            Err(RevertError::Failed(error)) => Err(error.into()),
            Err(RevertError::Obstacle(obstacle)) => {
                Err(AdminError::Conflict(sentence(&obstacle.to_string())))
            }
        }
    }
}

impl SignedIn {
    fn record(&self, recorded: AuditRecord) -> Record {
        let needed = reversal::needed(recorded.entry.action);
        Record {
            revertible: needed.is_some_and(|role| self.actor.highest_role() >= role),
            environment: recorded.environment,
            entry: recorded.entry,
        }
    }
}
