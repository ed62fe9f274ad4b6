//! What the dashboard does with the audit log.

use async_trait::async_trait;
use pennon_core::model::id::AuditId;
use pennon_core::model::page::Page;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::audit::{
    AuditAdmin, AuditQuery, Plan, PlannedChange, PlannedEffect, Record, Reversal,
};

use super::{SignedIn, sentence, told};
use crate::service::{audit, reversal};
use crate::store::audit::{AuditFilter, Recorded};

#[async_trait]
impl AuditAdmin for SignedIn {
    async fn changes(&self, query: AuditQuery) -> Result<Page<Record>, AdminError> {
        let given = |text: String| Some(text).filter(|text| !text.is_empty());
        let filter = AuditFilter {
            flag_key: given(query.flag_key),
            environment: given(query.environment),
            product: given(query.product),
            from: query.from,
            to: query.to,
            accounts: query.accounts,
        };
        let page = audit::list(&self.service, &self.actor, &filter, query.page)
            .await
            .map_err(told)?;
        Ok(page.map(|recorded| self.record(recorded)))
    }

    async fn reversal(&self, id: AuditId) -> Result<Reversal, AdminError> {
        let found = reversal::preview(&self.service, &self.actor, id)
            .await
            .map_err(told)?;
        let reversal::Reversal { entries, plan } = found.ok_or(AdminError::NotFound)?;
        let plan = plan.map(|plan| Plan {
            changes: plan.changes.into_iter().map(planned).collect(),
            effects: plan.effects.into_iter().map(effect).collect(),
            overwrites: plan.overwrites,
            fingerprint: plan.fingerprint,
        });
        Ok(Reversal {
            records: entries.into_iter().map(|each| self.record(each)).collect(),
            plan: plan.map_err(|obstacle| sentence(&obstacle.to_string())),
        })
    }

    async fn revert(&self, id: AuditId, fingerprint: &str) -> Result<(), AdminError> {
        reversal::revert(&self.service, &self.actor, id, fingerprint)
            .await
            .map_err(told)?
            .map_err(|obstacle| AdminError::Conflict(sentence(&obstacle.to_string())))
    }
}

impl SignedIn {
    fn record(&self, recorded: Recorded) -> Record {
        let needed = reversal::needed(recorded.entry.action);
        Record {
            revertible: needed.is_some_and(|role| self.actor.role() >= role),
            environment: recorded.environment,
            entry: recorded.entry,
        }
    }
}

fn planned(change: reversal::PlannedChange) -> PlannedChange {
    PlannedChange {
        action: change.action,
        flag: change.flag.map(|key| key.to_string()),
        environment: change.environment.map(|environment| environment.id),
        now: change.now,
        then: change.then,
    }
}

fn effect(effect: reversal::Effect) -> PlannedEffect {
    PlannedEffect {
        flag: effect.flag,
        environment: effect.environment,
        before: effect.before,
        after: effect.after,
    }
}
