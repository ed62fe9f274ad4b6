//! An audit entry for tests.

use pennon_model::{
    audit::{AuditAction, AuditEntry},
    id::AuditId,
    time::Timestamp,
};
use serde_json::Value;

/// Creates an entry about a flag in an environment.
pub(crate) fn entry(action: AuditAction, old: Value, new: Value) -> AuditEntry {
    let id = "00000000-0000-0000-0000-000000000001".parse::<AuditId>();
    let id = id.unwrap_or_else(|_| unreachable!("an identifier"));
    AuditEntry {
        id,
        group_id: id,
        action,
        actor_identity: "ana@example.com".to_owned(),
        occurred_at: Timestamp::from_millis(0),
        reason: None,
        flag_key: Some("checkout".to_owned()),
        environment: Some("prod".to_owned()),
        product: Some("shop".to_owned()),
        old_value: Some(old).filter(|old| !old.is_null()),
        new_value: Some(new).filter(|new| !new.is_null()),
    }
}
