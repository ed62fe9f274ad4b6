//! The action of a change event in plain English.

use pennon_model::audit::{AuditAction, ChangeEvent};

/// Describes a change, to follow the actor's name: `changed a rule of checkout in production`. It is less precise than
/// [the sentence of an audit entry](super::sentence::sentence_of), because an event does not contain the new state.
pub fn sentence_of_event(change: &ChangeEvent) -> String {
    let flag = change.flag.as_deref().unwrap_or("a flag");
    let environment = match (&change.product, &change.environment_name) {
        (_, None) => "an environment".to_owned(),
        (None, Some(name)) => name.clone(),
        (Some(product), Some(name)) => format!("{product} / {name}"),
    };
    match change.action {
        AuditAction::FlagCreated => format!("created {flag}"),
        AuditAction::FlagUpdated => format!("changed {flag}"),
        AuditAction::FlagArchived => format!("archived {flag}"),
        AuditAction::EnvironmentCreated => format!("created {environment}"),
        AuditAction::EnvironmentUpdated => format!("changed {environment}"),
        AuditAction::EnvironmentRevoked => format!("revoked {environment}"),
        AuditAction::SdkKeyRotated => format!("rotated the SDK key of {environment}"),
        AuditAction::FlagEnvironmentUpdated => format!("changed {flag} in {environment}"),
        AuditAction::RuleCreated => format!("added a rule to {flag} in {environment}"),
        AuditAction::RuleUpdated => format!("changed a rule of {flag} in {environment}"),
        AuditAction::RuleDeleted => format!("deleted a rule of {flag} in {environment}"),
        AuditAction::RolloutConfigured => format!("changed the rollout of {flag} in {environment}"),
        AuditAction::RolloutDeleted => format!("removed the rollout of {flag} in {environment}"),
        AuditAction::UserCreated => "created an account".to_owned(),
        AuditAction::UserUpdated | AuditAction::PasswordChanged => "changed an account".to_owned(),
        AuditAction::UserDeleted => "deleted an account".to_owned(),
        AuditAction::TokenCreated => "created a token".to_owned(),
        AuditAction::TokenRevoked => "revoked a token".to_owned(),
    }
}
