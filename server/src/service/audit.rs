//! The audit log: written beside every change, and read.

use pennon_core::model::audit::{AuditAction, AuditEntry};
use pennon_core::model::environment::Environment;
use pennon_core::model::flag::Flag;
use pennon_core::model::id::{AuditId, RuleId};
use pennon_core::model::page::{Page, PageRequest};
use serde::Serialize;
use serde_json::Value;

use super::Service;
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store::Tx;
use crate::store::audit::{self, AuditFilter, Concerned};

/// What a change was about.
#[derive(Default)]
pub(crate) struct Subject<'a> {
    pub(crate) flag: Option<&'a Flag>,
    pub(crate) environment: Option<&'a Environment>,
    pub(crate) rule: Option<RuleId>,
}

/// Records a change in its own transaction, with the object before and after.
pub(crate) async fn record(
    service: &Service,
    tx: &mut Tx,
    actor: &Actor,
    action: AuditAction,
    subject: Subject<'_>,
    (old, new): (Option<&impl Serialize>, Option<&impl Serialize>),
) -> Result<(), Error> {
    let now = service.clock.now();
    let entry = AuditEntry {
        id: AuditId::new(service.entropy.id(now)),
        action,
        actor_identity: actor.identity().to_owned(),
        occurred_at: now,
        flag_key: subject.flag.map(|flag| flag.key.to_string()),
        environment: subject
            .environment
            .map(|environment| environment.name.to_string()),
        product: subject
            .environment
            .map(|environment| environment.product.to_string()),
        old_value: old.map(value).transpose()?,
        new_value: new.map(value).transpose()?,
    };
    let concerned = Concerned {
        actor: Some(actor.user().id),
        flag: subject.flag.map(|flag| flag.id),
        environment: subject.environment.map(|environment| environment.id),
        rule: subject.rule,
    };
    audit::insert(tx, &entry, concerned).await
}

/// One page of entries, newest first.
pub(crate) async fn list(
    service: &Service,
    _actor: &Actor,
    filter: &AuditFilter,
    page: PageRequest,
) -> Result<Page<AuditEntry>, Error> {
    audit::list(&mut service.db.read().await?, filter, page).await
}

fn value(object: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(object)
        .map_err(|error| Error::Internal(format!("an audit value is no JSON: {error}")))
}
