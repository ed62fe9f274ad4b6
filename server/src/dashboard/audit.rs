//! What the dashboard does with the audit log.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use async_trait::async_trait;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::audit::{
    AuditAdmin, AuditQuery, Plan, PlannedChange, PlannedEffect, Record, Reversal,
};
use pennon_dashboard::port::trial::TrialAdmin as _;
use pennon_model::audit::{AuditFilter, AuditRecord};
use pennon_model::client::Client;
use pennon_model::id::{AuditId, EnvironmentId};
use pennon_model::page::Page;

use super::{SignedIn, sentence, told};
use crate::admin::{audit, reversal};

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
        let page = audit::list(&self.admin, &self.actor, &filter, query.page)
            .await
            .map_err(told)?;
        Ok(page.map(|recorded| self.record(recorded)))
    }

    async fn reversal(&self, id: AuditId) -> Result<Reversal, AdminError> {
        let found = reversal::preview(&self.admin, &self.actor, id)
            .await
            .map_err(told)?;
        let reversal::Reversal { entries, plan } = found.ok_or(AdminError::NotFound)?;
        let plan = match plan {
            Ok(plan) => Ok(Plan {
                changes: plan.changes.into_iter().map(planned).collect(),
                effects: self.effects(plan.effects).await?,
                overwrites: plan.overwrites,
                fingerprint: plan.fingerprint,
            }),
            Err(obstacle) => Err(sentence(&obstacle.to_string())),
        };
        Ok(Reversal {
            records: entries.into_iter().map(|each| self.record(each)).collect(),
            plan,
        })
    }

    async fn revert(&self, id: AuditId, fingerprint: &str) -> Result<(), AdminError> {
        reversal::revert(&self.admin, &self.actor, id, fingerprint)
            .await
            .map_err(told)?
            .map_err(|obstacle| AdminError::Conflict(sentence(&obstacle.to_string())))
    }
}

impl SignedIn {
    /// The effects, each with the clients that may not be able to read it.
    async fn effects(
        &self,
        effects: Vec<reversal::Effect>,
    ) -> Result<Vec<PlannedEffect>, AdminError> {
        let mut clients: HashMap<EnvironmentId, Vec<Client>> = HashMap::new();
        let mut planned = Vec::new();
        for effect in effects {
            let environment = effect.environment.id;
            if let Entry::Vacant(unknown) = clients.entry(environment) {
                unknown.insert(self.outdated_clients(environment).await?);
            }
            planned.push(PlannedEffect {
                flag: effect.flag,
                environment: effect.environment,
                before: effect.before,
                after: effect.after,
                outdated_clients: clients.get(&environment).cloned().unwrap_or_default(),
            });
        }
        Ok(planned)
    }

    fn record(&self, recorded: AuditRecord) -> Record {
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
